//! The amount of memory available for work.

use crate::data::counted;

/// The bytes of memory that this process may use: those of the machine, or fewer if a control group or a limit on the
/// address space (`ulimit -v`) applies.
///
/// 4 GiB if the system does not report it. Memory that is currently free plays no part, so that the same work makes the
/// same choices on a busy machine.
#[must_use]
pub fn total() -> u64 {
    let system = meminfo_total().unwrap_or(4 << 30);
    [cgroup_limit(), address_space_limit()].into_iter().flatten().fold(system, u64::min)
}

/// The bytes of address space that this process may use, where they are limited.
#[must_use]
pub fn address_space_limit() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the call writes to the structure it is given, which lives for as long as the call.
        let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
        (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The system could not provide memory. A failed allocation of a large matrix unwinds with this payload, so that a
/// program can catch it and continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: {} could not be allocated", human(*.bytes))]
pub struct OutOfMemory {
    /// The bytes requested.
    pub bytes: u64,
}

fn meminfo_total() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn cgroup_limit() -> Option<u64> {
    std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()
}

/// The memory budget unless one is given: four fifths of [`total`].
#[must_use]
pub fn default_budget() -> u64 {
    total() / 5 * 4
}

/// A number of bytes in a readable unit: `1.5 GB`.
#[must_use]
pub fn human(bytes: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let size_in = |size: f64| bytes as f64 / size;
    match UNITS.iter().find(|(_, size)| size_in(*size) >= 1.0) {
        Some((unit, size)) => format!("{:.1} {unit}", size_in(*size)),
        None => counted(bytes, "byte"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!((human(1).as_str(), human(12).as_str()), ("1 byte", "12 bytes"));
        assert_eq!(human(1_500_000_000), "1.5 GB");
        assert_eq!(human(332_928_000_000), "332.9 GB");
    }

    #[test]
    fn the_default_budget_is_less_than_all_memory() {
        assert!(total() > 1 << 20);
        assert!(default_budget() < total());
    }
}
