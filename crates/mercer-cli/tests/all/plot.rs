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
    assert!(bench.ok(&["plot", "three.mercer"]).contains("along a"), "without data: a slice");
}

#[test]
fn every_kind_in_every_format() {
    let bench = bench();
    let cases: [&[&str]; 7] = [
        &["plot", "one.mercer"],
        &["plot", "two.mercer", "--surface"],
        &["plot", "two.mercer", "two.csv", "--kind", "surface"],
        &["plot", "three.mercer", "three.csv", "--kind", "residuals"],
        &["plot", "three.mercer", "three.csv", "--kind", "slice", "--column", "c"],
        &["plot", "three.mercer", "--kind", "slice", "--column", "1"],
        &["plot", "one.mercer", "one.csv", "--kind", "gram"],
    ];
    for case in cases {
        for output in ["out.svg", "out.png", "out.txt"] {
            bench.ok(&[case, &["-o", output][..]].concat());
        }
        assert_eq!(&std::fs::read(bench.path("out.png")).unwrap()[1..4], b"PNG");
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
fn what_cannot_be_drawn_is_explained() {
    let bench = bench();
    let cases: [(&[&str], &str); 8] = [
        (&["plot", "one.mercer", "-o", "fit.pdf"], ".svg, .png or .txt"),
        (&["plot", "one.mercer", "--kind", "contour"], "2 feature column(s); this one has 1"),
        (&["plot", "three.mercer", "--kind", "residuals"], "need DATA with the column `y`"),
        (&["plot", "three.mercer", "--kind", "slice", "--column", "q"], "one of a, b, c"),
        (&["plot", "three.mercer", "three.csv", "--column", "a"], "--kind slice"),
        (&["plot", "one.mercer", "--target", "z"], "--target z: it is one of y"),
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
