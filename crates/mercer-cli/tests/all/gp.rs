//! Gaussian processes on the command line: fit, predict with standard deviations, plan, plot, discover.

use crate::bench::Bench;
use serde_json::Value;

/// A noisy sine of the first of two columns.
fn waves(rows: usize) -> String {
    let mut text = "x,other,y\n".to_owned();
    for i in 0..rows {
        let (x, other) = (i as f64 * 0.07, ((i * 37) % 11) as f64);
        let noise = (((i * 7919) % 97) as f64 / 97.0 - 0.5) * 0.2;
        text.push_str(&format!("{x},{other},{}\n", 3.0 + x.sin() + noise));
    }
    text
}

fn column(out: &str, name: &str) -> Vec<f64> {
    let place = out.lines().next().unwrap().split(',').position(|field| field == name).unwrap();
    out.lines().skip(1).map(|line| line.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn fit_tells_what_it_learnt_and_predict_how_sure_it_is() {
    let bench = Bench::new();
    bench.write("d.csv", waves(90));
    let text = bench.ok(&["fit", "gp", "d.csv", "--target", "y", "-o", "m.mercer"]);
    for part in ["log-likelihood", "noise", "rbf sigma [x]", "NLPD", "intervals of 50/90/95%"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let (x, other) = (text.find("rbf sigma [x]").unwrap(), text.find("rbf sigma [other]").unwrap());
    assert!(x < other, "the column that matters comes first:\n{text}");
    let out = bench.ok(&["predict", "m.mercer", "d.csv", "--std", "--interval", "0.9"]);
    assert_eq!(out.lines().next(), Some("std,lower,upper,prediction"));
    let (std, lower, upper, mean) =
        (column(&out, "std"), column(&out, "lower"), column(&out, "upper"), column(&out, "prediction"));
    for i in 0..90 {
        assert!(std[i] > 0.03 && std[i] < 0.2, "{}", std[i]);
        // The normal quantile of 0.95.
        assert!((upper[i] - mean[i] - 1.644_853_626_951_472_2 * std[i]).abs() < 1e-9);
        assert!((mean[i] - lower[i] - (upper[i] - mean[i])).abs() < 1e-9);
    }
    let info: Value = serde_json::from_str(&bench.ok(&["info", "m.mercer", "--json"])).unwrap();
    assert_eq!((&info["method"], &info["variance"]), (&"gp".into(), &true.into()));
    let plan = bench.ok(&["plan", "gp", "d.csv", "--target", "y", "--kernel", "?*rbf(sigma=[?])"]);
    assert!(plan.contains("evaluations of the likelihood"), "{plan}");
}

#[test]
fn without_variance_there_are_no_deviations() {
    let bench = Bench::new();
    bench.write("d.csv", waves(30));
    bench.ok(&[
        "fit",
        "gp",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "?*rbf(sigma=?)",
        "--no-variance",
        "-o",
        "m.mercer",
    ]);
    let error = bench.fails(2, &["predict", "m.mercer", "d.csv", "--std"]);
    assert!(error.contains("--no-variance"), "{error}");
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "-o", "r.mercer"]);
    let error = bench.fails(2, &["predict", "r.mercer", "d.csv", "--interval", "0.9"]);
    assert!(error.contains("fit gp"), "{error}");
    let error = bench
        .fails(2, &["fit", "gp", "d.csv", "--target", "y", "--kernel", "matern(nu=?)", "-o", "n.mercer"]);
    assert!(error.contains("nu is a choice"), "{error}");
    let error = bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "--noise", "1", "-o", "n.mercer"]);
    assert!(error.contains("--noise does not apply to ridge"), "{error}");
}

#[test]
fn a_curve_has_a_band_and_draws() {
    let bench = Bench::new();
    bench.write("d.csv", waves(40));
    bench.ok(&["fit", "gp", "d.csv", "--target", "y", "--drop", "other", "-o", "m.mercer"]);
    bench.ok(&["plot", "m.mercer", "d.csv", "-o", "p.svg"]);
    let svg = bench.read("p.svg");
    assert!(svg.contains("95% of new data") && svg.contains("draws from the posterior"), "{svg}");
}

#[test]
fn discover_finds_a_cycle_and_says_so() {
    let bench = Bench::new();
    let mut text = "t,y\n".to_owned();
    for i in 0..96 {
        let t = i as f64 / 12.0;
        let noise = (((i * 7919) % 97) as f64 / 97.0 - 0.5) * 0.2;
        let y = 1.5 * t + 4.0 * (2.0 * std::f64::consts::PI * t).sin() + noise;
        text.push_str(&format!("{t:.6},{y:.6}\n"));
    }
    bench.write("d.csv", text);
    let arguments = ["discover", "d.csv", "--target", "t_", "-o", "m.mercer"];
    bench.fails(2, &arguments);
    let document: Value = serde_json::from_str(&bench.ok(&[
        "discover",
        "d.csv",
        "--target",
        "y",
        "--candidates",
        "24",
        "--plot",
        "parts.svg",
        "--json",
        "-o",
        "m.mercer",
    ]))
    .unwrap();
    let words = document["words"].to_string();
    assert!(words.contains("cycle") && words.contains("noise"), "{words}");
    let ladder = document["ladder"].as_array().unwrap();
    let score = |step: &Value| step["score"].as_f64().unwrap();
    assert!(ladder.windows(2).all(|pair| score(&pair[0]) < score(&pair[1])), "{ladder:?}");
    assert!(document["tried"].as_u64().unwrap() <= 24);
    assert!(bench.read("parts.svg").contains("The parts of y"));
    let r2 = document["holdout"][0]["r2"].as_f64().unwrap();
    assert!(r2 > 0.95, "{r2}");
    bench.ok(&["predict", "m.mercer", "d.csv", "--std", "-o", "out.csv"]);
}
