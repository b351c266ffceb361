//! Logistic regression and the perceptron from the command line.

use crate::bench::Bench;
use serde_json::Value;

/// Two classes inside and outside of a ring, or three by the angle too; a tenth of the rows has the wrong one.
fn rings(rows: usize, names: &[&str]) -> String {
    let mut text = String::from("a,b,kind\n");
    for i in 0..rows {
        let (angle, radius) = (i as f64 * 0.61, 0.3 + 1.4 * ((i as f64 * 0.377) % 1.0));
        let (a, b) = (radius * angle.cos(), radius * angle.sin());
        let outside = usize::from(radius > 1.0);
        let class = if names.len() == 3 && outside == 1 && b > 0.0 { 2 } else { outside };
        let class = if i % 10 == 3 { (class + 1) % names.len() } else { class };
        text.push_str(&format!("{a},{b},{}\n", names[class]));
    }
    text
}

fn fit(bench: &Bench, method: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["fit", method, "d.csv", "--target", "kind", "--json", "-o", "m.mercer"];
    arguments.extend(more);
    serde_json::from_str(&bench.ok(&arguments)).unwrap()
}

/// The table that a command printed: its header and its rows.
fn columns(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn neighbouring_large_integers_are_two_classes() {
    let bench = Bench::new();
    let labels = ["9007199254740992", "9007199254740993"];
    bench.write("d.csv", rings(100, &labels));
    fit(&bench, "svc", &[]);
    let (_, rows) = columns(&bench.ok(&["predict", "m.mercer", "d.csv"]));
    for label in labels {
        assert!(rows.iter().any(|row| row[0] == label), "{label}");
    }
    let scored: Value =
        serde_json::from_str(&bench.ok(&["predict", "m.mercer", "d.csv", "-o", "p.csv", "--json"])).unwrap();
    assert!(scored["score"][0]["accuracy"].as_f64().unwrap() > 0.75, "{scored}");
    // The same column is a number for a regression.
    let document = fit(&bench, "ridge", &[]);
    assert!(document["holdout"][0]["rmse"].as_f64().unwrap() >= 0.0, "{document}");
}

#[test]
fn probabilities_decide_and_add_up() {
    let bench = Bench::new();
    for names in [&["in", "out"][..], &["in", "low", "up"]] {
        bench.write("d.csv", rings(200, names));
        let document = fit(&bench, "logistic", &["--C", "5"]);
        let held_out = &document["holdout"][0];
        assert!(held_out["accuracy"].as_f64().unwrap() > 0.75, "{held_out}");
        assert!(held_out["log_loss"].as_f64().unwrap() < 0.8, "{held_out}");
        let confusion = held_out["confusion"].as_array().unwrap();
        let rows: u64 =
            confusion.iter().flat_map(|row| row.as_array().unwrap()).map(|n| n.as_u64().unwrap()).sum();
        assert_eq!((confusion.len(), rows), (names.len(), 40));
        let calibrated: u64 =
            held_out["calibration"].as_array().unwrap().iter().map(|bin| bin["rows"].as_u64().unwrap()).sum();
        assert_eq!(calibrated, 40);

        let (header, rows) = columns(&bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]));
        let expected: Vec<String> =
            names.iter().map(|name| format!("p_{name}")).chain(["prediction".to_owned()]).collect();
        assert_eq!(header, expected);
        for row in &rows {
            let shares: Vec<f64> = row[..names.len()].iter().map(|p| p.parse().unwrap()).collect();
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let best = (0..shares.len()).max_by(|&i, &j| shares[i].total_cmp(&shares[j])).unwrap();
            assert_eq!(row[names.len()], names[best]);
        }
        let (header, decisions) = columns(&bench.ok(&["predict", "m.mercer", "d.csv", "--decision"]));
        assert_eq!(header.len(), if names.len() == 2 { 2 } else { 4 });
        assert!(header[0].starts_with("decision"));
        if names.len() == 2 {
            let (logit, p): (f64, f64) = (decisions[0][0].parse().unwrap(), rows[0][1].parse().unwrap());
            assert!((1.0 / (1.0 + (-logit).exp()) - p).abs() < 1e-12);
        }
    }
}

#[test]
fn c_is_one_over_lambda() {
    let bench = Bench::new();
    bench.write("d.csv", rings(80, &["x", "y"]));
    fit(&bench, "logistic", &["--C", "4"]);
    let by_c = bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]);
    fit(&bench, "logistic", &["--lambda", "0.25"]);
    assert_eq!(by_c, bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]));
    let both =
        ["fit", "logistic", "d.csv", "--target", "kind", "--C", "1", "--lambda", "1", "-o", "n.mercer"];
    assert!(bench.fails(2, &both).contains("C = 1/λ"));
    let negative = ["fit", "logistic", "d.csv", "--target", "kind", "--C", "-1", "-o", "n.mercer"];
    assert!(bench.fails(2, &negative).contains("above 0"));
}

#[test]
fn every_solver_finds_the_same_model() {
    let bench = Bench::new();
    bench.write("d.csv", rings(60, &["x", "y"]));
    let common = ["--kernel", "rbf(sigma=1)", "--holdout", "0"];
    let predict = |more: &[&str]| {
        let document = fit(&bench, "logistic", &[&common[..], more].concat());
        assert_eq!(document["report"]["status"], "converged", "{more:?}");
        columns(&bench.ok(&["predict", "m.mercer", "d.csv", "--proba"])).1
    };
    let newton = predict(&[]);
    for solver in ["gd", "sgd"] {
        let slow = predict(&["--solver", solver, "--epochs", "20000", "--tol", "1e-4"]);
        for (a, b) in newton.iter().zip(&slow) {
            let (a, b): (f64, f64) = (a[0].parse().unwrap(), b[0].parse().unwrap());
            assert!((a - b).abs() < 1e-3, "{solver}: {a} is not {b}");
        }
    }
}

#[test]
fn a_class_without_training_rows_counts_as_wrong() {
    let bench = Bench::new();
    bench.write("d.csv", rings(100, &["x", "y"]));
    fit(&bench, "logistic", &[]);
    bench.write("new.csv", "a,b,kind\n0.1,0.1,x\n0.1,0.2,z\n");
    let document: Value =
        serde_json::from_str(&bench.ok(&["predict", "m.mercer", "new.csv", "-o", "o.csv", "--json"]))
            .unwrap();
    assert_eq!(
        (document["score"][0]["unseen"].as_u64(), document["score"][0]["rows"].as_u64()),
        (Some(1), Some(2))
    );
    let score = &document["score"][0];
    assert_eq!((&score["accuracy"], &score["balanced_accuracy"]), (&0.5.into(), &0.5.into()), "{score}");
    assert!(score["f1"].as_f64().unwrap() <= 0.5, "{score}");
    assert_eq!(score["unseen_classes"]["z"].as_array().unwrap().len(), 2, "{score}");
    let told = bench.ok(&["predict", "m.mercer", "new.csv", "-o", "o.csv"]);
    assert!(told.contains("1 of a class not in the training data, `z`"), "{told}");
    assert!(told.lines().any(|line| line.trim_start().starts_with("z ")), "a row of the matrix: {told}");
}

#[test]
fn a_class_for_every_row_is_warned_about() {
    let bench = Bench::new();
    let rows: String = (0..30).map(|i| format!("{},{},c{i}\n", i % 4, i % 7)).collect();
    bench.write("d.csv", format!("a,b,kind\n{rows}"));
    let output = bench.run(&["fit", "knn", "d.csv", "--target", "kind", "--holdout", "0", "-o", "m.mercer"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("30 classes in 30 rows"), "{told}");
}

#[test]
fn targets_that_are_not_classes_are_refused() {
    let bench = Bench::new();
    let refused = |text: String| {
        bench.write("bad.csv", text);
        let error = bench.fails(2, &["fit", "logistic", "bad.csv", "--target", "y", "-q", "-o", "n.mercer"]);
        assert!(!bench.path("n.mercer").exists());
        error
    };
    let table = |class: fn(usize) -> String| {
        let row = |i: usize| format!("{},{}\n", i as f64 * 0.1, class(i));
        format!("x,y\n{}", (0..40).map(row).collect::<String>())
    };
    assert!(refused(table(|_| "1".into())).contains("two classes or more"));
    assert!(refused(table(|i| format!("{}", i as f64 * 0.37))).contains("looks continuous"));
    assert!(refused(table(|i| format!("{i}"))).contains("looks continuous"));
    // Few fractions are classes, and so are many whole numbers with enough rows each.
    bench.write("ok.csv", table(|i| format!("{}", (i % 3) as f64 * 0.5)));
    bench.ok(&["fit", "logistic", "ok.csv", "--target", "y", "-o", "m.mercer"]);
    bench.write("two.csv", "x,u,v\n1,a,b\n2,b,a\n");
    let two = ["fit", "logistic", "two.csv", "--target", "u,v", "-q", "-o", "n.mercer"];
    assert!(bench.fails(2, &two).contains("one target"));
}

#[test]
fn separated_classes_without_a_penalty_are_reported() {
    let bench = Bench::new();
    bench.write("d.csv", "x,kind\n-1,a\n-2,a\n1,b\n2,b\n3,b\n");
    let command =
        ["fit", "logistic", "d.csv", "--target", "kind", "--lambda", "0", "--holdout", "0", "-o", "n.mercer"];
    assert!(bench.fails(1, &command).contains("separated"));
}

#[test]
fn a_perceptron_reports_separated_classes() {
    let bench = Bench::new();
    bench.write(
        "d.csv",
        rings(100, &["x", "y"])
            .lines()
            .enumerate()
            .filter(|(i, _)| (i + 9) % 10 != 3)
            .map(|(_, line)| format!("{line}\n"))
            .collect::<String>(),
    );
    let common = ["--holdout", "0", "--scale", "none", "--epochs", "1000"];
    let dual = fit(&bench, "perceptron", &[&["--kernel", "(<x,z>+1)^2"], &common[..]].concat());
    assert_eq!(dual["report"]["status"], "converged");
    let mistakes = dual["mistakes"].as_f64().unwrap();
    assert!(dual["margin"].as_f64().unwrap() > 0.0 && mistakes <= dual["mistake_bound"].as_f64().unwrap());
    let by_kernel = bench.ok(&["predict", "m.mercer", "d.csv"]);
    let primal = fit(&bench, "perceptron", &[&["--features", "poly(degree=2)"], &common[..]].concat());
    assert_eq!((primal["mistakes"].as_f64(), &primal["passes"]), (Some(mistakes), &dual["passes"]));
    assert_eq!(by_kernel, bench.ok(&["predict", "m.mercer", "d.csv"]));
}

#[test]
fn forms_of_the_perceptron() {
    let bench = Bench::new();
    bench.write("d.csv", rings(150, &["in", "low", "up"]));
    for form in [&["--last"][..], &["--vote"], &["--budget", "25"], &["--multiclass", "one-vs-rest"]] {
        let document =
            fit(&bench, "perceptron", &[&["--kernel", "rbf(sigma=0.5)", "--epochs", "10"], form].concat());
        let accuracy = document["holdout"][0]["accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.55, "{form:?}: {accuracy}");
        let shares = bench.run(&["predict", "m.mercer", "d.csv", "--proba"]);
        assert_eq!(shares.status.success(), form == ["--vote"], "{form:?}");
        if form == ["--budget", "25"] {
            let info: Value = serde_json::from_str(&bench.ok(&["info", "m.mercer", "--json"])).unwrap();
            assert!(info["centres"]["rows"].as_u64().unwrap() <= 25);
        }
    }
    let both =
        ["fit", "perceptron", "d.csv", "--target", "kind", "--vote", "--budget", "5", "-o", "n.mercer"];
    bench.fails(2, &both);
    let none = ["fit", "perceptron", "d.csv", "--target", "kind", "--budget", "0", "-q", "-o", "n.mercer"];
    assert!(bench.fails(2, &none).contains("--budget is `0`"));
}

#[test]
fn tuning_makes_the_loss_smaller_and_resumes_to_the_same_model() {
    let bench = Bench::new();
    bench.write("d.csv", rings(120, &["x", "y"]));
    let tune = |output: &str, more: &[&str]| -> Value {
        let mut arguments =
            vec!["tune", "logistic", "d.csv", "--target", "kind", "--points", "4", "--json", "-o", output];
        arguments.extend(more);
        serde_json::from_str(&bench.ok(&arguments)).unwrap()
    };
    let found = tune("t.mercer", &["--checkpoint", "c.json"]);
    let rows = found["trials"]["rows"].as_array().unwrap();
    let scores = rows.iter().map(|row| row["score"].as_f64().unwrap());
    assert_eq!(scores.fold(f64::INFINITY, f64::min), found["score"].as_f64().unwrap());
    assert_eq!((&found["measure"], &found["criterion"]), (&Value::from("log-loss"), &Value::from("folds")));
    assert!(found["score"].as_f64().unwrap() < 0.55, "{}", found["score"]);
    // Half of the trials are known, the other half are made again.
    let mut kept: Value = serde_json::from_str(&bench.read("c.json")).unwrap();
    let half = rows.len() / 2;
    kept["rows"].as_array_mut().unwrap().truncate(half);
    bench.write("c.json", kept.to_string());
    tune("again.mercer", &["--checkpoint", "c.json"]);
    assert_eq!(
        std::fs::read(bench.path("t.mercer")).unwrap(),
        std::fs::read(bench.path("again.mercer")).unwrap()
    );
    let accuracy = tune("a.mercer", &["--score", "accuracy", "--criterion", "holdout"]);
    assert!(accuracy["score"].as_f64().unwrap() > 0.7);
    let refused = |more: &[&str]| {
        let mut arguments = vec!["tune", "perceptron", "d.csv", "--target", "kind", "-q", "-o", "n.mercer"];
        arguments.extend(more);
        bench.fails(2, &arguments)
    };
    assert!(refused(&["--score", "log-loss"]).contains("log-loss needs probabilities"));
    assert!(refused(&["--criterion", "loo"]).contains("folds or holdout"));
    assert!(refused(&["--lambda", "1"]).contains("--lambda"));
    assert!(refused(&["--folds", "1"]).contains("folds is 1"));
    bench.ok(&[
        "tune",
        "perceptron",
        "d.csv",
        "--target",
        "kind",
        "--kernel",
        "poly(degree=?{1,2})",
        "-o",
        "p.mercer",
    ]);
    let info: Value = serde_json::from_str(&bench.ok(&["info", "p.mercer", "--json"])).unwrap();
    assert!(info["kernel"].as_str().unwrap().contains("degree=2"), "{}", info["kernel"]);
}

#[test]
fn maps_and_reliability_are_drawn() {
    let bench = Bench::new();
    bench.write("d.csv", rings(100, &["in", "low", "up"]));
    fit(&bench, "perceptron", &[]);
    bench.ok(&["plot", "m.mercer", "d.csv", "-o", "p.svg"]);
    assert!(bench.read("p.svg").contains("low"));
    let error = bench.fails(2, &["plot", "m.mercer", "d.csv", "--kind", "reliability", "-o", "r.svg"]);
    assert!(error.contains("needs probabilities"), "{error}");
    fit(&bench, "logistic", &[]);
    bench.ok(&["plot", "m.mercer", "d.csv", "-o", "l.svg"]);
    bench.ok(&["plot", "m.mercer", "d.csv", "--kind", "reliability", "-o", "r.svg"]);
}

#[test]
fn plans_know_the_classifiers() {
    let bench = Bench::new();
    let plan: Value =
        serde_json::from_str(&bench.ok(&["plan", "logistic", "--shape", "3000,5", "--json"])).unwrap();
    assert_eq!(plan["task"]["method"], "logistic");
    assert_eq!(plan["chosen"]["way"]["name"], "stored");
    let tight = bench.ok(&["plan", "logistic", "--shape", "30000,5", "--memory", "1G", "--json"]);
    let tight: Value = serde_json::from_str(&tight).unwrap();
    assert_eq!(tight["chosen"]["way"]["name"], "tiled");
    bench.ok(&["plan", "perceptron", "--shape", "3000,5", "--classes", "4"]);
}

#[test]
fn gaussian_processes_have_probabilities_of_classes() {
    let bench = Bench::new();
    for names in [&["in", "out"][..], &["in", "low", "up"]] {
        bench.write("d.csv", rings(120, names));
        let document = fit(&bench, "gp", &["--kernel", "?*rbf(sigma=?)"]);
        let held_out = &document["holdout"][0];
        assert!(held_out["accuracy"].as_f64().unwrap() > 0.7, "{held_out}");
        assert!(held_out["log_loss"].as_f64().unwrap() < 0.9, "{held_out}");
        let (header, rows) = columns(&bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]));
        assert_eq!(header.len(), names.len() + 1);
        for row in rows {
            let p: Vec<f64> = row[..names.len()].iter().map(|p| p.parse().unwrap()).collect();
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
            let best = (0..p.len()).max_by(|&i, &j| p[i].total_cmp(&p[j])).unwrap();
            assert_eq!(row[names.len()], names[best]);
        }
        bench.ok(&["info", "m.mercer"]);
    }
    // Numbers are classes on request.
    bench.write("d.csv", rings(80, &["0", "1"]));
    fit(&bench, "gp", &["--kernel", "rbf(sigma=1)", "--classify"]);
    let (header, _) = columns(&bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]));
    assert_eq!(header, ["p_0", "p_1", "prediction"]);
    let refused = bench
        .fails(2, &["fit", "gp", "d.csv", "--target", "kind", "--approx", "fourier:10", "-o", "m.mercer"]);
    assert!(refused.contains("nystrom:M"), "{refused}");
}

#[test]
fn gaussian_processes_on_inducing_points_have_deviations() {
    let bench = Bench::new();
    let mut text = String::from("x,y\n");
    for i in 0..400 {
        let x = (i as f64 * 0.377) % 1.0 * 10.0;
        text.push_str(&format!("{x},{}\n", x.sin() + 0.1 * (i as f64 * 7.9).cos()));
    }
    bench.write("d.csv", text);
    bench.ok(&["fit", "gp", "d.csv", "--target", "y", "--approx", "nystrom:30", "-o", "m.mercer"]);
    let (header, rows) = columns(&bench.ok(&["predict", "m.mercer", "d.csv", "--std"]));
    let place = header.iter().position(|name| name == "std").unwrap();
    let deviations: Vec<f64> = rows.iter().map(|row| row[place].parse().unwrap()).collect();
    assert_eq!(deviations.len(), 400);
    assert!(deviations.iter().all(|d| *d > 0.0));
}
