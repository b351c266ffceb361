//! Values of kernels: scikit-learn's where it has the kernel, closed forms elsewhere.

use mercer_kernel::{EvalError, Kernel};
use serde_json::Value;

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn named_kernels_agree_with_scikit_learn() {
    let stored: Value = serde_json::from_str(include_str!("../data/sklearn_kernels.json")).unwrap();
    let cases = stored["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 19);
    for case in cases {
        let text = case["kernel"].as_str().unwrap();
        let (x, z) = if case["points"] == "A, B" { ("A", "B") } else { ("X", "Z") };
        let expected = rows(&case["values"]);
        for (i, x) in rows(&stored[x]).iter().enumerate() {
            for (j, z) in rows(&stored[z]).iter().enumerate() {
                let found = kernel(text).eval(x, z).unwrap();
                let error = (found - expected[i][j]).abs() / expected[i][j].abs().max(1.0);
                // scikit-learn takes distances from inner products, and Bessel functions from scipy.
                assert!(error < 1e-13, "{text} at ({i}, {j}): {found}, expected {}", expected[i][j]);
            }
        }
    }
}

#[test]
fn kernels_that_scikit_learn_lacks() {
    let close = |text: &str, x: &[f64], z: &[f64], expected: f64| {
        let found = kernel(text).eval(x, z).unwrap();
        assert!(
            (found - expected).abs() <= 1e-14 * expected.abs().max(1.0),
            "{text}: {found}, not {expected}"
        );
    };
    let (x, z) = ([3.0, 0.0], [0.0, 2.0]);
    // At a right angle: 1/2, |x||z|/π, |x|²|z|²/2.
    close("arccos(order=0)", &x, &z, 0.5);
    close("arccos(order=1)", &x, &z, 6.0 / std::f64::consts::PI);
    close("arccos(order=2)", &x, &z, 18.0);
    // At angle 0: 1, |x|², 3|x|⁴.
    close("arccos(order=0)", &x, &x, 1.0);
    close("arccos(order=1)", &x, &x, 9.0);
    close("arccos(order=2)", &x, &x, 243.0);
    for text in ["cosine", "arccos(order=0)", "arccos(order=1)", "arccos(order=2)"] {
        close(text, &x, &[0.0, 0.0], 0.0);
        close(text, &[0.0, 0.0], &[0.0, 0.0], 0.0);
    }
    // Wendland 2005, Table 9.1, for points of three coordinates: (1−r)², (1−r)⁴(4r+1), (1−r)⁶(35r²+18r+3)/3.
    let (near, origin) = ([0.0, 0.5, 0.0], [0.0; 3]);
    close("wendland(k=0)", &near, &origin, 0.25);
    close("wendland", &near, &origin, 0.1875);
    close("wendland(k=2)", &near, &origin, 20.75 / 192.0);
    close("wendland(radius=0.5)", &near, &origin, 0.0);
    close("wendland(radius=[1, 2, 1])", &near, &origin, 0.75_f64.powi(4) * 2.0);
    close("wendland[1]", &near, &origin, 0.125 * 2.5);
    // 1 + 2 + 5/6 and 1 + 4 + 16/6; of (−1, 3) it is 1 − 3 + 10/6.
    close("spline", &[1.0, 2.0], &[2.0, 2.0], 23.0 / 6.0 * 46.0 / 6.0);
    close("spline", &[-1.0], &[3.0], -1.0 / 3.0);
    close("const(value=2.5)", &x, &z, 2.5);
    // A product over coordinates.
    let one = kernel("periodic(period=1.7, length=0.9)");
    let product = one.eval(&[0.3], &[1.1]).unwrap() * one.eval(&[-0.4], &[0.9]).unwrap();
    close("periodic(period=1.7, length=0.9)", &[0.3, -0.4], &[1.1, 0.9], product);
    close("periodic(period=[2, 1], length=[1, 2])", &[0.0, 0.0], &[1.0, 0.5], (-2.0_f64 * 1.25).exp());
    close("laplacian(gamma=[1, 2])", &[0.0, 0.0], &[1.0, 0.5], (-2.0_f64).exp());
}

#[test]
fn huge_and_tiny_points() {
    let value = |text: &str, x: &[f64], z: &[f64]| kernel(text).eval(x, z).unwrap();
    assert!((value("cosine", &[1e100, 0.0], &[1e100, 1e100]) - 0.5_f64.sqrt()).abs() < 1e-15);
    assert!((value("cosine", &[1e-100, 0.0], &[1e-100, 1e-100]) - 0.5_f64.sqrt()).abs() < 1e-15);
    assert_eq!(value("rbf", &[1e200], &[-1e200]), 0.0);
    assert_eq!(value("matern(nu=0.7)", &[1e200], &[-1e200]), 0.0);
    assert_eq!(value("rq", &[1e200], &[-1e200]), 0.0);
    assert_eq!(value("chi2", &[0.0, 0.0], &[0.0, 0.0]), 1.0);
    assert_eq!(value("(<x,z> - 1)^3", &[1.0], &[-2.0]), -27.0);
    assert!(value("log(-1 - |x|)", &[1.0], &[1.0]).is_nan());
}

#[test]
fn subsets_count_within_the_outer_choice() {
    let (x, z) = ([1.0, 10.0, 100.0, 1000.0], [1.0; 4]);
    assert_eq!(kernel("linear[1,3]").eval(&x, &z), Ok(1010.0));
    assert_eq!(kernel("linear[1][2..4]").eval(&x, &z), Ok(1000.0));
    assert_eq!(kernel("(linear[1] + linear)[2..4]").eval(&x, &z), Ok(2100.0));
    assert_eq!(kernel("linear[4]").eval(&x, &z), Err(EvalError::MissingColumn { column: 4, available: 4 }));
    assert_eq!(
        kernel("linear[2][0..2]").eval(&x, &z),
        Err(EvalError::MissingColumn { column: 2, available: 2 })
    );
}
