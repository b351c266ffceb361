//! How much memory there is to work with.

/// The bytes of memory that this process may use: those of the machine, or fewer where a control group limits it.
///
/// 4 GiB where the system does not tell. What is free at the moment plays no part, so that the same work makes the same
/// choices on a busy machine.
#[must_use]
pub fn total() -> u64 {
    let system = meminfo_total().unwrap_or(4 << 30);
    cgroup_limit().map_or(system, |limit| limit.min(system))
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

/// A number of bytes as people write it: `1.5 GB`.
#[must_use]
pub fn human(bytes: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let bytes = bytes as f64;
    match UNITS.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", bytes / size),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(human(12), "12 bytes");
        assert_eq!(human(1_500_000_000), "1.5 GB");
        assert_eq!(human(332_928_000_000), "332.9 GB");
    }

    #[test]
    fn the_default_budget_is_less_than_all_memory() {
        assert!(total() > 1 << 20);
        assert!(default_budget() < total());
    }
}
