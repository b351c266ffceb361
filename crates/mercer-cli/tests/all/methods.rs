//! The methods other than kernel ridge regression: features, least mean squares, smoother, neighbours.

use crate::bench::{Bench, table};
use serde_json::Value;

/// The last column of a table of predictions.
fn predictions(bench: &Bench, model: &str, data: &str) -> Vec<f64> {
    let out = bench.ok(&["predict", model, data]);
    out.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

fn fit(bench: &Bench, method: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["fit", method, "d.csv", "--target", "y", "--json", "-o", "m.mercer"];
    arguments.extend(more);
    serde_json::from_str(&bench.ok(&arguments)).unwrap()
}

#[test]
fn primal_and_dual_predict_the_same() {
    let bench = Bench::new();
    bench.write("d.csv", table(120));
    for bias in ["none", "centred", "column"] {
        let common = ["--lambda", "0.3", "--bias", bias, "--holdout", "0"];
        let primal = [&["--features", "poly(degree=3)"], &common[..]].concat();
        let dual = [&["--kernel", "poly(degree=3)", "--solver", "cholesky"], &common[..]].concat();
        let document = fit(&bench, "ridge", &primal);
        assert_eq!(document["feature_count"], 10, "the constant is one of them");
        let on_features = predictions(&bench, "m.mercer", "d.csv");
        let document = fit(&bench, "ridge", &dual);
        assert!(document["kernel"].as_str().unwrap().starts_with("poly"));
        let on_kernel = predictions(&bench, "m.mercer", "d.csv");
        for (p, d) in on_features.iter().zip(&on_kernel) {
            assert!((p - d).abs() < 1e-8 * d.abs().max(1.0), "{bias}: {p} is not {d}");
        }
    }
}

#[test]
fn few_features_are_solved_in_the_primal_by_default() {
    let bench = Bench::new();
    bench.write("d.csv", table(300));
    let solver = |more: &[&str]| {
        let document = fit(&bench, "ridge", &[&["--kernel", "linear"], more].concat());
        document["report"]["solver"].as_str().unwrap().to_owned()
    };
    assert!(solver(&[]).contains("normal equations"));
    assert!(solver(&["--solver", "cholesky"]).contains("cholesky"));
    let error =
        bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "--solver", "primal", "-o", "n.mercer"]);
    assert!(error.contains("does not have finitely many features"), "{error}");
}

#[test]
fn features_may_name_columns() {
    let bench = Bench::new();
    bench.write("d.csv", table(100));
    let document =
        fit(&bench, "ridge", &["--features", "sin(a), b^2, 1", "--scale", "none", "--lambda", "1e-9"]);
    assert_eq!(document["features"], "sin(x0), x1^2, 1");
    assert!(document["holdout"][0]["rmse"].as_f64().unwrap() < 1e-6, "the very features of the target");
    let info: Value = serde_json::from_str(&bench.ok(&["info", "m.mercer", "--json"])).unwrap();
    assert_eq!(info["features"], document["features"]);
}

#[test]
fn least_mean_squares_on_a_kernel_and_on_its_features_take_the_same_steps() {
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    for solver in ["batch", "sgd"] {
        let common =
            ["--solver", solver, "--step", "0.001", "--epochs", "20", "--tol", "0", "--bias", "none"];
        fit(&bench, "lms", &[&["--features", "poly(degree=2)"], &common[..]].concat());
        let on_features = predictions(&bench, "m.mercer", "d.csv");
        let document = fit(&bench, "lms", &[&["--kernel", "poly(degree=2)"], &common[..]].concat());
        assert_eq!(document["epochs_run"], 20);
        assert_eq!(document["report"]["status"], "out_of_iterations");
        let curve = document["curve"].as_array().unwrap();
        assert!(curve.first().unwrap()["mse"].as_f64() > curve.last().unwrap()["mse"].as_f64());
        let on_kernel = predictions(&bench, "m.mercer", "d.csv");
        for (p, d) in on_features.iter().zip(&on_kernel) {
            assert!((p - d).abs() < 1e-9 * d.abs().max(1.0), "{solver}: {p} is not {d}");
        }
    }
}

#[test]
fn smoother_and_neighbours_predict_means() {
    let bench = Bench::new();
    bench.write("d.csv", "a,y\n0,1\n1,3\n10,7\n");
    bench.write("q.csv", "a\n0.4\n9\n1000\n");
    let common = ["--scale", "none", "--holdout", "0"];
    fit(&bench, "knn", &[&["-k", "2"], &common[..]].concat());
    assert_eq!(predictions(&bench, "m.mercer", "q.csv"), [2.0, 5.0, 5.0]);
    fit(
        &bench,
        "knn",
        &[&["-k", "2", "--weights", "distance", "--metric", "manhattan"], &common[..]].concat(),
    );
    let expected = (1.0 / 0.4 + 3.0 / 0.6) / (1.0 / 0.4 + 1.0 / 0.6);
    assert!((predictions(&bench, "m.mercer", "q.csv")[0] - expected).abs() < 1e-12);
    fit(&bench, "smoother", &[&["--kernel", "rbf(sigma=0.5)"], &common[..]].concat());
    let found = predictions(&bench, "m.mercer", "q.csv");
    let weight = |d: f64| (-d * d / 0.5).exp();
    let expected = (weight(0.4) + 3.0 * weight(0.6)) / (weight(0.4) + weight(0.6));
    assert!((found[0] - expected).abs() < 1e-12);
    assert_eq!(found[2], 7.0, "far away the nearest row speaks alone");
}

#[test]
fn neighbours_vote_if_the_target_is_text() {
    let bench = Bench::new();
    let rows = |i: usize| format!("{},{}\n", i as f64 * 0.1, if i < 20 { "low" } else { "high" });
    let text: String = std::iter::once("a,level\n".to_owned()).chain((0..40).map(rows)).collect();
    bench.write("d.csv", text);
    let report = bench.ok(&["fit", "knn", "d.csv", "--target", "level", "-k", "3", "-o", "m.mercer"]);
    assert!(report.contains("accuracy"), "{report}");
    bench.write("q.csv", "a,level\n0,low\n3.9,high\n2,medium\n1.95,\n");
    let output = bench.run(&["predict", "m.mercer", "q.csv", "--proba"]);
    let out = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..3], ["p_high,p_low,prediction", "0,1,low", "1,0,high"]);
    assert_eq!(lines.len(), 5);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("on 3 rows, 1 of a class not in the training data"), "{told}");
    let info = bench.ok(&["info", "m.mercer"]);
    assert!(info.contains("high, low") && info.contains("3 nearest rows"), "{info}");
    // Numbers are classes only where asked.
    bench.write("n.csv", "a,c\n0,1\n1,1\n2,5\n3,5\n");
    bench.ok(&[
        "fit",
        "knn",
        "n.csv",
        "--target",
        "c",
        "-k",
        "1",
        "--classify",
        "--holdout",
        "0",
        "-o",
        "c.mercer",
    ]);
    assert_eq!(bench.ok(&["predict", "c.mercer", "n.csv", "-q"]), "prediction\n1\n1\n5\n5\n");
    let error = bench.fails(2, &["fit", "ridge", "d.csv", "--target", "level", "-o", "x.mercer"]);
    assert!(error.contains("holds text"), "{error}");
}

/// Exit code 2, these words, and no model.
fn refused(method: &str, more: &[&str], words: &[&str]) {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    let mut arguments = vec!["fit", method, "d.csv", "--target", "y", "-o", "m.mercer"];
    arguments.extend(more);
    let error = bench.fails(2, &arguments);
    for word in words {
        assert!(error.contains(word), "{more:?}: `{word}` is not in: {error}");
    }
    assert_eq!(bench.files(), ["d.csv"]);
}

#[test]
fn bad_settings_are_named() {
    refused("lms", &["--step", "0"], &["step", "more than 0"]);
    refused("lms", &["--step", "-1"], &["step", "more than 0"]);
    refused("lms", &["--epochs", "0"], &["epochs"]);
    refused("lms", &["--kernel", "rbf(sigma=1)", "--step", "1000"], &["step of 1000 is too large", "safe"]);
    refused("knn", &["-k", "31", "--holdout", "0"], &["31", "30"]);
    refused("knn", &["-k", "0"], &["-k is `0`"]);
    refused("smoother", &["--kernel", "linear"], &["cannot be used as weights"]);
    refused("ridge", &["--kernel", "rbf(sigma=0)"], &["sigma", "more than 0"]);
    refused("ridge", &["--features", "x +"], &["--features"]);
    refused("ridge", &["--features", "log(c)"], &["no column `c`", "a, b"]);
    refused("ridge", &["--features", "x7"], &["column 7"]);
    refused("ridge", &["--features", "log(x-9)"], &["log", "row"]);
    refused("ridge", &["--features", "poly(degree=200000)"], &["degree"]);
    refused("ridge", &["--features", "poly(degree=300)", "--memory", "1M"], &["45451 features"]);
    refused("ridge", &["--step", "1"], &["--step does not apply to ridge"]);
    refused("knn", &["--lambda", "1"], &["--lambda does not apply to knn"]);
    refused("lms", &["--solver", "cholesky"], &["batch or sgd"]);
}

/// The key that an object of a printed document has twice, if any: there is one key in a line.
fn repeated_key(text: &str) -> Option<String> {
    let mut open: Vec<std::collections::HashSet<&str>> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some((key, _)) = line.split_once("\": ").filter(|_| line.starts_with('"'))
            && !open.last_mut().is_some_and(|keys| keys.insert(key))
        {
            return Some(key.to_owned());
        }
        if line.ends_with(['{', '[']) {
            open.push(Default::default());
        } else if line.starts_with(['}', ']']) {
            open.pop();
        }
    }
    None
}

#[test]
fn no_key_of_a_document_is_repeated() {
    assert_eq!(repeated_key("{\n  \"a\": {\n    \"b\": 1\n  },\n  \"b\": 2\n}"), None);
    assert_eq!(repeated_key("{\n  \"a\": [\n    1\n  ],\n  \"a\": 2\n}"), Some("\"a".to_owned()));
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    let rows = table(60);
    let named = rows.lines().enumerate().map(|(i, line)| match line.rsplit_once(',') {
        Some((features, _)) if i > 0 => format!("{features},{}\n", if i % 3 == 0 { "p" } else { "q" }),
        _ => format!("{line}\n"),
    });
    bench.write("c.csv", named.collect::<String>());
    for (method, data, flags) in [
        ("ridge", "d.csv", &[][..]),
        ("ridge", "d.csv", &["--approx", "nystrom:20"]),
        ("ridge", "d.csv", &["--features", "a, b"]),
        ("lms", "d.csv", &[]),
        ("smoother", "d.csv", &[]),
        ("knn", "d.csv", &[]),
        ("svr", "d.csv", &[]),
        ("nu-svr", "d.csv", &[]),
        ("gp", "d.csv", &[]),
        ("gp", "d.csv", &["--noise", "0.1", "--approx", "nystrom:20"]),
        ("gp", "c.csv", &[]),
        ("perceptron", "c.csv", &[]),
        ("logistic", "c.csv", &[]),
        ("svc", "c.csv", &[]),
        ("nu-svc", "c.csv", &["--no-tune", "--nu", "0.3"]),
        ("one-class", "d.csv", &["--drop", "y"]),
    ] {
        let target: &[&str] = if method == "one-class" { &[] } else { &["--target", "y"] };
        let fit = [&["fit", method, data, "--json", "-o", "m.mercer"], target, flags].concat();
        let text = bench.ok(&fit);
        assert_eq!(repeated_key(&text), None, "{fit:?}: {text}");
        let document: Value = serde_json::from_str(&text).unwrap();
        assert!(!document["kernel"].to_string().contains('?'), "{fit:?}: {text}");
        if method == "gp" {
            assert!(document["kernel_text"].as_str().unwrap().contains("sigma=[?]"), "{text}");
        }
    }
}
