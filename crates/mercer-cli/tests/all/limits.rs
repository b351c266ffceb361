//! Limits of the system: little memory, standard output that cannot be written.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::{Command, Output, Stdio};

use crate::bench::{Bench, table};

/// Runs `mercer` in an address space of this many kilobytes.
fn limited(bench: &Bench, kilobytes: u64, arguments: &[&str]) -> Output {
    let script = format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_mercer")])
        .args(arguments)
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn little_memory_is_an_error_and_never_a_signal() {
    let bench = Bench::new();
    bench.write("d.csv", table(1_500));
    let classes: String = (0..600).map(|i| format!("{},{},{}\n", i % 37, i % 11, i % 2)).collect();
    bench.write("c.csv", format!("a,b,kind\n{classes}"));
    bench.ok(&[
        "fit",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "rbf(sigma=1)",
        "--lambda",
        "1",
        "-o",
        "m.mercer",
    ]);
    let fixed = ["--kernel", "rbf(sigma=1)", "--lambda", "0.1", "--target", "y", "-o", "out.mercer"];
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["check", "rbf(sigma=1) + (<x,z>+1)^2"],
        vec!["info", "m.mercer"],
        vec!["predict", "m.mercer", "d.csv", "-o", "p.csv"],
        vec!["gram", "d.csv", "--target", "y", "--kernel", "rbf(sigma=1)", "-o", "k.npy"],
        vec!["plot", "m.mercer", "d.csv", "-o", "p.svg"],
        vec!["plan", "ridge", "d.csv", "--target", "y", "--kernel", "rbf(sigma=1)"],
        vec![
            "fit",
            "svc",
            "c.csv",
            "--target",
            "kind",
            "--kernel",
            "rbf(sigma=1)",
            "--C",
            "1",
            "-o",
            "s.mercer",
        ],
        vec!["tune", "ridge", "d.csv", "--target", "y", "--kernel", "rbf(sigma=?{1,2})", "-o", "t.mercer"],
        vec!["--version"],
    ];
    for more in [
        &[][..],
        &["--approx", "fourier:256"],
        &["--approx", "nystrom:200"],
        &["--solver", "cg"],
        &["--threads", "8"],
    ] {
        commands.push([&["fit", "ridge", "d.csv"], &fixed[..], more].concat());
    }
    let (mut refused, mut done) = (0, 0);
    for megabytes in [60, 80, 100, 125, 160, 200, 250] {
        // Less than the program itself needs: it does not start.
        if limited(&bench, megabytes << 10, &["--version"]).status.code() != Some(0) {
            continue;
        }
        for command in &commands {
            let output = limited(&bench, megabytes << 10, command);
            let error = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(1 | 2) => {
                    assert!(error.contains("error: "), "{megabytes} MB, {command:?}: {error}");
                    refused += 1;
                }
                _ => panic!("{megabytes} MB, {command:?}: {:?} {error}", output.status),
            }
            assert!(!error.contains("panicked"), "{megabytes} MB, {command:?}: {error}");
        }
    }
    assert!(done > 0, "some limit is enough");
    assert!(refused > 0, "some limit is too small for some command");
}

/// A limit on the address space is the memory there is: a matrix that does not fit is refused before it is computed.
#[test]
fn the_memory_budget_follows_the_limit() {
    let bench = Bench::new();
    bench.write("d.csv", table(9_000));
    let fit = [
        "fit",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "rbf(sigma=1)",
        "--lambda",
        "1",
        "--solver",
        "cholesky",
        "-o",
        "m.mercer",
    ];
    let output = limited(&bench, 512 << 10, &fit);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("more than the memory budget of 429.5 MB"), "{error}");
}

/// Commands that print something on standard output.
const PRINTING: [&[&str]; 12] = [
    &["--help"],
    &["--version"],
    &["fit", "--help"],
    &["help", "predict"],
    &["check", "linear"],
    &["check", "linear", "--json"],
    &["info", "m.mercer"],
    &["info", "m.mercer", "--json"],
    &["predict", "m.mercer", "d.csv"],
    &["plan", "ridge", "--shape", "100,3"],
    &["completions", "bash"],
    &["fit", "ridge", "d.csv", "--target", "y", "--kernel", "linear", "--lambda", "1", "-o", "n.mercer"],
];

/// The same, by LIBSVM's names.
const LIBSVM_PRINTING: [&[&str]; 2] = [&["svm-scale", "d.txt"], &["svm-train", "d.txt", "s.model"]];

fn bench_for_printing() -> Bench {
    let bench = Bench::new();
    bench.write("d.csv", table(40));
    bench.write("d.txt", "1 1:0.5\n2 1:1.5\n1 1:0.4\n2 1:1.6\n");
    bench.ok(&[
        "fit", "ridge", "d.csv", "--target", "y", "--kernel", "linear", "--lambda", "1", "-o", "m.mercer",
    ]);
    bench
}

#[test]
fn standard_output_that_cannot_be_written_is_an_error() {
    let bench = bench_for_printing();
    for arguments in PRINTING.into_iter().chain(LIBSVM_PRINTING) {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = bench.command(arguments).stdout(full).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains("cannot write to standard output"), "{arguments:?}: {error}");
    }
}

#[test]
fn standard_output_that_is_closed_is_an_error() {
    let bench = bench_for_printing();
    for arguments in PRINTING.into_iter().chain(LIBSVM_PRINTING) {
        let mut shell = Command::new("sh");
        let mercer = bench.command(arguments);
        shell.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(mercer.get_program()).args(mercer.get_args());
        let output = shell.current_dir(mercer.get_current_dir().unwrap()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains("standard output was closed"), "{arguments:?}: {error}");
    }
    // Nothing to print, nothing to fail.
    let quiet = "exec \"$0\" predict m.mercer d.csv -q -o p.csv >&-";
    let mercer = bench.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", quiet]).arg(mercer.get_program()).current_dir(mercer.get_current_dir().unwrap());
    assert_eq!(shell.output().unwrap().status.code(), Some(0));
}

#[test]
fn memory_advice_does_not_name_the_solver_in_use() {
    let bench = Bench::new();
    bench.write("d.csv", table(2_000));
    let fit = [
        "fit",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "rbf(sigma=1)",
        "--lambda",
        "1",
        "--memory",
        "1M",
        "-o",
        "m.mercer",
    ];
    let matrix = bench.fails(1, &[&fit[..], &["--solver", "cholesky"]].concat());
    assert!(matrix.contains("--solver cg"), "{matrix}");
    let vectors = bench.fails(1, &[&fit[..], &["--solver", "cg"]].concat());
    assert!(!vectors.contains("--solver cg") && vectors.contains("--approx"), "{vectors}");
    assert!(!vectors.contains("kernel matrix"), "{vectors}");
}
