//! How much memory there is to work with.

/// The bytes this process may still use: what the system has available, or less where a control group says so.
///
/// 4 GiB where the system does not tell.
#[must_use]
pub fn available() -> u64 {
    let system = meminfo_available().unwrap_or(4 << 30);
    cgroup_remaining().map_or(system, |group| group.min(system))
}

fn meminfo_available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn cgroup_remaining() -> Option<u64> {
    let read = |name: &str| {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok()
    };
    read("memory.max")?.checked_sub(read("memory.current")?)
}

/// The budget used where none is asked for: four fifths of [`available`].
#[must_use]
pub fn default_budget() -> u64 {
    available() / 5 * 4
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
    fn some_memory_is_available() {
        assert!(available() > 1 << 20);
        assert!(default_budget() < available());
    }
}
