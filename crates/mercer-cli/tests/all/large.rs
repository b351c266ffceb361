//! Fits that hold neither a kernel matrix nor the rows: `--approx`, `--solver cg`, checkpoints and plans.

use crate::bench::{Bench, table};
use serde_json::Value;

fn fitted(bench: &Bench, data: &str, more: &[&str]) -> Value {
    let fit = ["fit", "ridge", data, "--target", "y", "-o", "m.mercer", "--json"];
    serde_json::from_str(&bench.ok(&[&fit[..], more].concat())).unwrap()
}

#[test]
fn approximations_fit_predict_and_tell_their_quality() {
    let bench = Bench::new();
    bench.write("d.csv", table(3_000));
    for (approx, kind) in [("fourier:256", "fourier:256 of rbf"), ("nystrom:200", "")] {
        let told = fitted(&bench, "d.csv", &["--approx", approx, "--lambda", "0.01"]);
        assert_eq!(told["approx"], approx);
        assert!(told["holdout"][0]["r2"].as_f64().unwrap() > 0.99, "{told}");
        // √(2/256) is the deviation of one kernel value, and the values are about a half.
        assert!(told["kernel_error"].as_f64().unwrap() < 0.2, "{told}");
        assert!(told["effective_dimension"].as_f64().unwrap() > 3.0, "{told}");
        let sizes = &told["sizes"][0];
        assert!(sizes["rmse_half"].as_f64() >= sizes["rmse"].as_f64(), "{told}");
        bench.ok(&["predict", "m.mercer", "d.csv", "-o", "out.csv"]);
        assert_eq!(bench.read("out.csv").lines().count(), 3_001);
        let info = bench.ok(&["info", "m.mercer"]);
        assert!(info.contains("rbf(sigma=") && info.contains(kind), "{info}");
    }
    let text =
        bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--approx", "fourier:64", "-o", "m.mercer"]);
    assert!(text.contains("64 random features") && text.contains("twice as many"), "{text}");
    // The same fit gives the same bytes for any number of threads.
    let first = std::fs::read(bench.path("m.mercer")).unwrap();
    bench.ok(&[
        "fit",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--approx",
        "fourier:64",
        "-o",
        "m.mercer",
        "--threads",
        "1",
    ]);
    assert_eq!(std::fs::read(bench.path("m.mercer")).unwrap(), first);
}

/// A file of any format, read in chunks, gives the model of the exact fit if every row is a landmark.
#[test]
fn every_format_streams_to_the_same_model() {
    let bench = Bench::new();
    let text = table(150);
    bench.write("d.csv", &text);
    let mut sparse = String::new();
    for line in text.lines().skip(1) {
        let v: Vec<&str> = line.split(',').collect();
        sparse.push_str(&format!("{} 1:{} 2:{}\n", v[2], v[0], v[1]));
    }
    bench.write("d.libsvm", sparse);
    let common = ["--scale", "none", "--kernel", "rbf(sigma=1)", "--holdout", "0", "--lambda", "0.1"];
    let predictions = || -> Vec<f64> {
        bench.ok(&["predict", "m.mercer", "d.csv", "-o", "out.csv"]);
        let last = |line: &str| line.rsplit(',').next().unwrap().parse().unwrap();
        bench.read("out.csv").lines().skip(1).map(last).collect()
    };
    fitted(&bench, "d.csv", &common);
    let exact = predictions();
    fitted(&bench, "d.csv", &[&common[..], &["--approx", "nystrom:150"]].concat());
    for (a, b) in exact.iter().zip(predictions()) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    let dense = fitted(&bench, "d.csv", &[&common[..], &["--approx", "fourier:64"]].concat());
    let fit = ["fit", "ridge", "d.libsvm", "-o", "s.mercer", "--json", "--approx", "fourier:64"];
    let sparse: Value = serde_json::from_str(&bench.ok(&[&fit[..], &common].concat())).unwrap();
    let rmse = |told: &Value| told["sizes"][0]["rmse"].as_f64().unwrap();
    assert!((rmse(&dense) - rmse(&sparse)).abs() < 1e-9 * rmse(&dense), "{dense} {sparse}");
}

#[test]
fn auto_uses_the_exact_kernel_for_few_rows() {
    let bench = Bench::new();
    bench.write("d.csv", table(200));
    let told = fitted(&bench, "d.csv", &["--approx", "auto"]);
    assert!(told.get("approx").is_none(), "{told}");
    bench.write("d.csv", table(12_000));
    let told = fitted(&bench, "d.csv", &["--approx", "auto"]);
    assert!(told["approx"].as_str().unwrap().contains(':'), "{told}");
}

/// Conjugate gradients solve the exact problem, and a checkpoint that is there is gone on from.
#[test]
fn conjugate_gradients_agree_with_the_factor() {
    let bench = Bench::new();
    bench.write("d.csv", table(600));
    let exact = fitted(&bench, "d.csv", &["--kernel", "rbf(sigma=1)", "--no-tune"]);
    let told = fitted(
        &bench,
        "d.csv",
        &["--kernel", "rbf(sigma=1)", "--no-tune", "--solver", "cg", "--tol", "1e-8", "--checkpoint", "half"],
    );
    assert!(told["report"]["residual"].as_f64().unwrap() <= 1e-8, "{told}");
    let rmse = |told: &Value| told["holdout"][0]["rmse"].as_f64().unwrap();
    assert!((rmse(&exact) - rmse(&told)).abs() < 1e-5 * rmse(&exact), "{exact} {told}");
    assert!(!bench.path("half").exists(), "a checkpoint has no use once the model is there");
    bench.write("half", "not a checkpoint");
    let error = bench.fails(
        2,
        &[
            "fit",
            "ridge",
            "d.csv",
            "--target",
            "y",
            "--solver",
            "cg",
            "--checkpoint",
            "half",
            "-o",
            "m.mercer",
        ],
    );
    assert!(error.contains("not a checkpoint"), "{error}");
}

#[test]
fn bad_requests_are_named() {
    let bench = Bench::new();
    bench.write("d.csv", table(100));
    let fit = |code: i32, more: &[&str]| {
        let base = ["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"];
        let error = bench.fails(code, &[&base[..], more].concat());
        assert_eq!(bench.files(), ["d.csv"], "nothing is written");
        error
    };
    for approx in ["fourier:0", "fourier:7", "fourier", "nystrom:0", "fourier:-4", "magic"] {
        assert!(fit(2, &["--approx", approx]).contains("nystrom:M"), "{approx}");
    }
    assert!(fit(2, &["--approx", "nystrom:101"]).contains("there are only 100 rows"));
    let error = fit(2, &["--approx", "fourier:64", "--kernel", "poly(degree=2)"]);
    assert!(error.contains("random features") && error.contains("nystrom"), "{error}");
    assert!(fit(2, &["--approx", "fourier:64", "--features", "x"]).contains("combined with --features"));
    assert!(fit(2, &["--approx", "fourier:64", "--bias", "column"]).contains("--bias"));
    assert!(fit(2, &["--approx", "fourier:64", "--solver", "cg"]).contains("combined with --solver"));
    assert!(fit(2, &["--checkpoint", "c"]).contains("--checkpoint needs"));
    assert!(fit(2, &["--tol", "1e-3"]).contains("--solver cg"));
    for how in [["--solver", "cg"], ["--approx", "fourier:64"]] {
        let error = fit(2, &[&how[..], &["--checkpoint", "nowhere/half"]].concat());
        assert!(error.contains("there is no folder nowhere"), "{error}");
    }
    assert!(fit(2, &["--solver", "cg", "--lambda", "0"]).contains("lambda is 0"));
    // 99 centred rows cannot tell 512 features apart.
    let error = fit(1, &["--approx", "fourier:512", "--lambda", "0"]);
    assert!(error.contains("no unique answer") && error.contains("--lambda"), "{error}");
    let error = fit(1, &["--memory", "1K"]);
    assert!(error.contains("--solver cg") && error.contains("--approx fourier"), "{error}");
    assert!(fit(1, &["--approx", "fourier:4096", "--memory", "1M"]).contains("fewer features"));
    let error =
        bench.fails(2, &["fit", "ridge", "-", "--target", "y", "--approx", "fourier:8", "-o", "m.mercer"]);
    assert!(error.contains("standard input"), "{error}");
    let error =
        bench.fails(2, &["fit", "knn", "d.csv", "--target", "y", "--approx", "auto", "-o", "m.mercer"]);
    assert!(error.contains("--approx does not apply to knn"), "{error}");
}

/// A handful of rows, of which the hash may hold out none: the fit succeeds, and no error is NaN.
#[test]
fn very_few_rows_are_fitted() {
    let bench = Bench::new();
    for rows in 1..8 {
        bench.write("d.csv", table(rows));
        let told = fitted(&bench, "d.csv", &["--approx", "fourier:8", "--kernel", "rbf(sigma=1)"]);
        let rmse = &told["holdout"][0]["rmse"];
        assert!(told["holdout"].is_null() || rmse.as_f64().is_some_and(f64::is_finite), "{told}");
    }
}

#[test]
fn a_ragged_row_at_the_end_leaves_no_file() {
    let bench = Bench::new();
    bench.write("d.csv", table(50_000) + "1,2\n");
    let error = bench
        .fails(2, &["fit", "ridge", "d.csv", "--target", "y", "--approx", "fourier:16", "-o", "m.mercer"]);
    assert!(error.contains("line 50002"), "{error}");
    assert_eq!(bench.files(), ["d.csv"]);
}

/// A full disk: an error, and no part of a model.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_file() {
    let bench = Bench::new();
    bench.write("d.csv", table(500));
    let mercer = env!("CARGO_BIN_EXE_mercer");
    let script = format!(
        "trap '' XFSZ; ulimit -f 4; exec {mercer} fit ridge d.csv --target y --approx fourier:512 -o m.mercer"
    );
    let output =
        std::process::Command::new("sh").args(["-c", &script]).current_dir(bench.path("")).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("m.mercer") && !error.contains("panicked"), "{error}");
    assert_eq!(bench.files(), ["d.csv"]);
}

/// Killed along the way and started again: the same model, byte for byte, as without a break.
#[cfg(unix)]
#[test]
fn a_stream_resumes_from_its_checkpoint() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let bench = Bench::new();
    bench.write("d.csv", table(150_000));
    let fit = |model: &'static str| {
        [
            "fit",
            "ridge",
            "d.csv",
            "--target",
            "y",
            "--kernel",
            "rbf(sigma=1)",
            "--lambda",
            "0.1",
            "--approx",
            "fourier:512",
            "--checkpoint",
            "half",
            "-o",
            model,
        ]
    };
    bench.ok(&fit("whole.mercer"));
    let mut child =
        bench.command(&fit("m.mercer")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let child_id = child.id().to_string();
    let signal = |name: &str| Command::new("kill").args([name, &child_id]).status().unwrap();
    // The first checkpoint is written after some seconds: the program is suspended for most of them, so that a file that takes
    // less time is still not read to its end.
    while !bench.path("half").exists() && child.try_wait().unwrap().is_none() {
        signal("-STOP");
        std::thread::sleep(Duration::from_millis(240));
        signal("-CONT");
        std::thread::sleep(Duration::from_millis(10));
    }
    if child.try_wait().unwrap().is_none() {
        signal("-INT");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!bench.path("m.mercer").exists());
        assert!(bench.path("half").exists());
        bench.ok(&fit("m.mercer"));
    }
    assert_eq!(
        std::fs::read(bench.path("m.mercer")).unwrap(),
        std::fs::read(bench.path("whole.mercer")).unwrap()
    );
    assert!(!bench.path("half").exists());
}

#[test]
fn classifiers_take_an_approximation() {
    let bench = Bench::new();
    let mut text = String::from("a,b,kind\n");
    for i in 0..400 {
        let (a, b) = ((i as f64 * 0.37) % 2.0 - 1.0, (i as f64 * 0.53) % 2.0 - 1.0);
        text.push_str(&format!("{a},{b},{}\n", if a * a + b * b < 0.6 { "in" } else { "out" }));
    }
    bench.write("d.csv", text);
    for approx in ["fourier:128", "nystrom:80", "auto"] {
        let fit = ["fit", "logistic", "d.csv", "--target", "kind", "--approx", approx, "--C", "50"];
        let told: Value =
            serde_json::from_str(&bench.ok(&[&fit[..], &["-o", "m.mercer", "--json"]].concat())).unwrap();
        assert!(told["holdout"][0]["accuracy"].as_f64().unwrap() > 0.9, "{told}");
        let shown = bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]);
        assert!(
            shown.starts_with("a,b,kind,p_in,p_out,prediction") || shown.contains("p_in,p_out,prediction"),
            "{shown}"
        );
    }
}

#[test]
fn plans_name_the_ways_that_fit() {
    let bench = Bench::new();
    bench.write("d.csv", table(30_000));
    let plan = |memory: &str| -> Value {
        let told = bench.ok(&["plan", "ridge", "d.csv", "--target", "y", "--memory", memory, "--json"]);
        serde_json::from_str(&told).unwrap()
    };
    let small = plan("500M");
    let name = small["chosen"]["way"]["name"].as_str().unwrap();
    assert!(["conjugate-gradients", "random-features", "landmarks"].contains(&name), "{small}");
    let ways: Vec<&str> = small["alternatives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| way["way"]["name"].as_str().unwrap())
        .collect();
    assert!(ways.contains(&"landmarks") || name == "landmarks", "{small}");
    assert!(small["reasons"].to_string().contains("more than the 500"), "{small}");
}

/// A classifier on a file beyond the memory limit, which is read in chunks, is the one on a file within it and tells the same
/// measures.
#[test]
fn classifiers_stream_files_beyond_the_memory_limit() {
    let bench = Bench::new();
    let mut text = "a,b,y\n".to_owned();
    for line in table(6_000).lines().skip(1) {
        let v: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        text.push_str(&format!("{},{},{}\n", v[0], v[1], if v[2] > 0.5 { "high" } else { "low" }));
    }
    bench.write("d.csv", text);
    let common = ["--kernel", "rbf(sigma=1)", "--approx", "fourier:32"];
    // Only a fit in chunks tells the approximation.
    for (memory, is_streamed) in [("400K", true), ("4M", false)] {
        let fit = ["fit", "logistic", "d.csv", "--target", "y", "--lambda", "1", "-o", "m.mercer"];
        let text = bench.ok(&[&fit[..], &common, &["--memory", memory]].concat());
        assert_eq!(text.contains("32 random features"), is_streamed, "{text}");
    }
    for (method, penalty) in [("logistic", "--lambda"), ("svc", "--C")] {
        let fit = |more: &[&str]| -> (Value, String) {
            let fit = ["fit", method, "d.csv", "--target", "y", penalty, "1", "-o", "m.mercer"];
            let told =
                serde_json::from_str(&bench.ok(&[&fit[..], &common, &["--json"], more].concat())).unwrap();
            bench.ok(&["predict", "m.mercer", "d.csv", "-o", "out.csv"]);
            (told, bench.read("out.csv"))
        };
        let (whole, of_whole) = fit(&[]);
        let (streamed, of_stream) = fit(&["--memory", "400K"]);
        let differ = of_whole.lines().zip(of_stream.lines()).filter(|(a, b)| a != b).count();
        assert!(differ < 30, "{method}: {differ}");
        let (a, b) = (&whole["holdout"][0], &streamed["holdout"][0]);
        assert!(b["rows"] == 1_200 && a["rows"] == b["rows"], "{a} {b}");
        assert_eq!(a["classes"], b["classes"]);
        for measure in ["accuracy", "balanced_accuracy", "f1", "auc", "log_loss"] {
            match (a[measure].as_f64(), b[measure].as_f64()) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 0.01, "{method} {measure}: {a} {b}"),
                (a, b) => assert_eq!(a, b, "{method} {measure}"),
            }
        }
    }
}

#[test]
fn approximate_fits_tell_the_mean_absolute_error() {
    let bench = Bench::new();
    bench.write("d.csv", table(500));
    let mae = |more: &[&str]| {
        let told =
            fitted(&bench, "d.csv", &[&["--kernel", "rbf(sigma=1)", "--lambda", "0.1"], more].concat());
        told["holdout"][0]["mae"].as_f64().unwrap()
    };
    let (exact, approximate) = (mae(&[]), mae(&["--approx", "nystrom:400"]));
    assert!((exact - approximate).abs() < 0.01 * exact, "{exact} {approximate}");
}
