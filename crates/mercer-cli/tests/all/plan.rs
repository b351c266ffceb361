//! `mercer plan`: the planned work and its reasons.

use crate::bench::{Bench, table};
use serde_json::Value;

#[test]
fn a_plan_describes_the_fit() {
    let bench = Bench::new();
    bench.write("d.csv", table(200));
    let plan = bench.ok(&["plan", "ridge", "d.csv", "--target", "y"]);
    assert!(plan.contains("200"), "{plan}");
    for method in ["ridge", "lms", "smoother", "knn"] {
        let text = bench.ok(&["plan", method, "--shape", "500,4", "--json"]);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert!(document.is_object(), "{method}: {text}");
    }
    assert_eq!(bench.files(), ["d.csv"], "a plan writes nothing");
}

#[test]
fn features_beat_rows_when_they_are_few_and_memory_decides() {
    let bench = Bench::new();
    let few = bench.ok(&["plan", "ridge", "--shape", "20000,3", "--kernel", "poly(degree=2)"]);
    assert!(few.contains("primal") || few.contains("features"), "{few}");
    let tight =
        bench.ok(&["plan", "ridge", "--shape", "50000,3", "--kernel", "rbf(sigma=1)", "--memory", "1G"]);
    assert!(tight.contains("does not fit") || tight.contains("more than"), "{tight}");
    let tune = bench.ok(&["plan", "ridge", "--shape", "1000,3", "--kernel", "rbf(sigma=?)"]);
    assert!(tune.contains("10"), "{tune}");
}

#[test]
fn the_kernel_is_that_of_fit() {
    let bench = Bench::new();
    let gp = bench.ok(&["plan", "gp", "--shape", "100,3"]);
    assert!(gp.contains("const(value=?)*rbf(sigma=[?])"), "{gp}");
    let svr = bench.ok(&["plan", "svr", "--shape", "100,3"]);
    assert!(!svr.contains("classes") && svr.contains("first chooses the kernel"), "{svr}");
    let given = bench.ok(&["plan", "svr", "--shape", "100,3", "--kernel", "rbf(sigma=1)"]);
    assert!(!given.contains("first chooses"), "{given}");
}

#[test]
fn bad_requests_are_named() {
    let bench = Bench::new();
    assert!(bench.fails(2, &["plan", "ridge", "--shape", "0,3"]).contains('0'));
    assert!(bench.fails(2, &["plan", "ridge", "none.csv"]).contains("none.csv"));
    assert!(bench.fails(2, &["plan", "ridge", "--shape", "10,2", "--features", "x9"]).contains('9'));
}

#[test]
fn only_tuning_of_ridge_can_be_planned() {
    let bench = Bench::new();
    for method in ["logistic", "svc", "smoother", "perceptron"] {
        let plan = ["plan", method, "--shape", "1000,3", "--kernel", "rbf(sigma=?)"];
        let error = bench.fails(2, &plan);
        assert!(error.contains("the tuning of"), "{method}: {error}");
    }
}

#[test]
fn plans_for_an_automatic_device_are_by_device() {
    let bench = Bench::new();
    let plan = |device: &str| -> Value {
        let words = ["plan", "ridge", "--shape", "500,4", "--json", "--device", device];
        serde_json::from_str(&bench.ok(&words)).unwrap()
    };
    let plans = plan("auto");
    let [found, own] = [&plans["cpu"], &plan("cpu")]
        .map(|plan| plan.as_object().unwrap().keys().cloned().collect::<Vec<String>>());
    assert_eq!(found, own);
}
