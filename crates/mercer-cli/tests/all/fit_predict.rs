//! The main job: fit, describe, predict.

use std::io::Write;
use std::process::Stdio;

use crate::bench::{Bench, table};
use serde_json::Value;

#[test]
fn fits_reports_saves_describes_and_predicts() {
    let bench = Bench::new();
    bench.write("d.csv", table(200));
    let report = bench.ok(&[
        "fit",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "0.5*rbf(sigma=2) + (<x,z>+1)^2",
        "--lambda",
        "1e-3",
        "--holdout",
        "0.2",
        "-o",
        "m.mercer",
    ]);
    assert!(report.contains("held out") && report.contains("on 40 rows"), "{report}");
    let info = bench.ok(&["info", "m.mercer"]);
    assert!(info.contains("ridge") && info.contains("0.5*rbf(sigma=2)") && info.contains("a, b"), "{info}");
    let score = bench.ok(&["predict", "m.mercer", "d.csv", "-o", "out.csv"]);
    assert!(score.contains("RMSE"), "{score}");
    let out = bench.read("out.csv");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("prediction"));
    let truth = table(200);
    for (found, row) in lines.zip(truth.lines().skip(1)) {
        let expected: f64 = row.rsplit(',').next().unwrap().parse().unwrap();
        assert!((found.parse::<f64>().unwrap() - expected).abs() < 0.1, "{found} {expected}");
    }
    assert_eq!(out.lines().count(), 201);
    assert_eq!(bench.files(), ["d.csv", "m.mercer", "out.csv"], "nothing else is left");
}

#[test]
fn json_is_one_document() {
    let bench = Bench::new();
    bench.write("d.csv", table(50));
    let fit: Value = serde_json::from_str(
        &bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--json", "-o", "m.mercer"]),
    )
    .unwrap();
    assert_eq!(fit["data"]["rows"], 50);
    assert_eq!(fit["holdout"][0]["rows"], 10);
    assert_eq!(fit["device"], "cpu");
    assert!(fit["kernel"].as_str().unwrap().starts_with("rbf(sigma="));
    assert!(!fit["kernel"].as_str().unwrap().contains("auto"));
    let info: Value = serde_json::from_str(&bench.ok(&["info", "m.mercer", "--json"])).unwrap();
    assert_eq!(info["kernel"], fit["kernel"]);
    let predict: Value =
        serde_json::from_str(&bench.ok(&["predict", "m.mercer", "d.csv", "--json", "-o", "o.csv"])).unwrap();
    assert_eq!(predict["rows"], 50);
    assert_eq!(predict["device"], "cpu");
    let verbose = bench.ok(&["predict", "m.mercer", "d.csv", "-v", "-o", "o.csv"]);
    assert!(verbose.lines().any(|line| line.starts_with("device") && line.ends_with(" cpu")), "{verbose}");
    assert!(predict["score"][0]["r2"].as_f64().unwrap() > 0.5);
}

#[test]
fn several_targets_by_name_and_number() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{},{},{}\n", i, 2 * i, -i)).collect();
    bench.write("d.csv", format!("x,u,v\n{rows}"));
    bench.ok(&[
        "fit", "ridge", "d.csv", "--target", "u,-1", "--kernel", "linear", "--lambda", "1e-6", "-o",
        "m.mercer",
    ]);
    bench.ok(&["predict", "m.mercer", "d.csv", "-o", "out.csv"]);
    let out = bench.read("out.csv");
    assert_eq!(out.lines().next(), Some("prediction_u,prediction_v"));
    let last: Vec<f64> = out.lines().last().unwrap().split(',').map(|f| f.parse().unwrap()).collect();
    assert!((last[0] - 78.0).abs() < 1e-4 && (last[1] + 39.0).abs() < 1e-4, "{last:?}");
}

#[test]
fn predicts_from_columns_in_another_order_and_from_standard_input() {
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"]);
    let straight = bench.ok(&["predict", "m.mercer", "d.csv"]);
    let mut swapped = String::from("y,extra,b,a\n");
    for row in table(60).lines().skip(1) {
        let f: Vec<&str> = row.split(',').collect();
        swapped.push_str(&format!("{},ignored,{},{}\n", f[2], f[1], f[0]));
    }
    let mut child = bench
        .command(&["predict", "m.mercer", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(swapped.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), straight);
    assert!(String::from_utf8_lossy(&output.stderr).contains("RMSE"), "the score goes to standard error");
}

#[test]
fn sparse_text_trains_and_predicts() {
    let bench = Bench::new();
    let text: String =
        (0..60).map(|i| format!("{} {}:1 {}:{}\n", i % 7, 1 + i % 7, 10 + i % 3, 0.5)).collect();
    bench.write("d.svm", &text);
    let report = bench.ok(&["fit", "ridge", "d.svm", "--lambda", "1e-3", "-o", "m.mercer"]);
    assert!(report.contains("12 features"), "{report}");
    let score: Value =
        serde_json::from_str(&bench.ok(&["predict", "m.mercer", "d.svm", "--json", "-o", "o.csv"])).unwrap();
    assert!(score["score"][0]["r2"].as_f64().unwrap() > 0.99, "{score}");
}

#[test]
fn the_same_bytes_for_every_number_of_threads() {
    let bench = Bench::new();
    bench.write("d.csv", table(700));
    let fit = |threads: &str, name: &str| {
        bench.ok(&[
            "fit",
            "ridge",
            "d.csv",
            "--target",
            "y",
            "--kernel",
            "rbf(sigma=auto) + 0.1*linear",
            "--threads",
            threads,
            "--holdout",
            "0",
            "-o",
            name,
        ]);
        std::fs::read(bench.path(name)).unwrap()
    };
    let one = fit("1", "1.mercer");
    assert_eq!(one, fit("2", "2.mercer"));
    assert_eq!(one, fit("3", "3.mercer"));
}

#[test]
fn writes_kernel_matrices_and_distances() {
    let bench = Bench::new();
    bench.write("d.csv", "a,b\n0,0\n3,4\n");
    bench.write("e.csv", "a,b\n3,4\n");
    bench.ok(&["gram", "d.csv", "--kernel", "linear", "-o", "K.npy"]);
    bench.ok(&["gram", "d.csv", "--kernel", "linear", "--distance", "-o", "D.npy"]);
    bench.ok(&["gram", "d.csv", "e.csv", "--kernel", "(<x,z>+1)^2", "--dtype", "f32", "-o", "C.npy"]);
    let entries = |name: &str, width: usize| -> Vec<f64> {
        let bytes = std::fs::read(bench.path(name)).unwrap();
        let header = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        let number = |b: &[u8]| {
            if width == 8 {
                f64::from_le_bytes(b.try_into().unwrap())
            } else {
                f64::from(f32::from_le_bytes(b.try_into().unwrap()))
            }
        };
        bytes[header..].chunks(width).map(number).collect()
    };
    assert_eq!(entries("K.npy", 8), [0.0, 0.0, 0.0, 25.0]);
    assert_eq!(entries("D.npy", 8), [0.0, 5.0, 5.0, 0.0]);
    assert_eq!(entries("C.npy", 4), [1.0, 676.0]);
}

#[test]
fn help_and_completions() {
    let bench = Bench::new();
    for command in ["fit", "predict", "gram", "plot"] {
        assert!(bench.ok(&[command, "--help"]).contains("Examples:"));
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(bench.ok(&["completions", shell]).contains("mercer"));
    }
}

#[test]
fn verbose_says_more_and_quiet_nothing() {
    let bench = Bench::new();
    bench.write("d.csv", table(40));
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"];
    assert!(!bench.ok(&fit).contains("held-out fit"));
    assert!(bench.ok(&[&fit[..], &["-v"][..]].concat()).contains("held-out fit"));
    assert!(bench.ok(&["predict", "m.mercer", "d.csv", "-o", "o.csv", "-v"]).contains("rows kept  40"));
    assert!(bench.ok(&["gram", "d.csv", "-o", "K.npy", "-v"]).contains("12.8 kB"));
    assert_eq!(bench.ok(&[&fit[..], &["--quiet"][..]].concat()), "");
}

#[test]
fn reports_use_names_and_words() {
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    let fit = |more: &[&str]| {
        bench.ok(&[&["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"], more].concat())
    };
    let linear = fit(&["--kernel", "linear", "--lambda", "1"]);
    assert!(linear.contains("the columns themselves: series(0, 1), 2 features"), "{linear}");
    let named = fit(&["--kernel", "rbf(sigma=1)[b] + rbf(sigma=2)[a]", "--lambda", "1"]);
    let of_columns = |text: &str| text.contains("[a]") && text.contains("[b]") && !text.contains("[0]");
    assert!(of_columns(&named), "{named}");
    let info = bench.ok(&["info", "m.mercer"]);
    assert!(of_columns(&info), "{info}");
    let held_out = info.lines().find(|line| line.starts_with("held out")).unwrap();
    assert!(held_out.find("RMSE 0.") < held_out.find("RMSE of the mean"), "{held_out}");
    assert!(!held_out.contains("unseen"), "{held_out}");
    // Rounding errors of a factor depend on the penalty, not on a tolerance.
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "--kernel", "rbf(sigma=1e9)", "--lambda", "1e-12"];
    let output = bench.run(&[&fit[..], &["-o", "m.mercer"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("raise --lambda") && !told.contains("--tol"), "{told}");
    // Sparse rows are not shifted.
    let rows: String = (0..30).map(|i| format!("{} 1:{} 3:{}\n", i % 4, i % 5, i % 7)).collect();
    bench.write("d.libsvm", rows);
    let sparse = bench.ok(&["fit", "ridge", "d.libsvm", "--lambda", "1", "-o", "m.mercer"]);
    assert!(sparse.contains("scaled to unit variance") && !sparse.contains("standardised"), "{sparse}");
}
