//! Ctrl-C: the program ends soon, with its own exit code, and leaves nothing behind.

#![cfg(unix)]

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::bench::{Bench, table};

#[test]
fn ctrl_c_stops_a_fit_and_leaves_no_model() {
    let bench = Bench::new();
    bench.write("d.csv", table(9_000));
    let child = bench
        .command(&["fit", "ridge", "d.csv", "--target", "y", "--solver", "cholesky", "-o", "m.mercer"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(700));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("interrupted"), "{error}");
    assert_eq!(bench.files(), ["d.csv"]);
}

#[test]
fn ctrl_c_ends_a_program_that_waits_for_its_input() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["fit", "ridge", "-", "--target", "y", "-o", "m.mercer"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let input = child.stdin.take();
    sleep(Duration::from_millis(300));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    assert!(bench.files().is_empty());
}

#[test]
fn ctrl_c_stops_svm_train_with_the_same_code() {
    let bench = Bench::new();
    let rows: String = (0..6_000)
        .map(|i| format!("{} 1:{} 2:{}\n", i * 7919 % 2, (i as f64 * 0.37).sin(), (i as f64 * 0.53).cos()))
        .collect();
    bench.write("d.txt", rows);
    let child = bench
        .command(&["svm-train", "-c", "1000", "-g", "50", "-e", "1e-9", "d.txt", "m.model"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(700));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("interrupted"), "{error}");
    assert_eq!(bench.files(), ["d.txt"]);
}

/// A search that Ctrl-C stops leaves its trials, and they are gone on with.
#[test]
fn ctrl_c_stops_a_search_that_goes_on_later() {
    let bench = Bench::new();
    bench.write("d.csv", table(900));
    let tune = [
        "tune",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--checkpoint",
        "trials.json",
        "-o",
        "m.mercer",
        "--json",
    ];
    let mut child = bench.command(&tune).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !bench.path("trials.json").exists() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(bench.files(), ["d.csv", "trials.json"]);
    let trials = |text: &str| -> usize {
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        document["rows"].as_array().unwrap().len()
    };
    let kept = trials(&bench.read("trials.json"));
    assert!(kept > 0);
    bench.ok(&tune);
    assert!(trials(&bench.read("trials.json")) > kept);
    assert!(bench.files().contains(&"m.mercer".to_owned()));
}
