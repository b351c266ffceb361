//! Seconds on the clock, and seconds that the process ran, which other work on the machine disturbs less.

use std::time::Instant;

/// Processor time of all threads of this process.
pub fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Does the work and prints what it took.
pub fn timed<R>(what: &str, work: impl FnOnce() -> R) -> R {
    let (start, before) = (Instant::now(), processor_seconds());
    let result = work();
    println!(
        "{what:<28} {:8.3} s on the clock {:8.3} s of processor",
        start.elapsed().as_secs_f64(),
        processor_seconds() - before
    );
    result
}
