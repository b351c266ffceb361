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
fn finds_the_best_of_what_it_tried_and_saves_that_model() {
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
        assert!(least.sqrt() < 0.25, "{criterion}: {least}");
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

/// A search that was stopped halfway goes on to the very model of one that was not.
#[test]
fn a_search_goes_on_where_it_was() {
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
    let bad = ["tune", "ridge", "d.csv", "--target", "y", "--plot", "x.pdf", "-o", "b.mercer"];
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
    refused(table(20), &["lms"], &["invalid value 'lms'"]);
    refused(table(20), &["one-class", "--nu", "?"], &["--nu is `?`", "a number"]);
    refused(table(20), &["svr", "--nu", "0.5"], &["--nu does not apply"]);
    refused(table(20), &["knn", "--lambda", "?"], &["--lambda does not apply"]);
}
