//! Derivatives in hyper-parameters against differences of the kernel's own values.

use mercer_kernel::{Kernel, ResolveError, Scales};

/// ∂k/∂log θₚ by differences of order 6 in log θₚ. With a step of 1/512 their own error is h⁶/140 times the seventh derivative, which
/// is up to 10⁷ times the function for the waves below: 4e-12. Rounding adds about 1,000 eps.
fn differences(kernel: &Kernel, values: &[f64], p: usize, x: &[f64], z: &[f64]) -> f64 {
    let h = 1.0 / 512.0;
    let at = |steps: f64| {
        let mut moved = values.to_vec();
        moved[p] *= (steps * h).exp();
        kernel.with_values(&moved).unwrap().eval(x, z).unwrap()
    };
    let pair = |steps: f64| at(steps) - at(-steps);
    (45.0 * pair(1.0) - 9.0 * pair(2.0) + pair(3.0)) / (60.0 * h)
}

struct Columns(usize);

impl Scales for Columns {
    fn median_distance(&self, _: Option<&[usize]>) -> f64 {
        1.0
    }

    fn inverse_variance(&self, _: Option<&[usize]>) -> f64 {
        1.0
    }

    fn columns(&self) -> usize {
        self.0
    }
}

const POINTS: [[f64; 3]; 5] =
    [[0.3, 1.2, 0.5], [0.1, 0.4, 2.0], [1.5, 1.0, 0.25], [0.3, 1.2, 0.75], [0.3, 1.2, 0.5]];

#[test]
fn derivatives_match_the_values() {
    for text in [
        "rbf(sigma=?)",
        "rbf(gamma=?)",
        "rbf(sigma=[?])",
        "rbf(gamma=[?])",
        "laplacian(gamma=?)",
        "laplacian(gamma=[?])",
        "matern(nu=0.5, length=?)",
        "matern(nu=0.5, length=[?])",
        "matern(nu=1.5, length=?)",
        "matern(nu=1.5, length=[?])",
        "matern(nu=2.5, length=[?])",
        "matern(nu=0.8, length=?)",
        "matern(nu=0.8, length=[?])",
        "matern(nu=1, length=?)",
        "matern(nu=3.2, length=[?])",
        "rq(alpha=?, length=?)",
        "rq(alpha=0.7, length=[?])",
        "periodic(period=?, length=?)",
        "periodic(period=[?], length=[?])",
        "poly(degree=3, gamma=?, c=?)",
        "poly(degree=0.5, gamma=?, c=?)",
        "chi2(gamma=?)",
        "wendland(k=0, radius=?)",
        "wendland(k=1, radius=?)",
        "wendland(k=2, radius=[?])",
        "wendland(k=0, radius=[?])",
        "sigmoid(gamma=?, c=?)",
        "const(value=?)",
        "noise(value=?)",
        "?*rbf(sigma=?) + ?*linear + noise(value=?)",
        "?*periodic(period=?, length=?)[0]*rbf(sigma=[?])[1,2] - 0.1*linear",
        "(?*rbf(sigma=?) + 1)^2.5 / (2 + ?*linear)",
        "exp(-(?)*|x-z|^2) + 2^(-(?)*|x-z|)",
        "(?*linear[2] + rbf(sigma=?)[1])[0..3]",
        "sinc(?*|x-z|) + tanh(?*linear) + log(1 + ?*|x|*|z|) + sqrt(?*rbf) + abs(?*cosine)",
        "cosh(?*rbf)*sinh(?)*atan(?*linear) + asin(?*rbf/9) - acos(?*rbf/9)*cos(?)*tan(?/9)*sin(?*|x-z|_1)",
    ] {
        let open: Kernel = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let open = open.resolve_auto(&Columns(3)).unwrap();
        let count = open.tunables().unwrap().len();
        let values: Vec<f64> = (0..count).map(|p| 1.3 + 0.37 * p as f64).collect();
        let gradient = open.gradient(&values, 3).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(gradient.len(), count, "{text}");
        for (p, derivative) in gradient.iter().enumerate() {
            let read: Kernel = derivative.to_string().parse().unwrap();
            for x in &POINTS {
                for z in &POINTS {
                    let found = derivative.eval(x, z).unwrap();
                    let of_text = read.eval(x, z).unwrap();
                    assert!(
                        (found - of_text).abs() <= 1e-13 * (1.0 + found.abs()),
                        "{derivative} is not {read}"
                    );
                    let expected = differences(&open, &values, p, x, z);
                    let size =
                        1.0 + expected.abs() + open.with_values(&values).unwrap().eval(x, z).unwrap().abs();
                    assert!(
                        (found - expected).abs() <= 1e-9 * size,
                        "{text}, {p}: {found} is not {expected} at {x:?}, {z:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn choices_and_corners_have_no_derivative() {
    let error = |text: &str, values: &[f64]| text.parse::<Kernel>().unwrap().gradient(values, 2).unwrap_err();
    assert!(matches!(error("matern(nu=?)", &[1.5]), ResolveError::NoDerivative { parameter: "nu", .. }));
    assert!(matches!(
        error("poly(degree=?)", &[2.0]),
        ResolveError::NoDerivative { parameter: "degree", .. }
    ));
    assert!(matches!(error("max(?, linear)", &[2.0]), ResolveError::Corner { function: "max" }));
    assert!(matches!(error("rbf(sigma=[?])", &[2.0]), ResolveError::EachColumn { .. }));
    assert!(matches!(error("rbf(sigma=?)", &[2.0, 1.0]), ResolveError::Count { .. }));
}
