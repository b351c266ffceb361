//! Fits without flags: what is chosen, what is printed, and the command that gives the same model.

use std::process::Command;

use crate::bench::{Bench, table};
use serde_json::Value;

/// Two classes by the sign of a wave, some rows on the wrong side.
fn waves(rows: usize) -> String {
    let mut text = String::from("a,b,kind\n");
    for i in 0..rows {
        let (a, b) = ((i as f64 * 0.618_034).fract() * 6.0, (i as f64 * 0.754_878).fract() * 2.0 - 1.0);
        let above = (b > 0.6 * (2.0 * a).sin()) != i.is_multiple_of(23);
        text.push_str(&format!("{a},{b},{}\n", if above { "over" } else { "under" }));
    }
    text
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("d.csv", table(120));
    bench.write("w.csv", waves(150));
    bench
}

fn fit(bench: &Bench, method: &str, more: &[&str]) -> Value {
    let target: &[&str] = match method {
        "one-class" => &["d.csv"],
        "svc" | "nu-svc" | "logistic" => &["w.csv", "--target", "kind"],
        _ => &["d.csv", "--target", "y"],
    };
    let arguments = [&["fit", method], target, &["--json", "-o", "m.mercer"], more].concat();
    serde_json::from_str(&bench.ok(&arguments)).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The command that is printed is run as a shell reads it, and gives the same bytes.
#[test]
fn the_printed_command_gives_the_same_model() {
    for method in ["ridge", "svr", "nu-svr", "svc", "nu-svc", "logistic", "one-class"] {
        let bench = bench();
        let chosen = &fit(&bench, method, &[])["chosen"];
        let flags: &[&str] = match method {
            "ridge" | "logistic" => &["kernel", "lambda"],
            "svr" => &["C", "epsilon", "kernel"],
            "nu-svc" => &["kernel", "nu"],
            "one-class" => &["kernel"],
            _ => &["C", "kernel"],
        };
        let names: Vec<&String> = chosen["settings"].as_object().unwrap().keys().collect();
        assert_eq!(names, flags, "{method}");
        if method != "one-class" {
            let error = |name: &str| match chosen["measure"].as_str() {
                Some("accuracy") => 1.0 - number(&chosen[name]),
                _ => number(&chosen[name]),
            };
            assert!(error("score") < 0.75 * error("baseline"), "{method}: {chosen}");
        }
        let model = std::fs::read(bench.path("m.mercer")).unwrap();
        std::fs::remove_file(bench.path("m.mercer")).unwrap();
        let command = chosen["command"].as_str().unwrap();
        let program = command.strip_prefix("mercer ").unwrap();
        let line = format!("\"{}\" {program}", env!("CARGO_BIN_EXE_mercer"));
        let folder = bench.path("");
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report.get("chosen").is_none(), "nothing is left to choose: {command}");
        assert!(model == std::fs::read(bench.path("m.mercer")).unwrap(), "{command}");
    }
}

#[test]
fn a_choice_beats_plain_defaults() {
    let bench = bench();
    let error = |method: &str, more: &[&str]| {
        let holdout = &fit(&bench, method, more)["holdout"][0];
        holdout["rmse"].as_f64().unwrap_or_else(|| 1.0 - number(&holdout["accuracy"]))
    };
    for method in ["ridge", "svr", "svc", "logistic"] {
        let (chosen, plain) = (error(method, &[]), error(method, &["--no-tune"]));
        assert!(chosen < 0.8 * plain, "{method}: {chosen} {plain}");
    }
}

#[test]
fn the_report_names_the_choice_and_the_baseline() {
    let bench = bench();
    let report = bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"]);
    let line = |label: &str| report.lines().find(|line| line.starts_with(label)).unwrap().to_owned();
    let chosen = line("chosen");
    assert!(
        chosen.contains("rbf(sigma=")
            && chosen.contains("lambda ")
            && chosen.contains("predicting the mean:")
    );
    assert!(chosen.contains("leave-one-out RMSE") && chosen.contains("on 96 rows"), "{chosen}");
    let command = line("same model");
    assert!(
        command.contains("mercer fit ridge d.csv --target y -o m.mercer --kernel \"rbf(sigma="),
        "{command}"
    );
    let report = bench.ok(&["fit", "svc", "w.csv", "--target", "kind", "-o", "m.mercer"]);
    assert!(
        report.contains("10-fold accuracy") && report.contains("predicting the most frequent class:"),
        "{report}"
    );
}

#[test]
fn flags_win() {
    let bench = bench();
    // A kernel alone: the penalty is chosen.
    let penalty = fit(&bench, "ridge", &["--kernel", "rbf(sigma=0.7)"]);
    assert_eq!(penalty["kernel"], "rbf(sigma=0.7)");
    assert_eq!(penalty["chosen"]["settings"].as_object().unwrap().len(), 1);
    assert!(number(&penalty["lambda"][0]) < 0.1, "{penalty}");
    let linear = fit(&bench, "svr", &["--kernel", "linear"]);
    assert_eq!((&linear["kernel"], linear["chosen"]["settings"].get("kernel")), (&"linear".into(), None));
    // A penalty alone: nothing is chosen.
    let plain = fit(&bench, "ridge", &["--lambda", "0.5"]);
    assert!(plain.get("chosen").is_none() && plain["lambda"][0] == 0.5);
    let report = bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", "0.5", "-o", "m.mercer"]);
    assert!(report.contains("(from rbf(sigma=auto))"), "{report}");
    let report = bench.ok(&["fit", "svc", "w.csv", "--target", "kind", "--C", "2", "-o", "m.mercer"]);
    assert!(report.contains("(from rbf(gamma=auto))"), "{report}");
    let plain = fit(&bench, "svr", &["--no-tune"]);
    assert_eq!((&plain["C"], &plain["epsilon"]), (&1.0.into(), &0.1.into()));
    let error = bench.fails(2, &["fit", "knn", "d.csv", "--target", "y", "--no-tune", "-o", "n.mercer"]);
    assert!(error.contains("--no-tune does not apply to knn"), "{error}");
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let bench = Bench::new();
    bench.write("d.csv", table(2_800));
    let bytes = |more: &[&str]| {
        let fit =
            ["fit", "ridge", "d.csv", "--target", "y", "--approx", "fourier:64", "-q", "-o", "m.mercer"];
        bench.ok(&[&fit[..], more].concat());
        std::fs::read(bench.path("m.mercer")).unwrap()
    };
    let first = bytes(&[]);
    assert!(first == bytes(&["--threads", "1"]));
    assert!(first != bytes(&["--seed", "1"]));
}

#[test]
fn every_machine_is_tuned() {
    let bench = bench();
    for (method, more) in [
        ("svr", &["d.csv", "--target", "y", "--C", "?{1,10}", "--epsilon", "0.05"][..]),
        ("nu-svr", &["d.csv", "--target", "y", "--C", "?{1,10}", "--nu", "0.4"]),
        ("nu-svc", &["w.csv", "--target", "kind", "--nu", "?{0.2,0.5}"]),
        ("one-class", &["d.csv", "--nu", "0.2"]),
    ] {
        let kernel = ["--kernel", "rbf(sigma=?{0.3,1})", "--json", "-o", "t.mercer"];
        let arguments = [&["tune", method], more, &kernel[..]].concat();
        let document: Value = serde_json::from_str(&bench.ok(&arguments)).unwrap();
        let trials = if method == "one-class" { 2 } else { 4 };
        assert_eq!(document["trials"]["rows"].as_array().unwrap().len(), trials, "{method}");
        assert_eq!(document["criterion"], "folds", "{method}");
        bench.ok(&["predict", "t.mercer", more[0], "-o", "o.csv"]);
    }
}

/// Rows that predict nothing are said to predict nothing.
#[test]
fn a_choice_without_use_warns() {
    let bench = Bench::new();
    let noise = |i: usize| (((i * i + 7 * i) * 7_919) % 1_009) as f64 / 1_009.0;
    let row = |i: usize| format!("{},{}\n", noise(i), noise(5 * i + 400));
    bench.write("n.csv", "x,y\n".to_owned() + &(0..90).map(row).collect::<String>());
    let output = bench.run(&["fit", "ridge", "n.csv", "--target", "y", "-o", "m.mercer"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("no better than predicting the mean"), "{error}");
}

/// The mean alone has the same error in both: it depends on the rows that are held out, not on the fit.
#[test]
fn exact_and_approximate_fits_hold_out_the_same_rows() {
    let bench = bench();
    let held_out = |more: &[&str]| fit(&bench, "ridge", more)["holdout"][0].clone();
    let (exact, approximate) = (held_out(&[]), held_out(&["--approx", "fourier:32"]));
    assert_eq!((&exact["rows"], &approximate["rows"]), (&24.into(), &24.into()));
    let (a, b) = (number(&exact["baseline_rmse"]), number(&approximate["baseline_rmse"]));
    assert!((a - b).abs() < 1e-9 * a, "{a} {b}");
    assert!(number(&exact["rmse"]) < a);
}

#[test]
fn classifiers_are_compared_with_a_majority_vote() {
    let bench = bench();
    let report = bench.ok(&["fit", "svc", "w.csv", "--target", "kind", "--C", "10", "-o", "m.mercer"]);
    for word in ["balanced accuracy 0.", "F1 0.", "AUC 0.", "predicting the most frequent class: 0."] {
        assert!(report.contains(word), "{word}: {report}");
    }
    let vote = ["fit", "svc", "w.csv", "--target", "kind", "--C", "1e-9", "-o", "m.mercer"];
    let error = String::from_utf8(bench.run(&vote).stderr).unwrap();
    assert!(error.contains("every row is predicted to be") && error.contains("majority vote"), "{error}");
}

#[test]
fn few_rows_have_plain_defaults_and_a_note() {
    let bench = Bench::new();
    bench.write("d.csv", table(9));
    let report = bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(report.contains("there are too few rows, so nothing was chosen"), "{report}");
    bench.write("flat.csv", "a,y\n".to_owned() + &(0..30).map(|i| format!("{i},5\n")).collect::<String>());
    let report = bench.ok(&["fit", "ridge", "flat.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(report.contains("the target is the same in every row"), "{report}");
    bench.write(
        "rare.csv",
        "a,y\n".to_owned()
            + &(0..30).map(|i| format!("{i},{}\n", if i == 3 { "b" } else { "a" })).collect::<String>(),
    );
    let report = bench.ok(&["fit", "svc", "rare.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(report.contains("too few rows of each class"), "{report}");
}

/// The table with the target multiplied by a factor.
fn scaled(rows: usize, factor: f64) -> String {
    let scale = |line: &str| {
        let (features, y) = line.rsplit_once(',').unwrap();
        format!("{features},{}\n", y.parse::<f64>().map_or("y".to_owned(), |y| (factor * y).to_string()))
    };
    table(rows).lines().map(scale).collect()
}

#[test]
fn the_unit_of_the_target_does_not_matter() {
    let bench = Bench::new();
    for method in ["svr", "nu-svr"] {
        for factor in [1e-6, 1e7] {
            bench.write("d.csv", scaled(120, factor));
            let r2 = number(&fit(&bench, method, &[])["holdout"][0]["r2"]);
            assert!(r2 > 0.95, "{method} {factor}: {r2}");
        }
        bench.write("d.csv", scaled(120, 1e-6));
        let tuned = ["tune", method, "d.csv", "--target", "y", "--points", "3", "--json", "-o", "t.mercer"];
        let tuned: Value = serde_json::from_str(&bench.ok(&tuned)).unwrap();
        assert!(number(&tuned["held_out"][0]["r2"]) > 0.95, "{method}: {}", tuned["held_out"]);
    }
    let plain = ["fit", "svr", "d.csv", "--target", "y", "--no-tune", "-o", "m.mercer"];
    let warning = String::from_utf8(bench.run(&plain).stderr).unwrap();
    assert!(warning.contains("no row is a support vector"), "{warning}");
}

/// One class in twenty rows at random places, and as many rows of others as asked.
fn rare(of_rare: usize) -> String {
    let row = |i: usize| {
        let (a, b) = ((i as f64 * 0.618_034).fract(), (i as f64 * 0.754_878).fract());
        let kind = if i % (120 / of_rare) == 5 {
            "rare"
        } else if a > 0.5 {
            "over"
        } else {
            "under"
        };
        format!("{a},{b},{kind}\n")
    };
    "a,b,kind\n".to_owned() + &(0..120).map(row).collect::<String>()
}

#[test]
fn a_chosen_nu_is_feasible() {
    let bench = Bench::new();
    for of_rare in [1, 4, 10] {
        bench.write("w.csv", rare(of_rare));
        for seed in ["0", "1", "2", "3"] {
            let report = fit(&bench, "nu-svc", &["--seed", seed]);
            assert!(report["holdout"][0]["accuracy"].is_number(), "{of_rare} {seed}: {}", report["notes"]);
        }
        bench.ok(&["tune", "nu-svc", "w.csv", "--target", "kind", "--points", "2", "-o", "t.mercer"]);
    }
}

#[test]
fn a_class_of_one_row_is_never_held_out() {
    let bench = Bench::new();
    bench.write("w.csv", rare(1));
    for method in ["svc", "nu-svc", "logistic"] {
        for seed in ["0", "1", "2", "3", "4", "5"] {
            let report = fit(&bench, method, &["--seed", seed]);
            assert!(report["holdout"][0]["accuracy"].is_number(), "{method} {seed}: {}", report["notes"]);
            let notes = report["notes"].to_string();
            assert!(notes.contains("class rare has only 1 row"), "{method}: {notes}");
        }
    }
    bench.ok(&["tune", "svc", "w.csv", "--target", "kind", "--points", "2", "-o", "t.mercer"]);
}

#[test]
fn rows_below_the_training_range_are_clipped_to_the_domain_of_the_kernel() {
    let bench = bench();
    let data = "a,b,y\n".to_owned()
        + &(0..60).map(|i| format!("{},{},{}\n", i, (i * 37) % 61, i % 7)).collect::<String>();
    bench.write("d.csv", data);
    for kernel in ["chi2", "spline"] {
        let flags = ["--kernel", kernel, "--scale", "minmax", "--holdout", "0.4", "--seed", "2"];
        let notes = fit(&bench, "ridge", &flags)["notes"].to_string();
        assert!(notes.contains("clipped to the smallest training values"), "{kernel}: {notes}");
        bench.write("new.csv", "a,b\n-3,5\n10,20\n0,-1\n0,0\n");
        let output = bench.run(&["predict", "m.mercer", "new.csv"]);
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && note.contains("2 rows clipped"), "{kernel}: {note}");
        let lines: Vec<String> =
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        bench.write("clipped.csv", "a,b\n0,5\n10,20\n0,0\n0,0\n");
        let inside = bench.ok(&["predict", "m.mercer", "clipped.csv"]);
        assert_eq!(lines, inside.lines().collect::<Vec<_>>(), "{kernel}");
    }
}
