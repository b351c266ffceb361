//! Support vector machines on the command line: fit, predict, plot, convert.

use crate::bench::{Bench, table};
use serde_json::Value;

/// Three clusters in the plane, with a class, a number, a weight and a mark for outliers.
fn clusters(rows: usize) -> String {
    let mut text = String::from("a,b,kind,y,w,ok\n");
    for i in 0..rows {
        let (class, t) = (i % 3, i as f64 * 2.4);
        let r = 0.3 + 0.9 * ((i * 7) % 11) as f64 / 11.0;
        let (a, b) = ([0.0, 3.0, 0.0][class] + r * t.cos(), [0.0, 0.0, 3.0][class] + r * t.sin());
        let kind = ["ash", "birch", "cedar"][class];
        text.push_str(&format!("{a},{b},{kind},{},{},1\n", a.sin() + b, 1 + i % 2));
    }
    text
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("d.csv", clusters(90));
    bench
}

const FEATURES: &[&str] = &["--holdout", "0", "--json", "-o", "m.mercer"];

fn fit(bench: &Bench, method: &str, more: &[&str]) -> Value {
    let arguments = [&["fit", method, "d.csv"], more, FEATURES].concat();
    serde_json::from_str(&bench.ok(&arguments)).unwrap()
}

/// A table without the columns that are not features.
fn only(bench: &Bench, name: &str, target: &str) {
    only_of(bench, "d.csv", name, target);
}

/// As [`only`], of another table.
fn only_of(bench: &Bench, table: &str, name: &str, target: &str) {
    let text = bench.read(table);
    let places: Vec<usize> = text
        .lines()
        .next()
        .unwrap()
        .split(',')
        .enumerate()
        .filter(|(_, column)| ["a", "b", target].contains(column))
        .map(|(place, _)| place)
        .collect();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        places.iter().map(|&place| fields[place]).collect::<Vec<_>>().join(",") + "\n"
    };
    bench.write(name, text.lines().map(line).collect::<String>());
}

fn column(table: &str, name: &str) -> Vec<String> {
    let mut lines = table.lines();
    let place =
        lines.next().unwrap().split(',').position(|n| n == name).unwrap_or_else(|| panic!("{name}: {table}"));
    lines.map(|line| line.split(',').nth(place).unwrap().to_owned()).collect()
}

#[test]
fn classes_are_distinguished_and_probabilities_need_a_flag() {
    let bench = bench();
    only(&bench, "d.csv", "kind");
    let document = fit(&bench, "svc", &["--target", "kind", "--C", "10"]);
    assert_eq!(document["report"]["status"], "converged");
    assert!(document["violation"].as_f64().unwrap() <= 1e-3);
    assert!(
        document["duality_gap"].as_f64().unwrap() >= -1e-9
            && document["support_vectors"].as_u64().unwrap() > 3
    );
    assert!(
        document["iterations"].as_u64().unwrap() > 0 && document["kernel_evaluations"].as_u64().unwrap() > 0
    );
    let out = bench.ok(&["predict", "m.mercer", "d.csv", "--decision"]);
    assert!(
        out.starts_with("decision_ash_vs_birch,decision_ash_vs_cedar,decision_birch_vs_cedar,prediction\n"),
        "{out}"
    );
    let right = column(&out, "prediction")
        .iter()
        .zip(column(&bench.read("d.csv"), "kind"))
        .filter(|(p, y)| *p == y)
        .count();
    assert!(right >= 85, "{right} of 90");
    let error = bench.fails(2, &["predict", "m.mercer", "d.csv", "--proba"]);
    assert!(error.contains("fit svc --probability"), "{error}");
    let first = fit(&bench, "svc", &["--target", "kind", "--C", "10", "--probability"]);
    let bytes = std::fs::read(bench.path("m.mercer")).unwrap();
    fit(&bench, "svc", &["--target", "kind", "--C", "10", "--probability", "--threads", "1"]);
    assert_eq!(std::fs::read(bench.path("m.mercer")).unwrap(), bytes, "whatever the threads: {first}");
    let out = bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]);
    for line in out.lines().skip(1) {
        let shares: Vec<f64> = line.split(',').take(3).map(|p| p.parse().unwrap()).collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
    }
    assert_eq!(out.lines().next(), Some("p_ash,p_birch,p_cedar,prediction"));
}

#[test]
fn each_class_against_the_rest() {
    let bench = bench();
    only(&bench, "d.csv", "kind");
    for more in [&["--multiclass", "one-vs-rest"][..], &["--multiclass", "one-vs-rest", "--probability"]] {
        fit(&bench, "svc", &[&["--target", "kind"], more].concat());
        let out = bench.ok(&["predict", "m.mercer", "d.csv", "--decision"]);
        assert!(out.starts_with("decision_ash,decision_birch,decision_cedar,prediction\n"), "{out}");
    }
    assert!(bench.ok(&["predict", "m.mercer", "d.csv", "--proba"]).starts_with("p_ash,"));
    let error =
        bench.fails(2, &["fit", "svc", "d.csv", "--target", "kind", "--multiclass", "direct", "-o", "n"]);
    assert!(error.contains("one-vs-one"), "{error}");
}

#[test]
fn weights_of_classes_and_rows() {
    let bench = bench();
    let more = ["--target", "kind", "--categorical", "ok"];
    let plain = fit(&bench, "svc", &[&more[..], &["--sample-weight", "w"]].concat());
    assert_eq!(plain["data"]["targets"], serde_json::json!(["kind"]));
    let predicted = bench.ok(&["predict", "m.mercer", "d.csv"]);
    assert_eq!(predicted.lines().count(), 91);
    only(&bench, "d.csv", "kind");
    let weighted = fit(&bench, "svc", &["--target", "kind", "--class-weight", "ash=50,cedar=0.1"]);
    assert_eq!(weighted["class_weight"], serde_json::json!([50.0, 1.0, 0.1]));
    fit(&bench, "svc", &["--target", "kind", "--class-weight", "balanced"]);
    let error =
        bench.fails(2, &["fit", "svc", "d.csv", "--target", "kind", "--class-weight", "oak=2", "-o", "n"]);
    assert!(error.contains("oak") && error.contains("ash, birch, cedar"), "{error}");
    let error = bench.fails(2, &["fit", "lms", "d.csv", "--target", "a", "--sample-weight", "b", "-o", "n"]);
    assert!(error.contains("--sample-weight does not apply to lms"), "{error}");
}

#[test]
fn regressions_with_a_tube() {
    let bench = bench();
    only(&bench, "d.csv", "y");
    let fixed = fit(&bench, "svr", &["--target", "y", "--C", "100", "--epsilon", "0.05", "--probability"]);
    assert!(fixed["error_scale"].as_f64().unwrap() > 0.0);
    let out = bench.ok(&["predict", "m.mercer", "d.csv"]);
    for (p, y) in column(&out, "prediction").iter().zip(column(&bench.read("d.csv"), "y")) {
        let (p, y): (f64, f64) = (p.parse().unwrap(), y.parse().unwrap());
        assert!((p - y).abs() < 0.2, "{p} is not {y}");
    }
    let found = fit(&bench, "nu-svr", &["--target", "y", "--C", "10", "--nu", "0.3"]);
    assert!(found["epsilon"].as_f64().unwrap() > 0.0);
    let error = bench.fails(2, &["fit", "nu-svr", "d.csv", "--target", "y", "--epsilon", "1", "-o", "n"]);
    assert!(error.contains("--epsilon does not apply to nu-svr; it is for svr"), "{error}");
    let error = bench.fails(2, &["fit", "svr", "d.csv", "--target", "a,y", "-o", "n"]);
    assert!(error.contains("one target"), "{error}");
}

#[test]
fn an_infeasible_nu_names_the_largest() {
    let bench = Bench::new();
    let mut text = String::from("a,y\n");
    (0..20).for_each(|i| text.push_str(&format!("{i},{}\n", i % 10 / 9)));
    bench.write("d.csv", text);
    let command = ["fit", "nu-svc", "d.csv", "--target", "y", "--nu", "0.9", "--holdout", "0", "-o", "n"];
    let error = bench.fails(2, &command);
    assert!(error.contains("infeasible") && error.contains("0.2"), "{error}");
}

#[test]
fn one_class_needs_no_target() {
    let bench = bench();
    only(&bench, "u.csv", "-");
    let arguments = ["fit", "one-class", "u.csv", "--nu", "0.1", "--probability", "-o", "m.mercer"];
    let told = bench.ok(&arguments);
    assert!(told.contains("rows are inliers"), "{told}");
    let mut far = bench.read("u.csv");
    far.push_str("40,40\n");
    bench.write("new.csv", far);
    let predicted = column(&bench.ok(&["predict", "m.mercer", "new.csv"]), "prediction");
    assert_eq!(predicted.last().map(String::as_str), Some("-1"));
    let inside = predicted.iter().filter(|p| *p == "1").count();
    assert!((75..=90).contains(&inside), "{inside}");
    assert!(bench.ok(&["predict", "m.mercer", "new.csv", "--proba"]).starts_with("p_-1,p_1,prediction\n"));
    assert!(bench.ok(&["predict", "m.mercer", "new.csv", "--decision"]).starts_with("decision,prediction\n"));
}

#[test]
fn a_tiny_nu_rejects_hardly_any_row() {
    let bench = bench();
    only(&bench, "u.csv", "-");
    bench.ok(&["fit", "one-class", "u.csv", "--nu", "1e-9", "--holdout", "0", "-o", "m.mercer"]);
    let predicted = column(&bench.ok(&["predict", "m.mercer", "u.csv", "--decision"]), "decision");
    let decisions: Vec<f64> = predicted.iter().map(|text| text.parse().unwrap()).collect();
    let largest = decisions.iter().fold(0.0f64, |most, f| most.max(*f));
    // On the boundary up to the tolerance, or inside.
    assert!(largest > 0.0 && decisions.iter().all(|f| *f > -0.05 * largest), "{decisions:?}");
}

#[test]
fn coefficients_of_two_classes_reproduce_the_decision() {
    let bench = bench();
    let two: String = bench
        .read("d.csv")
        .lines()
        .filter(|line| !line.contains("cedar"))
        .map(|line| format!("{line}\n"))
        .collect();
    bench.write("two.csv", two);
    only_of(&bench, "two.csv", "d.csv", "kind");
    let fit = [
        "fit",
        "svc",
        "d.csv",
        "--target",
        "kind",
        "--kernel",
        "rbf(gamma=0.5)",
        "--C",
        "1",
        "--scale",
        "none",
    ];
    bench.ok(&[&fit[..], &["--holdout", "0", "-o", "m.mercer"]].concat());
    let table = bench.ok(&["info", "m.mercer", "--coefficients"]);
    let numbers = |name: &str| -> Vec<f64> {
        column(&table, name).iter().map(|text| text.parse().unwrap_or(0.0)).collect()
    };
    let (coefficients, a, b) = (numbers("coefficient"), numbers("a"), numbers("b"));
    let decisions = column(&bench.ok(&["predict", "m.mercer", "d.csv", "--decision"]), "decision");
    let rows = bench.read("d.csv");
    for (row, decision) in rows.lines().skip(1).zip(decisions) {
        let x: Vec<f64> = row.split(',').take(2).map(|field| field.parse().unwrap()).collect();
        let k = |i: usize| (-0.5 * ((x[0] - a[i]).powi(2) + (x[1] - b[i]).powi(2))).exp();
        let sum: f64 = coefficients[0] + (1..coefficients.len()).map(|i| coefficients[i] * k(i)).sum::<f64>();
        assert!((sum - decision.parse::<f64>().unwrap()).abs() < 1e-9, "{sum} {decision}");
    }
}

#[test]
fn a_converted_model_has_no_empty_lines_and_says_what_it_reads() {
    let bench = bench();
    only(&bench, "u.csv", "kind");
    let fit = [
        "fit",
        "svc",
        "u.csv",
        "--target",
        "kind",
        "--kernel",
        "rbf(gamma=1)",
        "--C",
        "1",
        "--scale",
        "none",
    ];
    bench.ok(&[&fit[..], &["--holdout", "0", "-o", "m.mercer"]].concat());
    let info = bench.ok(&["info", "m.mercer"]);
    assert_eq!(info.matches("support vectors").count(), 1, "facts are told once: {info}");
    bench.ok(&["convert", "m.mercer", "m.libsvm", "--number-classes"]);
    bench.ok(&["convert", "m.libsvm", "back.mercer"]);
    let info = bench.ok(&["info", "back.mercer"]);
    assert!(!info.contains("settings") && !info.contains("report"), "{info}");
    let error = bench.fails(2, &["predict", "back.mercer", "u.csv"]);
    assert!(error.contains("LABEL 1:VALUE 2:VALUE"), "{error}");
}

#[test]
fn pictures_of_machines() {
    let bench = bench();
    only(&bench, "d.csv", "kind");
    only(&bench, "u.csv", "-");
    fit(&bench, "svc", &["--target", "kind"]);
    bench.ok(&["plot", "m.mercer", "d.csv", "-o", "classes.svg"]);
    let picture = bench.read("classes.svg");
    assert!(
        picture.contains("support vector (") && picture.contains("birch"),
        "rings around support vectors"
    );
    bench.ok(&["plot", "m.mercer", "-o", "alone.svg"]);
    assert!(bench.read("alone.svg").contains("support vector ("));
    bench.ok(&["fit", "one-class", "u.csv", "--nu", "0.1", "-o", "o.mercer"]);
    bench.ok(&["plot", "o.mercer", "u.csv", "-o", "one.svg"]);
    assert!(bench.read("one.svg").contains("f = 0"), "the boundary");
    bench.write("line.csv", "x,y\n0,0\n1,1\n2,4\n3,9\n4,16\n5,25\n");
    bench.ok(&["fit", "svr", "line.csv", "--target", "y", "--C", "100", "-o", "r.mercer"]);
    bench.ok(&["plot", "r.mercer", "line.csv", "-o", "curve.svg"]);
    bench.write("plane.csv", table(40));
    bench.ok(&["fit", "svr", "plane.csv", "--target", "y", "--C", "100", "-o", "p.mercer"]);
    bench.ok(&["plot", "p.mercer", "plane.csv", "-o", "map.svg"]);
    assert!(bench.read("map.svg").contains("support vector ("), "the map of a regression");
}

#[test]
fn pictures_of_one_column_draw_the_rows() {
    let bench = Bench::new();
    let rows: String = (0..30).map(|i| format!("{i},{}\n", if i < 14 { "low" } else { "high" })).collect();
    bench.write("d.csv", format!("x,kind\n{rows}"));
    bench.ok(&["fit", "svc", "d.csv", "--target", "kind", "--C", "1", "-o", "s.mercer"]);
    bench.ok(&["plot", "s.mercer", "d.csv", "-o", "s.svg"]);
    assert!(bench.read("s.svg").contains("at −1 or 1"), "rows beside the decision function");
    bench.ok(&["fit", "one-class", "d.csv", "--drop", "kind", "--nu", "0.2", "-o", "o.mercer"]);
    bench.ok(&["plot", "o.mercer", "d.csv", "-o", "o.svg"]);
    assert!(bench.read("o.svg").contains("at 0"), "rows on the boundary");
    bench.ok(&["plot", "o.mercer", "d.csv", "--kind", "convergence", "-o", "c.svg"]);
    assert!(bench.read("c.svg").contains("violation of optimality"));
    // The mistakes of a perceptron on separated classes fall to 0.
    bench.ok(&["fit", "perceptron", "d.csv", "--target", "kind", "-o", "p.mercer"]);
    bench.ok(&["plot", "p.mercer", "d.csv", "--kind", "convergence", "-o", "p.svg"]);
    assert!(bench.read("p.svg").matches("<circle").count() > 1, "more than one point");
}

#[test]
fn models_go_to_libsvm_and_back() {
    let bench = bench();
    only(&bench, "d.csv", "kind");
    fit(&bench, "svc", &["--target", "kind", "--scale", "none", "--probability"]);
    let error = bench.fails(2, &["convert", "m.mercer", "m.model"]);
    assert!(error.contains("`ash`") && error.contains("--number-classes"), "{error}");
    let told = bench.ok(&["convert", "m.mercer", "m.model", "--number-classes"]);
    assert!(told.contains("2 is cedar"), "{told}");
    let text = bench.read("m.model");
    assert!(
        text.starts_with("svm_type c_svc\nkernel_type rbf\n") && text.contains("\nlabel 0 1 2\nprobA "),
        "{text}"
    );
    bench.ok(&["convert", "m.model", "back.mercer", "--columns", "2"]);
    bench.ok(&["convert", "back.mercer", "again.model"]);
    assert_eq!(bench.read("again.model"), text);
    assert!(bench.ok(&["info", "m.model"]).contains("svc"));
    let rows = |text: String| -> String {
        let line = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("0 1:{} 2:{}\n", fields[0], fields[1])
        };
        text.lines().skip(1).map(line).collect()
    };
    bench.write("d.txt", rows(bench.read("d.csv")));
    let own = bench.ok(&["predict", "m.mercer", "d.csv", "--decision"]);
    let theirs = bench.ok(&["predict", "back.mercer", "d.txt", "--decision"]);
    for (a, b) in own.lines().skip(1).zip(theirs.lines().skip(1)) {
        let numbers =
            |line: &str| line.split(',').take(3).map(|f| f.parse::<f64>().unwrap()).collect::<Vec<_>>();
        numbers(a).iter().zip(numbers(b)).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    }
    fit(&bench, "svc", &["--target", "kind"]);
    let error = bench.fails(2, &["convert", "m.mercer", "n.model", "--number-classes"]);
    assert!(error.contains("--scale none"), "{error}");
    let half = text[..text.len() / 2].rfind('\n').unwrap() + 1;
    bench.write("cut.model", &text[..half]);
    let error = bench.fails(2, &["convert", "cut.model", "n.mercer"]);
    assert!(error.contains("cut.model:") && error.contains("cut short"), "{error}");
}

/// A kernel matrix that is given is the same machine as the kernel itself.
#[test]
fn a_precomputed_kernel() {
    let bench = bench();
    only(&bench, "d.csv", "kind");
    let points: Vec<Vec<f64>> = bench
        .read("d.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(2).map(|field| field.parse().unwrap()).collect())
        .collect();
    let kinds = column(&bench.read("d.csv"), "kind");
    let kernel = |a: &[f64], b: &[f64]| {
        let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        (-0.5 * squared).exp()
    };
    let mut text = String::new();
    for (point, kind) in points.iter().zip(&kinds) {
        points.iter().for_each(|other| text.push_str(&format!("{},", kernel(point, other))));
        text.push_str(&format!("{kind}\n"));
    }
    bench.write("k.csv", &text);
    let given = [
        "fit",
        "svc",
        "k.csv",
        "--target",
        "-1",
        "--kernel",
        "precomputed",
        "--tol",
        "1e-8",
        "-o",
        "k.mercer",
    ];
    bench.ok(&given);
    fit(
        &bench,
        "svc",
        &["--target", "kind", "--kernel", "rbf(gamma=0.5)", "--scale", "none", "--tol", "1e-8"],
    );
    let own = bench.ok(&["predict", "m.mercer", "d.csv", "--decision"]);
    let theirs = bench.ok(&["predict", "k.mercer", "k.csv", "--decision"]);
    for (a, b) in own.lines().skip(1).zip(theirs.lines().skip(1)) {
        let numbers =
            |line: &str| line.split(',').take(3).map(|f| f.parse::<f64>().unwrap()).collect::<Vec<_>>();
        numbers(a).iter().zip(numbers(b)).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
    }
    bench.ok(&["convert", "k.mercer", "k.model", "--number-classes"]);
    assert!(bench.read("k.model").contains("kernel_type precomputed"));
    let error =
        bench.fails(2, &["fit", "svc", "d.csv", "--target", "kind", "--kernel", "precomputed", "-o", "n"]);
    assert!(error.contains("90 rows and 2 columns"), "{error}");
    let error =
        bench.fails(2, &["fit", "ridge", "d.csv", "--target", "a", "--kernel", "precomputed", "-o", "n"]);
    assert!(error.contains("support vector machines"), "{error}");
}

/// Whether there is an error on held-out rows to tell or not, the model is that of all rows.
#[test]
fn rows_held_out_do_not_make_a_fit_fail() {
    let bench = bench();
    // A ν that all rows allow, and the rows that are left of them mostly do not.
    let told: Value =
        serde_json::from_str(&bench.ok(&[
            "fit", "nu-svc", "d.csv", "--target", "kind", "--nu", "0.999", "--json", "-o", "m.mercer",
        ]))
        .unwrap();
    assert!(told["holdout"].is_null(), "{told}");
    let mut rare = String::from("a,kind\n0.5,rare\n");
    (0..40).for_each(|i| rare.push_str(&format!("{},usual\n", i % 7)));
    bench.write("rare.csv", rare);
    for seed in ["0", "1", "2", "3", "4", "5", "6", "7"] {
        bench.ok(&["fit", "svc", "rare.csv", "--target", "kind", "--seed", seed, "-o", "m.mercer"]);
    }
}

#[test]
fn settings_without_effect_are_refused() {
    let bench = bench();
    let fit = ["fit", "svc", "d.csv", "--target", "kind", "--approx", "nystrom:20", "-o", "m.mercer"];
    let refused = |arguments: &[&str], reason: &str| {
        let error = bench.fails(2, arguments);
        assert!(error.contains(reason), "{arguments:?}: {error}");
    };
    refused(&[&fit[..], &["--multiclass", "one-vs-one"]].concat(), "one-vs-one");
    refused(&[&fit[..], &["--kernel", "precomputed"]].concat(), "precomputed kernel values");
    refused(&["tune", "svc", "d.csv", "--target", "kind", "--lambda", "0.3", "-o", "m.mercer"], "--lambda");
    // The column that is not a number is likely the target, so it is not asked to be encoded.
    for command in ["fit", "tune"] {
        refused(
            &[command, "svc", "d.csv", "-o", "m.mercer"],
            "--target is missing; d.csv has the columns `a`, `b`, `kind`",
        );
    }
    refused(&["plan", "svc", "d.csv"], "--target is missing");
}
