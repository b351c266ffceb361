//! Drawing models.

use crate::bench::{Bench, table};
use serde_json::Value;

/// A bench with a model of one, two and three columns and their data.
fn bench() -> Bench {
    let bench = Bench::new();
    let rows = || (0..60).map(|i| (f64::from(i) * 0.1, f64::from(i * 7 % 60) * 0.05));
    let one: String = rows().map(|(a, _)| format!("{a},{}\n", a.sin())).collect();
    bench.write("one.csv", format!("a,y\n{one}"));
    bench.write("two.csv", table(80));
    let three: String = rows().map(|(a, b)| format!("{a},{b},{},{}\n", a * b, a + b)).collect();
    bench.write("three.csv", format!("a,b,c,y\n{three}"));
    for name in ["one", "two", "three"] {
        let (data, model) = (format!("{name}.csv"), format!("{name}.mercer"));
        bench.ok(&["fit", "ridge", &data, "--target", "y", "--lambda", "1e-3", "-o", &model]);
    }
    bench
}

#[test]
fn what_is_drawn_follows_the_columns() {
    let bench = bench();
    for (name, kind) in [("one", "curve"), ("two", "contour"), ("three", "predicted")] {
        let (data, model, svg) = (format!("{name}.csv"), format!("{name}.mercer"), format!("{name}.svg"));
        let report = bench.ok(&["plot", &model, &data, "--json", "-o", &svg]);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["kind"], kind);
        let text = bench.read(&svg);
        assert_eq!(report["bytes"], text.len());
        assert!(roxmltree::Document::parse(&text).is_ok());
        bench.ok(&["plot", &model, &data, "-o", "again.svg", "--threads", "1"]);
        assert_eq!(text, bench.read("again.svg"), "the same picture for the same model");
    }
    assert!(bench.read("one.svg").contains("k(c"), "the bumps are there");
    assert!(bench.ok(&["plot", "three.mercer"]).contains("y against a"), "without data: a slice");
}

#[test]
fn every_format() {
    let bench = bench();
    let cases: [&[&str]; 5] = [
        &["plot", "one.mercer"],
        &["plot", "two.mercer", "--surface"],
        &["plot", "two.mercer", "two.csv", "--kind", "surface"],
        &["plot", "three.mercer", "three.csv", "--kind", "residuals"],
        &["plot", "three.mercer", "three.csv", "--kind", "slice", "--column", "c"],
    ];
    for case in cases {
        for output in ["out.svg", "out.png", "out.pdf", "out.txt"] {
            bench.ok(&[case, &["-o", output][..]].concat());
        }
        assert_eq!(&std::fs::read(bench.path("out.png")).unwrap()[1..4], b"PNG");
        assert!(std::fs::read(bench.path("out.pdf")).unwrap().starts_with(b"%PDF-1.7"));
        let text = bench.ok(case);
        assert!(text.contains('┤') && text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text, bench.read("out.txt"));
        assert_eq!(text, bench.ok(&[case, &["-o", "-"][..]].concat()));
    }
}

#[test]
fn axes_are_in_the_units_of_the_data() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", 1000 + 50 * i, i % 5)).collect();
    bench.write("d.csv", format!("x,y\n{rows}"));
    for scale in ["standard", "minmax", "none"] {
        bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--scale", scale, "-o", "m.mercer"]);
        bench.ok(&["plot", "m.mercer", "d.csv", "-o", "with.svg"]);
        bench.ok(&["plot", "m.mercer", "-o", "without.svg"]);
        for name in ["with.svg", "without.svg"] {
            let text = bench.read(name);
            assert!(text.contains(">1000<") && text.contains(">3000<"), "{scale}, {name}");
        }
    }
}

#[test]
fn impossible_plots_are_explained() {
    let bench = bench();
    let cases: [(&[&str], &str); 11] = [
        (&["plot", "one.mercer", "-o", "fit.gif"], ".svg, .png, .pdf or .txt"),
        (&["plot", "one.mercer", "--kind", "contour"], "needs two columns, but this model has one"),
        (&["plot", "three.mercer", "--kind", "curve"], "needs a model of one column; this one has 3"),
        (&["plot", "three.mercer", "--kind", "residuals"], "needs DATA with the column `y`"),
        (&["plot", "three.mercer", "--kind", "slice", "--column", "q"], "expected one of a, b, c"),
        (&["plot", "three.mercer", "three.csv", "--kind", "predicted", "--columns", "a"], "does not apply"),
        (&["plot", "three.mercer", "--kind", "slice", "--columns", "a,b"], "takes one column"),
        (&["plot", "three.mercer", "--kind", "contour", "--columns", "a,a"], "names a twice"),
        (&["plot", "one.mercer", "--target", "z"], "--target z: expected one of y"),
        (&["plot", "one.mercer", "--zoom", "0", "-o", "a.png"], "above 0"),
        (&["plot", "one.mercer", "--json"], "-o FILE"),
    ];
    for (arguments, expected) in cases {
        let error = bench.fails(2, arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    bench.fails(2, &["plot", "one.mercer", "--zoom", "1000", "-o", "a.png"]);
    bench.write("empty.csv", "a,y\n");
    bench.fails(2, &["plot", "one.mercer", "empty.csv"]);
    assert!(!bench.files().iter().any(|name| name == "a.png"));
}

/// Models of every method with these numbers of columns, and the files they were trained on.
fn models(bench: &Bench, columns: std::ops::RangeInclusive<usize>) -> Vec<(String, String)> {
    let table = |columns: usize, class: bool| {
        let names = ["a", "b", "c"][..columns].join(",");
        let middle = 0.2 + 0.9 * (columns - 1) as f64;
        let rows: String = (0..60)
            .map(|i| {
                let x: Vec<f64> =
                    (0..columns).map(|j| f64::from(i * (7 + 4 * j as i32) % 60) * 0.1).collect();
                let f = x[0].sin() + x.iter().skip(1).map(|v| 0.3 * v).sum::<f64>();
                let features: Vec<String> = x.iter().map(f64::to_string).collect();
                let y = if class { ["no", "yes"][usize::from(f > middle)].to_owned() } else { f.to_string() };
                format!("{},{y}\n", features.join(","))
            })
            .collect();
        format!("{names},y\n{rows}")
    };
    let mut models = Vec::new();
    for columns in columns {
        for (class, methods) in [
            (false, &["ridge", "lms", "smoother", "knn", "svr", "nu-svr", "one-class"][..]),
            (true, &["svc", "nu-svc", "logistic", "perceptron", "knn"][..]),
        ] {
            let data = format!("{}{columns}.csv", if class { "class" } else { "number" });
            bench.write(&data, table(columns, class));
            for method in methods {
                let model = format!("{method}-{data}.mercer");
                let target = if *method == "one-class" { ["--drop", "y"] } else { ["--target", "y"] };
                let mut fit = vec!["fit", method, &data, "-q", "--holdout", "0", "-o", &model];
                fit.extend(target);
                if !["lms", "smoother", "knn", "perceptron"].contains(method) {
                    fit.push("--no-tune");
                }
                bench.ok(&fit);
                models.push((model, data.clone()));
            }
        }
        let (data, model) = (format!("number{columns}.csv"), format!("features{columns}.mercer"));
        bench.ok(&["fit", "ridge", &data, "--target", "y", "--features", "x, x^2", "-q", "-o", &model]);
        models.push((model, data));
    }
    models
}

#[test]
fn every_model_is_drawn_without_a_kind() {
    let bench = Bench::new();
    for (model, data) in models(&bench, 1..=3) {
        for data in [None, Some(data.as_str())] {
            let arguments: Vec<&str> = ["plot", &model].into_iter().chain(data).collect();
            let text = bench.ok(&arguments);
            assert!(text.contains('┤'), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn every_kind_draws_or_explains() {
    let bench = Bench::new();
    let kinds = [
        "curve",
        "contour",
        "surface",
        "predicted",
        "residuals",
        "slice",
        "partial-dependence",
        "gram",
        "spectrum",
        "classes",
        "lift",
        "confusion",
        "roc",
        "reliability",
        "learning-curve",
        "convergence",
    ];
    let mut drawn = std::collections::BTreeMap::new();
    // One column for curves, two for maps.
    let one = models(&bench, 1..=1).into_iter().filter(|(model, _)| model.starts_with("ridge"));
    for (model, data) in models(&bench, 2..=2).into_iter().chain(one) {
        for kind in kinds {
            let output = bench.run(&["plot", &model, &data, "--kind", kind]);
            let text = String::from_utf8_lossy(&output.stdout);
            let error = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => {
                    assert!(text.contains('┤'), "{model} {kind}: {text}");
                    *drawn.entry(kind).or_insert(0) += 1;
                }
                Some(2) => {
                    let clear =
                        ["needs", "is for", "measures errors"].iter().any(|word| error.contains(word));
                    assert!(clear, "{model} {kind}: {error}");
                }
                code => panic!("{model} {kind}: {code:?}: {error}"),
            }
        }
    }
    assert_eq!(drawn.len(), kinds.len(), "{drawn:?}");
}

#[test]
fn two_columns_of_many_with_the_others_at_their_medians() {
    let bench = bench();
    let text = bench.ok(&["plot", "three.mercer", "three.csv", "--columns", "c,a"]);
    assert!(text.contains("y over c and a") && text.contains("the other column at its median"), "{text}");
    let by_number = bench.ok(&["plot", "three.mercer", "three.csv", "--columns", "2,0"]);
    assert_eq!(text, by_number);
}

#[test]
fn training_rows_are_labelled() {
    let bench = bench();
    let text = bench.ok(&["plot", "three.mercer", "three.csv"]);
    assert!(text.contains("60 training rows"), "{text}");
    let fewer: String = bench.read("three.csv").lines().take(40).map(|line| format!("{line}\n")).collect();
    bench.write("fewer.csv", fewer);
    let text = bench.ok(&["plot", "three.mercer", "fewer.csv"]);
    assert!(text.contains("39 rows") && !text.contains("training"), "{text}");
}
