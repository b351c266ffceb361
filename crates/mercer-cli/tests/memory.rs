//! Prediction holds a few tiles beyond the model and a chunk of its input, however many rows there are.

#![cfg(target_os = "linux")]

mod common;

use common::{Bench, table};

/// Peak resident memory of a run, in bytes, as the shell's `VmHWM` would give it.
fn peak(bench: &Bench, data: &str) -> u64 {
    let script = format!(
        "{} predict m.mercer {data} -o out.csv & pid=$!; peak=0; \
         while [ -r /proc/$pid/status ]; do h=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$pid/status); \
         [ -n \"$h\" ] && peak=$h; sleep 0.005; done; wait $pid || exit 1; echo $peak",
        env!("CARGO_BIN_EXE_mercer")
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().last().unwrap().trim().parse::<u64>().unwrap() * 1024
}

#[test]
fn prediction_does_not_grow_with_the_rows() {
    let bench = Bench::new();
    bench.write("s.csv", table(300));
    bench.ok(&["fit", "ridge", "s.csv", "--target", "y", "-o", "m.mercer"]);
    bench.write("short.csv", table(100_000));
    bench.write("long.csv", table(500_000));
    let (short, long) = (peak(&bench, "short.csv"), peak(&bench, "long.csv"));
    // 400,000 more rows of three columns are 10 MB as numbers and 18 MB as text; a tile takes half a megabyte.
    assert!(long < short + 3_000_000, "100,000 rows: {short} bytes, 500,000 rows: {long} bytes");
}
