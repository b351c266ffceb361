//! The canonical form keeps the value, is a fixed point, and finds the named kernels.

use mercer_kernel::family::matern::MATERN;
use mercer_kernel::family::polynomial::POLYNOMIAL;
use mercer_kernel::random::{self, Shape};
use mercer_kernel::{Expr, FAMILIES, Kernel, Named, Value};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn canonical(text: &str) -> String {
    text.parse::<Kernel>().unwrap_or_else(|e| panic!("{e}")).canonical().to_string()
}

#[test]
fn formulas_of_named_kernels_are_recognised() {
    for (text, expected) in [
        ("exp(-|x-z|^2/(2*4))", "rbf(sigma=2)"),
        ("exp(-|x-z|^2/(2*0.3^2))", "rbf(sigma=0.3)"),
        ("1/exp(|x-z|^2/8)", "exp(0.125*|x-z|^2)^-1"),
        ("exp(-0.5*(|x-z|*|z-x|))", "rbf(sigma=1)"),
        ("exp(-|x-z|[0..3]^2/8)", "rbf(sigma=2)[0..3]"),
        ("exp(-(|x-z|^2)[2,0,1]/8)", "rbf(sigma=2)[0..3]"),
        ("rbf(gamma=0.125)", "rbf(sigma=2)"),
        ("rbf(gamma=auto)", "rbf(gamma=auto)"),
        ("<x,z>", "linear"),
        ("(<x,z>+1)^3", "poly(degree=3, gamma=1, c=1)"),
        ("(1 + <x,z>/2)^2", "poly(degree=2, gamma=0.5, c=1)"),
        ("poly(degree=1, gamma=2, c=3)", "3 + 2*linear"),
        ("poly(degree=2, gamma=3, c=0)", "9*linear^2"),
        ("<x,z>*<x,z>*<x,z>", "linear^3"),
        ("exp(-3*|x-z|_1)", "laplacian(gamma=3)"),
        ("exp(-|x-z|/4)", "matern(nu=0.5, length=4)"),
        ("2^(-|x-z|_1/log(2))", "laplacian(gamma=1)"),
        ("(1 + sqrt(3)*|x-z|/2)*exp(-sqrt(3)*|x-z|/2)", "matern(nu=1.5, length=2)"),
        ("5*exp(-sqrt(5)*|x-z|/3)*(1 + sqrt(5)*|x-z|/3 + 5*|x-z|^2/(3*9))", "5*matern(nu=2.5, length=3)"),
        ("1/(1 + |x-z|^2/8)", "rq(alpha=1, length=2)"),
        ("(1 + |x-z|^2/(2*3*0.25))^-3", "rq(alpha=3, length=0.5)"),
        ("tanh(2*<x,z> - 1)", "sigmoid(gamma=2, c=-1)"),
        ("<x,z>/(|x|*|z|)", "linear*|x|^-1*|z|^-1"),
        ("cosine", "cosine"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

/// The cells of the tables in the language reference, below a heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let page = include_str!("../../../../docs/kernel-language.md");
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let bars = row.replace("\\|", "\u{1}");
        bars.split('|').skip(1).map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    })
    .collect()
}

#[test]
fn the_language_reference_is_correct() {
    let code = |cell: &str| cell.split('`').nth(1).unwrap().to_owned();
    let forms = table("Canonical form");
    assert_eq!(forms.len(), 6);
    for row in forms {
        assert_eq!(canonical(&code(&row[0])), code(&row[1]));
    }
    let kernels: Vec<String> = table("Named kernels").iter().map(|row| code(&row[0])).collect();
    for &family in FAMILIES {
        let printed = Expr::Named(Named::with_defaults(family)).to_string();
        assert!(kernels.contains(&printed), "{printed}");
    }
}

#[test]
fn these_families_have_formulas() {
    let formulas = FAMILIES.iter().filter(|family| Named::with_defaults(**family).expand().is_some());
    let names: Vec<&str> = formulas.map(|family| family.name()).collect();
    for name in ["linear", "poly", "rbf", "laplacian", "matern", "rq", "sigmoid"] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn one_form_for_many_texts() {
    for (a, b) in [
        ("rbf + linear", "linear + rbf"),
        ("2*rbf*3", "rbf*6"),
        ("rbf + (linear + 1)", "1 + rbf + linear"),
        ("rbf + rbf", "2*rbf"),
        ("rbf - -linear", "rbf + linear"),
        ("linear/2", "0.5*linear"),
        ("sqrt(|x-z|)", "|x-z|^0.5"),
        ("sqrt(|x-z|^2)", "|x-z|"),
        ("linear[0] + rbf[0]", "(rbf + linear)[0]"),
        ("(linear[1])[2..5]", "linear[3]"),
        ("(linear + 1)[0] + rbf[1]", "rbf[1] + 1 + linear[0]"),
        ("(2*linear)[0]*rbf[1]", "rbf[1]*linear[0]*2"),
        ("max(linear, 1, max(2, rbf), linear)", "max(rbf, linear, 2)"),
        ("1 - (rbf + 2)", "-1 - rbf"),
        ("cosine*3^2 - 1/4", "9*cosine - 0.25"),
    ] {
        assert_eq!(canonical(a), canonical(b), "{a} and {b}");
    }
}

#[test]
fn rules_stop_where_the_value_would_change() {
    for text in ["(linear^2)^0.5", "linear*linear^-1", "linear^0.5*linear^0.5", "0*linear"] {
        let kernel: Kernel = text.parse().unwrap();
        let (x, z) = ([1.0, -2.0], [1.0, 1.0]);
        let (before, after) = (kernel.eval(&x, &z).unwrap(), kernel.canonical().eval(&x, &z).unwrap());
        assert!(before == after || (before.is_nan() && after.is_nan()), "{text}: {before} and {after}");
    }
    assert_eq!(canonical("linear*linear^-1"), "linear^-1*linear");
    // Constants that cannot be put together stay apart.
    let kernel: Kernel = "1e200*linear*1e200*1e-300".parse().unwrap();
    assert_eq!(kernel.canonical().eval(&[1e-100], &[1.0]).unwrap(), 1.0);
}

fn has_variable_exponent(expr: &Expr) -> bool {
    matches!(expr, Expr::Pow(_, exponent) if !matches!(**exponent, Expr::Number(_)))
        || expr.children().into_iter().any(has_variable_exponent)
}

fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => (a - b).abs() <= 1e-14 * b.abs(),
        (Expr::Named(a), Expr::Named(b)) => {
            a.family == b.family
                && a.arguments.iter().zip(&b.arguments).all(|(a, b)| match (&a.value, &b.value) {
                    (Value::Number(a), Value::Number(b)) => (a - b).abs() <= 1e-14 * b.abs(),
                    (a, b) => a == b,
                })
        }
        _ => {
            let (a, b) = (a.children(), b.children());
            a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| same(a, b))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::with_cases(10000) })]

    #[test]
    fn the_value_stays(seed: u64, depth in 0_usize..5) {
        let kernel = Kernel::from_expr(random::expr(seed, Shape { depth, columns: 4, unresolved: false }));
        let canonical = kernel.canonical();
        let (x, z) = random::points(seed ^ 1, 4, seed % 2 == 0);
        let value = kernel.eval(&x, &z).unwrap();
        let found = canonical.eval(&x, &z).unwrap();
        // Where a change of the points in their last digits changes the value, so may a change of order.
        let mut change: f64 = 0.0;
        for sign in [-1.0, 1.0] {
            for other in [-1.0, 1.0] {
                let near = |p: &[f64], s: f64| p.iter().map(|a| a * (1.0 + s * 1e-12)).collect::<Vec<_>>();
                change = change.max((kernel.eval(&near(&x, sign), &near(&z, other)).unwrap() - value).abs());
            }
        }
        if found.is_nan() && has_variable_exponent(kernel.expr()) {
            // A negative base has such a power only where rounding leaves its exponent an integer.
        } else if value.is_nan() {
            prop_assert!(found.is_nan(), "{} is NaN, but {} is {}", kernel, canonical, found);
        } else if change.is_finite() && value.abs() < 1e100 {
            // `acos(|x|/|x|)` is constant, yet it turns a rounding error ε into √ε.
            let text = kernel.to_string();
            let relative = if text.contains("acos") || text.contains("asin") { 1e-6 } else { 1e-9 };
            let tolerance = relative * (1.0 + value.abs()) + 100.0 * change;
            prop_assert!((value - found).abs() <= tolerance, "{} is {}, but {} is {}", kernel, value, canonical, found);
        }
    }

    #[test]
    fn it_is_a_fixed_point_that_can_be_written(seed: u64, depth in 0_usize..5, unresolved: bool) {
        let kernel = Kernel::from_expr(random::expr(seed, Shape { depth, columns: 4, unresolved }));
        let once = kernel.canonical();
        prop_assert_eq!(once.canonical().to_string(), once.to_string(), "{}", kernel);
        prop_assert_eq!(&once.to_string().parse::<Kernel>().map_err(|e| TestCaseError::fail(format!("{kernel}: {e}")))?, &once);
    }

    #[test]
    fn named_kernels_are_their_formulas(family in 0..FAMILIES.len(), digits in prop::array::uniform3(1_u32..1000), seed: u64) {
        let family = FAMILIES[family];
        let mut named = Named::with_defaults(family);
        for (argument, digits) in named.arguments.iter_mut().zip(digits) {
            argument.value = Value::Number(f64::from(digits) / 100.0);
        }
        if family == MATERN {
            named.arguments[0].value = Value::Number(f64::from(digits[0] % 3) + 0.5);
        } else if family == POLYNOMIAL {
            named.arguments[0].value = Value::Number(f64::from(1 + digits[0] % 5));
        }
        let Some(formula) = named.expand() else { return Ok(()) };
        let (kernel, formula) = (Kernel::from_expr(Expr::Named(named)), Kernel::from_expr(formula));
        let (x, z) = random::points(seed, 3, false);
        let (a, b) = (kernel.eval(&x, &z).unwrap(), formula.eval(&x, &z).unwrap());
        prop_assert!((a - b).abs() <= 1e-12 * (a.abs() + b.abs() + 1.0), "{} is {}, {} is {}", kernel, a, formula, b);
        let (a, b) = (kernel.canonical(), formula.canonical());
        prop_assert!(same(a.expr(), b.expr()), "{} and {}", a, b);
    }
}
