//! Derivatives in hyper-parameters against values of 50 digits.

use mercer_kernel::{Kernel, ResolveError, Scales};

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

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|number| number.parse().unwrap()).collect()
}

/// The table has the rounding errors of the definition to first order, with eps for every operation. A double rounds to eps/2 and a
/// library function to eps; twice that leaves room for formulas with more operations. What underflows has an absolute error.
fn tolerance(units: f64) -> f64 {
    2.0 * f64::EPSILON * units + f64::MIN_POSITIVE
}

#[test]
fn derivatives_match_fifty_digits() {
    let table = include_str!("../data/gradients.txt").lines().filter(|line| !line.starts_with('#'));
    let (mut lines, mut failures) = (0, Vec::new());
    for line in table {
        lines += 1;
        let [text, values, x, z, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (values, x, z, expected) = (numbers(values), numbers(x), numbers(z), numbers(expected));
        let open: Kernel = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let open = open.resolve_auto(&Columns(x.len())).unwrap();
        let mut found = vec![open.with_values(&values).unwrap().eval(&x, &z).unwrap()];
        for derivative in open.gradient(&values, x.len()).unwrap_or_else(|e| panic!("{text}: {e}")) {
            found.push(derivative.eval(&x, &z).unwrap());
        }
        assert_eq!(2 * found.len(), expected.len(), "{text}");
        for (place, (found, expected)) in found.iter().zip(expected.chunks(2)).enumerate() {
            let [expected, units] = expected[..] else { panic!("{line}") };
            let error = (found - expected).abs();
            if error.is_nan() || error > tolerance(units) {
                failures.push(format!(
                    "{text} with {values:?} at {x:?}, {z:?}, number {place}: {found:e}, not {expected:e} ± {:e}",
                    tolerance(units)
                ));
            }
        }
    }
    assert_eq!(lines, 1743);
    assert!(failures.is_empty(), "{} of the numbers differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn derivatives_are_read_as_printed() {
    let table = include_str!("../data/gradients.txt").lines().filter(|line| !line.starts_with('#'));
    for line in table.step_by(7) {
        let [text, values, x, z, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (values, x, z, expected) = (numbers(values), numbers(x), numbers(z), numbers(expected));
        let open: Kernel = text.parse().unwrap();
        let open = open.resolve_auto(&Columns(x.len())).unwrap();
        for (p, derivative) in open.gradient(&values, x.len()).unwrap().iter().enumerate() {
            let read: Kernel = derivative.to_string().parse().unwrap();
            let (found, of_text) = (derivative.eval(&x, &z).unwrap(), read.eval(&x, &z).unwrap());
            let allowed = tolerance(expected[2 * p + 3]);
            assert!((found - of_text).abs() <= allowed, "{derivative} is not {read}: {found:e}, {of_text:e}");
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
