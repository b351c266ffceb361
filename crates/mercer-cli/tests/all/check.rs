//! `mercer check`, and the check inside `fit`.

use crate::bench::{Bench, table};
use serde_json::Value;

#[test]
fn the_exit_code_is_the_verdict() {
    let bench = Bench::new();
    for (code, arguments) in [
        (0, vec!["check", "sin(<x,z>) + exp(<x,z>)"]),
        (3, vec!["check", "exp(|x-z|^2/2)"]),
        (3, vec!["check", "-|x-z|^2"]),
        (0, vec!["check", "max(0, 1-|x-z|)", "--dim", "1"]),
        (3, vec!["check", "max(0, 1-|x-z|)", "--dim", "2"]),
        (0, vec!["check", "1/(1-<x,z>)", "--domain", "ball:0.9"]),
        (3, vec!["check", "1/(1-<x,z>)"]),
        (0, vec!["check", "1/(1-<x,z>)", "--dim", "3", "--domain", "box:-0.5..0.5"]),
        (3, vec!["check", "1/(1-<x,z>)", "--dim", "4", "--domain", "box:-0.5..0.5"]),
        (2, vec!["check", "linear", "--domain", "box:1..0"]),
        (2, vec!["check", "1/(1-<x,z>"]),
        (2, vec!["check", "linear", "--dim", "0"]),
        (2, vec!["check", "linear", "--domain", "ball"]),
    ] {
        let output = bench.run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn the_text_shows_the_points_of_a_refutation() {
    let bench = Bench::new();
    let output = bench.run(&["check", "exp(|x-z|^2/2)"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("refuted"), "{text}");
    assert!(text.contains("1.649") && text.contains("-1.297") | text.contains("−1.297"), "{text}");
}

#[test]
fn json_carries_the_certificate() {
    let bench = Bench::new();
    let proven: Value =
        serde_json::from_str(&bench.ok(&["check", "rbf(sigma=2) + linear", "--json"])).unwrap();
    assert_eq!(proven["verdict"], "proven");
    assert_eq!(proven["dim"], "any");
    assert_eq!(proven["domain"], "all");
    assert!(proven["proof"]["rule"].is_string() && proven["proof"]["premises"].is_array(), "{proven}");
    let output = bench.run(&["check", "exp(|x-z|^2/2)", "--json"]);
    let refuted: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(refuted["verdict"], "refuted");
    let refutation = &refuted["refutation"];
    assert_eq!(refutation["kind"], "points");
    // The quadratic form, from the printed points and weights alone.
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let points: Vec<Vec<f64>> = refutation["points"].as_array().unwrap().iter().map(numbers).collect();
    let weights = numbers(&refutation["weights"]);
    let mut form = 0.0;
    for (x, a) in points.iter().zip(&weights) {
        for (z, b) in points.iter().zip(&weights) {
            let squared: f64 = x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum();
            form += a * b * (squared / 2.0).exp();
        }
    }
    assert!(form < 0.0 && (form - refutation["value"].as_f64().unwrap()).abs() < 1e-9, "{form} {refutation}");
}

#[test]
fn certificates_are_verified_and_changed_ones_are_rejected() {
    let bench = Bench::new();
    for (code, kernel) in
        [(0, "exp(-|x-z|^1.5) + linear"), (3, "exp(|x-z|^2/2)"), (3, "max(0,1-|x-z|)"), (3, "1/(1-<x,z>)")]
    {
        let output = bench.run(&["check", kernel, "--dim", "3", "--certificate", "c.json"]);
        assert_eq!(output.status.code(), Some(code));
        let accepted = bench.ok(&["verify", "c.json"]);
        assert!(accepted.starts_with(&format!("accepted: {kernel} is ")), "{accepted}");
        let document: Value = serde_json::from_str(&bench.ok(&["verify", "c.json", "--json"])).unwrap();
        assert_eq!(document["accepted"], true);
    }
    bench.ok(&["check", "exp(-|x-z|^1.5)", "--certificate", "c.json"]);
    let text = bench.read("c.json");
    bench.write("d.json", text.replace("exp(-|x-z|^1.5)", "exp(-|x-z|^2.5)"));
    let error = bench.fails(1, &["verify", "d.json"]);
    assert!(error.contains("d.json") && error.contains("rejected: step "), "{error}");
    bench.write("e.csv", "x,y\n1,2\n");
    let error = bench.fails(2, &["verify", "e.csv"]);
    assert!(error.contains("e.csv") && error.contains("not a certificate"), "{error}");
    let error = bench.fails(2, &["verify", "missing.json"]);
    assert!(error.contains("missing.json"), "{error}");
    // Undecided: nothing is written.
    let output = bench.run(&["check", "1/(1+cosh(|x-z|))", "--certificate", "u.json"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(!bench.files().iter().any(|file| file == "u.json"));
}

#[test]
fn findings_beyond_the_verdict_are_printed() {
    let bench = Bench::new();
    let run = |arguments: &[&str]| String::from_utf8(bench.run(arguments).stdout).unwrap();
    let text = run(&["check", "max(0,1-|x-z|)^?", "--dim", "3"]);
    assert!(text.contains("depends on ?: proven for ? >= 2, refuted below"), "{text}");
    let text = run(&["check", "max(0,1-|x-z|)^2"]);
    assert!(text.contains("positive semidefinite up to dimension 3, refuted in dimension 4"), "{text}");
    assert!(text.contains("repair: valid up to dimension 3"), "{text}");
    let text = run(&["check", "-(1+|x-z|^2)^0.5"]);
    assert!(text.contains("conditionally positive definite of order 1"), "{text}");
    let text = run(&["check", "|x-z|^2*log(|x-z|)"]);
    assert!(
        text.starts_with("undefined at") && text.contains("conditionally positive definite of order 2"),
        "{text}"
    );
    let text = run(&["check", "exp(-|x-z|)-0.31"]);
    assert!(text.contains("repair: add 0.31"), "{text}");
    let document: Value = serde_json::from_str(&run(&["check", "rbf", "--json"])).unwrap();
    assert_eq!(document["characteristic"]["value"], true);
    let text = run(&["check", "rbf(sigma=?)-rbf(sigma=?)"]);
    assert!(!text.starts_with("proven"), "{text}");
}

#[test]
fn fit_refuses_a_formula_that_is_not_a_kernel() {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    let fit = [
        "fit",
        "ridge",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "exp(|x-z|^2/2)",
        "--lambda",
        "1e9",
        "-o",
        "m.mercer",
    ];
    let error = bench.fails(1, &fit);
    assert!(error.contains("--assume-psd") && error.contains("exp(|x-z|^2/2)"), "{error}");
    assert_eq!(bench.files(), ["d.csv"]);
    let report = bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(report.contains("proven positive semidefinite on all of R^d"), "{report}");
}
