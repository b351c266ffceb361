//! Prediction holds a few tiles beyond the model and a chunk of its input, however many rows there are.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::process::Stdio;

use crate::bench::{Bench, table};

/// Peak resident memory, in bytes, of predicting `rows`: read once the program has taken every row from its standard
/// input, which stays open until then, so that it cannot have ended.
fn peak(bench: &Bench, rows: &str) -> u64 {
    let mut program = bench
        .command(&["predict", "m.mercer", "-", "-o", "out.csv"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    input.write_all(rows.as_bytes()).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap();
    drop(input);
    assert!(program.wait().unwrap().success());
    assert_eq!(bench.read("out.csv").lines().count(), rows.lines().count());
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("the peak of the program's memory");
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn prediction_does_not_grow_with_the_rows() {
    let bench = Bench::new();
    bench.write("s.csv", table(300));
    bench.ok(&["fit", "ridge", "s.csv", "--target", "y", "--lambda", "1", "-o", "m.mercer"]);
    let (short, long) = (peak(&bench, &table(100_000)), peak(&bench, &table(500_000)));
    // 400,000 more rows of three columns are 10 MB as numbers and 18 MB as text; a tile takes half a megabyte.
    assert!(long < short + 3_000_000, "100,000 rows: {short} bytes, 500,000 rows: {long} bytes");
}
