//! `mercer tune ridge --approx`: the search on features, from a file in chunks.

use crate::bench::{Bench, table};
use serde_json::Value;

const DATA: [&str; 3] = ["d.csv", "--target", "y"];

fn tune(bench: &Bench, more: &[&str]) -> Value {
    let tune = [&["tune", "ridge"], &DATA[..], &["-o", "best.mercer", "--json"], more].concat();
    serde_json::from_str(&bench.ok(&tune)).unwrap()
}

fn fit(bench: &Bench, more: &[&str]) -> Value {
    let fit = [&["fit", "ridge"], &DATA[..], &["-o", "fit.mercer", "--json"], more].concat();
    serde_json::from_str(&bench.ok(&fit)).unwrap()
}

fn predictions(bench: &Bench, model: &str) -> Vec<f64> {
    bench.ok(&["predict", model, "d.csv", "-o", "out.csv"]);
    let last = |line: &str| line.rsplit(',').next().unwrap().parse().unwrap();
    bench.read("out.csv").lines().skip(1).map(last).collect()
}

/// Held-out rows are the same in `tune` and `fit`, so errors are those of fits made one by one; the model is that of a fit.
#[test]
fn scores_and_models_match_fits() {
    let bench = Bench::new();
    bench.write("d.csv", table(1_500));
    for approx in ["fourier:64", "nystrom:40"] {
        let common = ["--approx", approx, "--kernel", "rbf(sigma=0.6)", "--holdout", "0.25", "--seed", "3"];
        let found = tune(&bench, &[&common[..], &["--lambda", "?{1e-3,0.1,10}", "--outer", "0"]].concat());
        assert_eq!((&found["approx"], &found["criterion"]), (&approx.into(), &"held-out rows".into()));
        let rows = found["trials"]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        let mut least = f64::INFINITY;
        for row in rows {
            let (lambda, score) = (row["setting"].to_string(), row["score"].as_f64().unwrap());
            let rmse = fit(&bench, &[&common[..], &["--lambda", &lambda]].concat())["holdout"][0]["rmse"]
                .as_f64()
                .unwrap();
            assert!((score - rmse).abs() < 1e-6 * rmse, "{approx} {lambda}: {score} {rmse}");
            least = least.min(score);
        }
        assert_eq!(found["score"].as_f64(), Some(least));
        let lambda = found["lambda"][0].to_string();
        fit(&bench, &[&common[..], &["--lambda", &lambda]].concat());
        let (a, b) = (predictions(&bench, "best.mercer"), predictions(&bench, "fit.mercer"));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5), "{approx}");
    }
}

#[test]
fn a_kernel_is_searched_by_folds_and_the_same_bytes_come_back() {
    let bench = Bench::new();
    bench.write("d.csv", table(600));
    let search = ["--approx", "fourier:64", "--kernel", "rbf(sigma=?0.1..10)"];
    let found = tune(&bench, &[&search[..], &["--checkpoint", "trials.json"]].concat());
    assert_eq!(found["criterion"], "folds");
    assert!(found["score"].as_f64().unwrap() < 0.02, "{}", found["score"]);
    let model = std::fs::read(bench.path("best.mercer")).unwrap();
    let alone = tune(&bench, &[&search[..], &["--threads", "1"]].concat());
    assert_eq!(alone["trials"], found["trials"]);
    assert_eq!(std::fs::read(bench.path("best.mercer")).unwrap(), model);
    // From half of the trials, and from all of them, to the same model.
    let trials: Value = serde_json::from_str(&bench.read("trials.json")).unwrap();
    let made = trials["rows"].as_array().unwrap().len();
    for kept in [made / 2, made] {
        let mut some = trials.clone();
        some["rows"].as_array_mut().unwrap().truncate(kept);
        bench.write("trials.json", some.to_string());
        let resumed = tune(&bench, &[&search[..], &["--checkpoint", "trials.json"]].concat());
        assert_eq!(resumed["trials"], found["trials"]);
        assert_eq!(std::fs::read(bench.path("best.mercer")).unwrap(), model);
    }
    let other =
        [&["tune", "ridge"], &DATA[..], &search, &["--checkpoint", "trials.json", "-q", "-o", "x.mercer"]];
    let other = [&other.concat()[..], &["--folds", "4"]].concat();
    assert!(bench.fails(2, &other).contains("another criterion"));
}

#[test]
fn the_search_is_printed_and_drawn() {
    let bench = Bench::new();
    bench.write("d.csv", table(400));
    let base = [&["tune", "ridge"], &DATA[..], &["-o", "m.mercer", "--approx", "nystrom:50"]].concat();
    let text = bench.ok(&[&base[..], &["--plot", "t.svg", "--folds", "3"]].concat());
    for words in [
        "50 landmarks",
        "relative kernel error",
        "by 3-fold cross-validation on",
        "best of",
        "lambda",
        "sigma",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    assert!(bench.read("t.svg").contains("best:"));
    let info = bench.ok(&["info", "m.mercer"]);
    assert!(info.contains("nystrom:50") && info.contains("folds"), "{info}");
    // Two targets at once.
    bench.write("d.csv", "a,b,y\n".to_owned() + table(300).split_once('\n').unwrap().1);
    let two = bench.ok(&[
        "tune",
        "ridge",
        "d.csv",
        "--target",
        "y,b",
        "--approx",
        "fourier:32",
        "--lambda",
        "?0.01..1",
        "-o",
        "two.mercer",
    ]);
    assert!(two.contains("32 random features"), "{two}");
}

#[test]
fn auto_uses_the_exact_kernel_for_few_rows() {
    let bench = Bench::new();
    bench.write("d.csv", table(120));
    let few = ["--kernel", "rbf(sigma=1)"];
    let exact = tune(&bench, &few);
    for approx in ["auto", "none"] {
        let found = tune(&bench, &[&few[..], &["--approx", approx]].concat());
        assert_eq!((&found["trials"], &found["criterion"]), (&exact["trials"], &"leave-one-out".into()));
        assert!(found.get("approx").is_none());
    }
    bench.write("d.csv", table(10_500));
    let many = ["--kernel", "rbf(sigma=1)", "--lambda", "?{0.1,1}", "--approx", "auto", "--holdout", "0.2"];
    assert!(tune(&bench, &many)["approx"].as_str().unwrap().contains(':'));
    let tune =
        [&["tune", "ridge"], &DATA[..], &many, &["--criterion", "loo", "-q", "-o", "x.mercer"]].concat();
    assert!(bench.fails(2, &tune).contains("--holdout is for --criterion holdout"));
}

#[test]
fn bad_requests_are_named() {
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    let fails = |code: i32, more: &[&str]| {
        let tune = [&["tune", "ridge"], &DATA[..], &["-o", "m.mercer"], more].concat();
        let error = bench.fails(code, &tune);
        assert!(!bench.path("m.mercer").exists(), "nothing is written");
        error
    };
    for criterion in ["loo", "gcv"] {
        let error = fails(2, &["--approx", "fourier:32", "--criterion", criterion]);
        assert!(error.contains("kernel matrix") && error.contains("--folds 5 or --holdout 0.2"), "{error}");
    }
    for (more, words) in [
        (&["fourier:7"][..], "nystrom:M"),
        (&["nystrom:61"], "there are only 60 rows"),
        (&["fourier:32", "--bias", "column"], "--bias centred and none"),
        (&["fourier:32", "--folds", "1"], "folds is 1"),
        (&["fourier:32", "--holdout", "1.5"], "held-out fraction is 1.5"),
        (&["fourier:32", "--kernel", "poly(degree=2)"], "nystrom"),
        (&["fourier:32", "--lambda", "?5..1"], "lambda"),
    ] {
        let error = fails(2, &[&["--approx"], more].concat());
        assert!(error.contains(words), "{more:?}: {error}");
    }
    let error = fails(1, &["--approx", "fourier:512", "--memory", "1M"]);
    assert!(error.contains("sums over the features of every fold") && error.contains("--memory"), "{error}");
    let knn = ["tune", "knn", "d.csv", "--target", "y", "--approx", "fourier:32", "-o", "m.mercer"];
    assert!(bench.fails(2, &knn).contains("--approx does not apply"));
    let piped = ["tune", "ridge", "-", "--target", "y", "--approx", "fourier:32", "-o", "m.mercer"];
    assert!(bench.fails(2, &piped).contains("standard input"));
    bench.write("d.csv", "a,y\n1,2\n2,2\n3,2\n4,2\n5,2\n");
    assert!(fails(1, &["--approx", "fourier:32"]).contains("2 in every row"));
    bench.write("d.csv", "a,y\n1,2\n2,3\n");
    assert!(fails(1, &["--approx", "fourier:32"]).contains("2 rows"));
    bench.write("d.csv", "a,y\n1,two\n2,three\n3,four\n4,one\n");
    assert!(fails(2, &["--approx", "fourier:32"]).contains('y'));
}
