//! `mercer tune`: the search, its table, its picture, and going on with it.

use crate::bench::{Bench, table};
use serde_json::Value;

fn tune(bench: &Bench, method: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["tune", method, "d.csv", "--target", "y", "--json", "-o", "best.mercer"];
    arguments.extend(more);
    serde_json::from_str(&bench.ok(&arguments)).unwrap()
}

fn noisy(rows: usize) -> String {
    let mut text = String::from("a,y\n");
    for i in 0..rows {
        let (a, noise) = ((i as f64 * 0.617) % 6.0, ((i * 7919) % 101) as f64 / 101.0 - 0.5);
        text.push_str(&format!("{a},{}\n", (2.0 * a).sin() + 0.4 * noise));
    }
    text
}

#[test]
fn the_best_trial_is_saved_as_the_model() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(80));
    for criterion in ["loo", "gcv", "folds", "holdout"] {
        let found = tune(
            &bench,
            "ridge",
            &["--kernel", "rbf(sigma=?0.01..30)", "--lambda", "?", "--criterion", criterion],
        );
        let rows = found["trials"]["rows"].as_array().unwrap();
        let least = rows.iter().filter_map(|row| row["score"].as_f64()).fold(f64::INFINITY, f64::min);
        assert_eq!(found["score"].as_f64().unwrap(), least, "{criterion}");
        assert!(least < 0.25, "{criterion}: {least}");
        let score = bench.ok(&["predict", "best.mercer", "d.csv", "-o", "out.csv"]);
        let rmse = score.split("RMSE ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        assert!(rmse.parse::<f64>().unwrap() < 0.2, "{score}");
    }
    let lines = bench.ok(&["tune", "ridge", "d.csv", "--target", "y", "-o", "best.mercer"]);
    assert!(
        lines.contains("sigma") && lines.contains("best of") && lines.contains("leave-one-out"),
        "{lines}"
    );
}

/// A search that was stopped halfway resumes and gives the same model as one that was not.
#[test]
fn an_interrupted_search_resumes() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(60));
    let whole = tune(&bench, "ridge", &["--checkpoint", "trials.json"]);
    let model = std::fs::read(bench.path("best.mercer")).unwrap();
    let mut trials: Value = serde_json::from_str(&bench.read("trials.json")).unwrap();
    let rows = trials["rows"].as_array_mut().unwrap();
    let made = rows.len();
    rows.truncate(made / 2);
    bench.write("trials.json", trials.to_string());
    let resumed = tune(&bench, "ridge", &["--checkpoint", "trials.json"]);
    assert_eq!(resumed["trials"], whole["trials"]);
    assert_eq!(std::fs::read(bench.path("best.mercer")).unwrap(), model);
    // Trials of other data are not mixed in.
    bench.write("d.csv", noisy(61));
    let other =
        ["tune", "ridge", "d.csv", "--target", "y", "-q", "--checkpoint", "trials.json", "-o", "x.mercer"];
    assert!(bench.fails(2, &other).contains("other data"));
    bench.write("trials.json", "{");
    assert!(bench.fails(2, &other).contains("not the trials"));
    assert!(!bench.files().contains(&"x.mercer".to_owned()));
}

#[test]
fn the_search_is_drawn() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(50));
    for (method, file) in [("ridge", "r.svg"), ("smoother", "s.svg"), ("knn", "k.svg")] {
        tune(&bench, method, &["--plot", file]);
        let picture = bench.read(file);
        assert!(picture.starts_with("<svg") && picture.contains("best:"), "{method}");
    }
    assert!(bench.read("r.svg").contains("training rows"));
    let bad = ["tune", "ridge", "d.csv", "--target", "y", "--plot", "x.gif", "-o", "b.mercer"];
    assert!(bench.fails(2, &bad).contains(".svg"));
}

#[test]
fn smoothers_and_neighbours_are_tuned_by_leaving_one_out() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(80));
    let smoother = tune(&bench, "smoother", &["--kernel", "rbf(sigma=?0.01..10)"]);
    assert!(smoother["rule"]["smoother"]["kernel"].as_str().unwrap().starts_with("rbf(sigma="));
    let knn = tune(&bench, "knn", &["-k", "?1..20"]);
    let k = knn["rule"]["nearest"]["k"].as_u64().unwrap();
    assert!(k > 1 && k < 20, "{k}");
    assert_eq!(knn["trials"]["rows"].as_array().unwrap().len(), 20);
}

#[test]
fn bad_requests_are_named() {
    let refused = |table: String, more: &[&str], words: &[&str]| {
        let bench = Bench::new();
        bench.write("d.csv", table);
        let mut arguments = vec!["tune"];
        arguments.extend(more);
        arguments.extend(["d.csv", "--target", "y", "-o", "m.mercer"]);
        let output = bench.run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{error}");
        for word in words {
            assert!(error.contains(word), "{more:?}: `{word}` is not in: {error}");
        }
        assert_eq!(bench.files(), ["d.csv"]);
    };
    let flat = || "a,y\n1,2\n2,2\n3,2\n4,2\n".to_owned();
    refused(flat(), &["ridge"], &["2 in every row"]);
    refused(flat(), &["knn"], &["2 in every row"]);
    refused("a,y\n1,2\n2,3\n".into(), &["ridge"], &["2 rows"]);
    refused(table(20), &["ridge", "--lambda", "?5..1"], &["lambda"]);
    refused(table(20), &["ridge", "--kernel", "rbf(sigma=?0..1)"], &["sigma"]);
    refused(table(20), &["ridge", "--criterion", "folds", "--folds", "1"], &["folds"]);
    refused(table(20), &["ridge", "--points", "0"], &["points"]);
    refused(table(20), &["knn", "-k", "?30..40"], &["30"]);
    refused(table(20), &["lms"], &["there is no method lms here"]);
    refused(
        table(20),
        &["one-class", "--nu", "?"],
        &["the fraction of outliers that you expect", "--nu 0.05"],
    );
    refused(table(20), &["svr", "--nu", "0.5"], &["--nu does not apply"]);
    refused(table(20), &["knn", "--lambda", "?"], &["--lambda does not apply"]);
}

/// Two classes, `yes` inside of a ring; one row in eight is on the wrong side.
fn ring(rows: usize) -> String {
    let mut text = String::from("a,b,y\n");
    for i in 0..rows {
        let (a, b) = ((i as f64 * 0.617) % 4.0 - 2.0, (i as f64 * 0.371) % 4.0 - 2.0);
        let inside = (a * a + b * b < 2.0) != (i % 8 == 3);
        text.push_str(&format!("{a},{b},{}\n", if inside { "yes" } else { "no" }));
    }
    text
}

#[test]
fn every_method_has_its_own_scores() {
    let bench = Bench::new();
    bench.write("d.csv", ring(90));
    let quick = ["--points", "2", "--seed", "1"];
    for method in ["svc", "nu-svc", "logistic", "perceptron", "smoother", "knn"] {
        let more: &[&str] = if method == "knn" { &["-k", "?1..9"] } else { &quick };
        for (score, name) in [
            ("accuracy", "accuracy"),
            ("balanced-accuracy", "balanced accuracy"),
            ("f1", "F1"),
            ("auc", "AUC"),
        ] {
            let found = tune(&bench, method, &[more, &["--score", score]].concat());
            let rows = found["trials"]["rows"].as_array().unwrap();
            let most = rows.iter().filter_map(|row| row["score"].as_f64()).fold(0.0, f64::max);
            assert_eq!((&found["measure"], found["score"].as_f64()), (&name.into(), Some(most)), "{method}");
            assert!((0.4..=1.0).contains(&most), "{method} {score}: {most}");
            assert!(found["held_out"][0]["accuracy"].is_number(), "{method} {score}");
        }
        let wrong = ["tune", method, "d.csv", "--target", "y", "--score", "rmse", "-o", "m"];
        assert!(bench.fails(2, &wrong).contains("balanced-accuracy"), "{method}");
    }
    bench.write("d.csv", noisy(60));
    for method in ["ridge", "svr", "nu-svr", "smoother", "knn"] {
        let more: &[&str] = if method == "knn" { &["-k", "?1..9"] } else { &quick };
        for (score, name) in [("rmse", "RMSE"), ("mae", "MAE"), ("r2", "R²")] {
            let found = tune(&bench, method, &[more, &["--score", score]].concat());
            assert_eq!(found["measure"], name, "{method}");
            assert!(found["score"].as_f64().unwrap() < 1.0, "{method} {score}: {}", found["score"]);
            assert!(found["held_out"][0]["rmse"].is_number(), "{method} {score}");
        }
        let wrong = ["tune", method, "d.csv", "--target", "y", "--score", "f1", "-o", "m"];
        assert!(bench.fails(2, &wrong).contains("rmse, mae or r2"), "{method}");
    }
}

/// The rows kept apart are those that `fit` holds out, and the tuned settings give the same error there.
#[test]
fn the_outer_score_matches_a_fit_without_the_outer_rows() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(80));
    let found = tune(&bench, "ridge", &[]);
    let (kernel, lambda) = (found["kernel"].as_str().unwrap(), found["lambda"][0].to_string());
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "--kernel", kernel, "--lambda", &lambda];
    let fit: Value =
        serde_json::from_str(&bench.ok(&[&fit[..], &["--json", "-o", "f.mercer"]].concat())).unwrap();
    assert_eq!(found["held_out"], fit["holdout"]);
    for model in ["best.mercer", "f.mercer"] {
        let info = bench.ok(&["info", model]);
        assert!(info.contains("held out ") && info.contains("RMSE") && !info.contains('{'), "{info}");
    }
    let none = tune(&bench, "ridge", &["--outer", "0"]);
    assert!(none["held_out"].is_null());
}

#[test]
fn a_second_hyper_parameter_of_support_vector_regression_is_searched_for() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(50));
    for (method, flag) in [("svr", "epsilon"), ("nu-svr", "nu")] {
        let found = tune(&bench, method, &[&format!("--{flag}"), "?{0.05,0.3}", "--points", "2", "--C", "3"]);
        assert_eq!(found["trials"]["names"], serde_json::json!(["sigma", flag, "C"]), "{method}");
        let value = found[flag].as_f64().unwrap();
        assert!(value == 0.05 || value == 0.3, "{method}: {value}");
        let open = tune(&bench, method, &[&format!("--{flag}"), "?", "--points", "2", "--C", "3"]);
        assert!(open["score"].as_f64().unwrap() < 0.8, "{method}: {}", open["score"]);
    }
}

#[test]
fn within_one_standard_error_the_penalty_is_stronger() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(60));
    let lambda = |more: &[&str]| {
        let kernel = ["--kernel", "rbf(sigma=0.5)"];
        tune(&bench, "ridge", &[&kernel, more].concat())["lambda"][0].as_f64().unwrap()
    };
    for by in [&["--criterion", "loo"][..], &["--folds", "5"]] {
        assert!(lambda(&[by, &["--one-se"]].concat()) > lambda(by), "{by:?}");
    }
    let once = ["tune", "ridge", "d.csv", "--target", "y", "--holdout", "0.3", "--one-se", "-o", "m"];
    bench.ok(&once);
    let gcv = ["tune", "ridge", "d.csv", "--target", "y", "--criterion", "gcv", "--one-se", "-o", "m"];
    assert!(String::from_utf8_lossy(&bench.run(&gcv).stderr).contains("one standard error"));
}

#[test]
fn classes_are_weighted_and_features_are_searched_in() {
    let bench = Bench::new();
    bench.write("d.csv", ring(80));
    for method in ["svc", "logistic"] {
        for weight in ["balanced", "yes=5"] {
            let found = tune(
                &bench,
                method,
                &["--class-weight", weight, "--score", "f1", "--points", "2", "--one-se"],
            );
            assert!(found["score"].as_f64().unwrap() > 0.4, "{method} {weight}");
        }
        let wrong = ["tune", method, "d.csv", "--target", "y", "--class-weight", "maybe=2", "-o", "m"];
        assert!(String::from_utf8_lossy(&bench.run(&wrong).stderr).contains("maybe"), "{method}");
    }
    bench.write("d.csv", noisy(60));
    let found = tune(&bench, "ridge", &["--features", "sin(2*a), a"]);
    assert_eq!(found["trials"]["names"], serde_json::json!(["lambda"]));
}

#[test]
fn unknowns_of_the_same_name_and_of_each_column_are_distinguished() {
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    let sum = tune(&bench, "ridge", &["--kernel", "rbf(sigma=?)[a] + rbf(sigma=?)[b]", "--points", "2"]);
    assert_eq!(sum["trials"]["names"], serde_json::json!(["sigma_1", "sigma_2", "lambda"]));
    assert!(sum["kernel"].as_str().unwrap().ends_with("[1]"), "{}", sum["kernel"]);
    let each =
        tune(&bench, "ridge", &["--kernel", "rbf(sigma=[?])", "--search", "coordinates", "--trials", "20"]);
    assert_eq!(each["trials"]["names"], serde_json::json!(["sigma_1", "sigma_2", "lambda"]));
    assert!(each["kernel"].as_str().unwrap().starts_with("rbf(sigma=["), "{}", each["kernel"]);
}

#[test]
fn the_inner_score_stands_beside_a_constant_prediction() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(60));
    let report = bench.ok(&["tune", "ridge", "d.csv", "--target", "y", "--folds", "5", "-o", "t.mercer"]);
    let score = report.lines().find(|line| line.starts_with("score")).unwrap();
    assert!(
        score.contains("by 5-fold cross-validation") && score.contains("predicting the mean: "),
        "{score}"
    );
    let report = bench.ok(&["tune", "one-class", "d.csv", "--nu", "0.1", "--points", "3", "-o", "t.mercer"]);
    assert!(!report.contains("inconsistency -"), "{report}");
    assert!(report.contains("rejects few enough of the rows left out"), "{report}");
}

#[test]
fn neighbours_of_numbers_vote_on_classes() {
    let bench = Bench::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", (i * 37) % 61, i % 3)).collect();
    bench.write("d.csv", format!("a,y\n{rows}"));
    let found = tune(&bench, "knn", &["--classify"]);
    assert_eq!(found["measure"], "accuracy");
}

#[test]
fn methods_without_a_search_say_what_to_use() {
    let bench = Bench::new();
    bench.write("d.csv", noisy(20));
    for (method, hint) in [("lms", "mercer fit lms"), ("gp", "mercer fit gp")] {
        let error = bench.fails(2, &["tune", method, "d.csv", "--target", "y", "-o", "t.mercer"]);
        assert!(error.contains(hint), "{error}");
    }
}
