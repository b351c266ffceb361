//! Feature maps against their kernels: ⟨φ(x),φ(z)⟩ is the value of `kernel::eval`, and formulas evaluate as written.

use mercer::data::{AnySamples, Samples};
use mercer::design::{DesignError, FeatureMap, FeatureProblem};
use mercer::kernel::{Kernel, SyntaxProblem};
use mercer::pool;
use mercer::session::Session;
use proptest::prelude::*;

fn map(text: &str) -> FeatureMap {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn samples(columns: usize, entries: &[f64]) -> AnySamples<'_> {
    AnySamples::F64(Samples::dense(entries.len() / columns, columns, entries).unwrap())
}

fn features(map: &FeatureMap, x: &[f64]) -> Vec<f64> {
    map.transform(&samples(x.len(), x), &Session::default()).unwrap().into_entries()
}

fn inner_product(map: &FeatureMap, x: &[f64], z: &[f64]) -> f64 {
    features(map, x).iter().zip(features(map, z)).map(|(a, b)| a * b).sum()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("x{i}")).collect()
}

fn pair() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (1..=6usize).prop_flat_map(|d| {
        let point = || prop::collection::vec(-2.0..2.0f64, d);
        (point(), point())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rounding: a sum of D products with D at most 1,000, each off by a few ε; sums of absolute values bound them all.
    #[test]
    fn poly_is_its_kernel((x, z) in pair(), degree in 0..5u32, gamma in 0.0..2.0f64, c in 0.0..2.0f64) {
        let text = format!("poly(degree={degree}, gamma={gamma}, c={c})");
        let size: f64 = x.iter().zip(&z).map(|(a, b)| (a * b).abs()).sum();
        let largest = (gamma * size + c).powi(degree as i32);
        let expected = kernel(&text).eval(&x, &z).unwrap();
        prop_assert!((inner_product(&map(&text), &x, &z) - expected).abs() <= 1e-12 * largest.max(1e-300));
    }

    #[test]
    fn a_series_is_its_kernel((x, z) in pair(), a in prop::collection::vec(prop_oneof![Just(0.0), 0.01..3.0f64], 1..6)) {
        prop_assume!(a.iter().any(|a| *a > 0.0));
        let t: f64 = x.iter().zip(&z).map(|(a, b)| a * b).sum();
        let size: f64 = x.iter().zip(&z).map(|(a, b)| (a * b).abs()).sum();
        let at = |t: f64| a.iter().rev().fold(0.0, |sum, a| sum * t + a);
        let found = inner_product(&FeatureMap::Series(a.clone()), &x, &z);
        prop_assert!((found - at(t)).abs() <= 1e-12 * at(size), "{found} is not {}", at(t));
    }

    #[test]
    fn the_map_of_a_kernel_has_its_inner_products((x, z) in pair(), which in 0..9usize) {
        let text = [
            "linear", "<x,z>", "poly(degree=2, c=0)", "(<x,z>+1)^3", "1 + <x,z> + <x,z>^2 + <x,z>^3",
            "2*poly(degree=2, gamma=0.5) + linear/4", "((<x,z>+1)^2 - 1)*3", "(2*<x,z>)*(<x,z>+0.5)", "7",
        ][which];
        let map = FeatureMap::of_kernel(&kernel(text), x.len()).unwrap();
        let size: f64 = 1.0 + x.iter().zip(&z).map(|(a, b)| (a * b).abs()).sum::<f64>();
        let expected = kernel(text).eval(&x, &z).unwrap();
        prop_assert!((inner_product(&map, &x, &z) - expected).abs() <= 1e-12 * 10.0 * size.powi(3));
    }

    /// The Taylor map is within its bound of the Gaussian, and the bound is the error at x = z on the sphere.
    #[test]
    fn the_taylor_map_keeps_its_error_bound((x, z) in pair(), sigma in 0.5..3.0f64, degree in 0..9u32) {
        let map = FeatureMap::Taylor { sigma, degree };
        let rbf = kernel(&format!("rbf(sigma={sigma})"));
        let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
        let bound = map.error_bound(norm(&x).max(norm(&z))).unwrap();
        let error = (inner_product(&map, &x, &z) - rbf.eval(&x, &z).unwrap()).abs();
        prop_assert!(error <= bound + 1e-14, "{error} against {bound}");
        let attained = 1.0 - inner_product(&map, &x, &x);
        prop_assert!((attained - map.error_bound(norm(&x)).unwrap()).abs() <= 1e-13);
    }

    /// No text makes the parser panic, and a map that it reads is printed as a text that it reads again.
    #[test]
    fn any_text_is_read_or_refused(text in "[-x0-9a-z+*/^(),.=` éσ\u{0}-\u{1f}]{0,60}") {
        if let Ok(read) = text.parse::<FeatureMap>() {
            prop_assert_eq!(&map(&read.to_string()), &read, "{}", read);
        }
    }

    #[test]
    fn formulas_print_as_they_are_read(text in formula()) {
        let read = map(&text);
        prop_assert_eq!(&map(&read.to_string()), &read, "{} as {}", text, read);
        let json = serde_json::to_string(&read).unwrap();
        prop_assert_eq!(serde_json::from_str::<FeatureMap>(&json).unwrap(), read);
    }
}

/// Texts of formulas with all operators.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_owned()),
        Just("x0".to_owned()),
        Just("`a b`".to_owned()),
        Just("name".to_owned()),
        Just("pi".to_owned()),
        (0.0..1e20f64).prop_map(|v| format!("{v:e}")),
        Just("2".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (two.clone(), "[-+*/^,]").prop_map(|((a, b), op)| format!("{a}{op}{b}")),
            (two.clone(), "[-+*/^]").prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("exp({a})")).prop_filter("one argument", |t| !t.contains(',')),
            two.prop_map(|(a, b)| format!("max({a}, {b})")),
        ]
    })
    .prop_filter("commas inside of functions", |text| text.parse::<FeatureMap>().is_ok())
}

#[test]
fn the_taylor_error_goes_down_with_the_degree_and_up_with_the_radius() {
    let bound = |degree, radius| FeatureMap::Taylor { sigma: 1.0, degree }.error_bound(radius).unwrap();
    for degree in 0..30 {
        assert!(bound(degree + 1, 2.0) < bound(degree, 2.0));
        assert!(bound(degree, 2.0) < bound(degree, 2.1));
    }
    assert!(bound(30, 2.0) < 1e-16);
    assert_eq!(bound(8, 0.0), 0.0);
    let far = [1e3, -1e3];
    assert_eq!(features(&map("taylor"), &far), vec![0.0; 45]);
}

#[test]
fn counts_are_exact_and_given_when_a_map_is_refused() {
    assert_eq!(map("monomials(degree=5)").count(100).unwrap(), 96_560_646);
    assert_eq!(map("poly(degree=5)").count(100).unwrap(), 96_560_646);
    assert_eq!(map("poly(degree=2, c=0)").count(3).unwrap(), 6);
    assert_eq!(map("taylor(degree=1)").count(3).unwrap(), 4);
    assert_eq!(map("x, x^2, x0*x1").count(10).unwrap(), 21);
    let error = map("poly(degree=40)").count(1_000).unwrap_err();
    let DesignError::TooMany { count, .. } = &error else { panic!("{error}") };
    let binomial: f64 = (1..=40).map(|i| (1_000.0 + f64::from(i)) / f64::from(i)).product();
    assert!((count.parse::<f64>().unwrap() / binomial - 1.0).abs() < 1e-13, "{count}");
    assert!(error.to_string().contains(count));
    let x = vec![0.5; 100];
    let error = map("poly(degree=5)")
        .transform(&samples(100, &x), &Session::default().with_memory(1 << 30))
        .unwrap_err();
    assert!(matches!(error, DesignError::TooLarge { count: 96_560_646, .. }), "{error}");
    assert!(error.to_string().contains("96560646 features"), "{error}");
    let x = vec![0.5; 3_000];
    let error = map("poly").transform(&samples(3, &x), &Session::default().with_memory(100_000)).unwrap_err();
    assert!(matches!(error, DesignError::TooLarge { count: 20, needed: 160_000, .. }), "{error}");
}

#[test]
fn formulas_evaluate_as_written() {
    let x = [2.0, -3.0];
    let found = features(
        &map("x, x^2, log(abs(x)+1), x0*x1, x0 - x1 - 1, -x0^2, 2/x0/4, 2^-x0, max(x0, x1, 1), pi"),
        &x,
    );
    let log = f64::ln;
    let expected =
        [2.0, -3.0, 4.0, 9.0, log(3.0), log(4.0), -6.0, 4.0, -4.0, 0.25, 0.25, 2.0, std::f64::consts::PI];
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-15, "{f} is not {e}");
    }
}

#[test]
fn names_describe_the_features() {
    let columns = ["a".to_owned(), "long name".to_owned()];
    let of = |text: &str| map(text).names(&columns).unwrap();
    assert_eq!(of("monomials(degree=2)"), ["1", "a", "`long name`", "a^2", "a*`long name`", "`long name`^2"]);
    assert_eq!(of("x^2, a*x1, `long name`+1"), ["a^2", "`long name`^2", "a*`long name`", "`long name` + 1"]);
    assert_eq!(map("poly(degree=3, c=0)").names(&names(2)).unwrap(), ["x0^3", "x0^2*x1", "x0*x1^2", "x1^3"]);
}

#[test]
fn columns_are_found_by_name_and_never_taken_for_another() {
    let columns: Vec<String> = ["age", "height", "x1"].map(String::from).to_vec();
    let bound = map("age*height, x").bind(&columns).unwrap();
    assert_eq!(bound.to_string(), "x0*x1, x");
    let error = map("hieght + 1").bind(&columns).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no column `hieght` (did you mean `height`?); there are age, height, x1"
    );
    let error = map("x1").bind(&columns).unwrap_err();
    assert!(matches!(error, DesignError::Ambiguous { column: 2, .. }), "{error}");
    assert_eq!(map("`x1`").bind(&columns).unwrap().to_string(), "x2");
    let error = map("x").bind(&["x".into(), "t".into()]).unwrap_err();
    assert!(matches!(error, DesignError::Ambiguous { column: 0, .. }), "{error}");
    assert!(map("x^2").bind(&["x".into()]).is_ok());
    let error = map("x0 + x7").check_columns(3).unwrap_err();
    assert!(matches!(error, DesignError::MissingColumn { column: 7, available: 3, .. }), "{error}");
    let error = map("age").check_columns(3).unwrap_err();
    assert!(error.to_string().ends_with("there are x0, x1, x2"), "{error}");
}

#[test]
fn a_value_that_is_not_finite_names_the_feature_the_row_and_the_values() {
    let entries = [1.0, 2.0, 0.5, -2.0];
    let error = map("x0, log(x)").transform(&samples(2, &entries), &Session::default()).unwrap_err();
    assert_eq!(error.to_string(), "the feature log(x1) is NaN in row 1 (counted from 0), where x1 = -2");
    let huge = [1.0, 1e200];
    let error = map("monomials(degree=2)").transform(&samples(2, &huge), &Session::default()).unwrap_err();
    assert!(error.to_string().starts_with("the feature x1^2 is inf in row 0"), "{error}");
}

#[test]
fn errors_in_a_text_show_the_position() {
    let error = |text: &str| text.parse::<FeatureMap>().unwrap_err();
    let shown = error("x, x^2 +, x0").to_string();
    assert_eq!(
        shown,
        "features text, column 9: expected a number, a column (`x` for every one, `x0`, `x1`, … or a name) or `(`, \
         found `,`\n  x, x^2 +, x0\n          ^"
    );
    for (text, column) in [
        ("", 1),
        ("x x", 3),
        ("(x", 3),
        ("x)", 2),
        ("exp x", 5),
        ("`x", 1),
        ("``", 1),
        ("x # 2", 3),
        ("1e999", 1),
    ] {
        assert_eq!(error(text).column(), column, "{text}: {}", error(text));
    }
    let suggests =
        |text: &str, name: &str| error(text).to_string().contains(&format!("did you mean `{name}`"));
    assert!(suggests("lg(x)", "log") && suggests("poly(degre=3)", "degree"));
    use FeatureProblem::*;
    assert!(matches!(error("exp(x, x)").problem(), Syntax(SyntaxProblem::ArgumentCount { found: 2, .. })));
    assert!(matches!(error("poly(degree=2.5)").problem(), OutOfRange { parameter: "degree", .. }));
    assert!(matches!(error("poly(degree=2, c=-1)").problem(), OutOfRange { parameter: "c", .. }));
    assert!(matches!(error("taylor(sigma=0)").problem(), OutOfRange { parameter: "sigma", .. }));
    assert!(matches!(error("monomials(degree=1001)").problem(), OutOfRange { .. }));
    assert!(matches!(error("series(1, -1)").problem(), OutOfRange { .. }));
    assert!(matches!(error("series()").problem(), OutOfRange { .. }));
    assert!(matches!(error("series(0, 0)").problem(), OutOfRange { .. }));
    assert!(matches!(error("poly(degree=x)").problem(), Syntax(SyntaxProblem::Unexpected { .. })));
    assert!(matches!(error("poly(degree=1, degree=2)").problem(), GivenTwice { .. }));
    assert!(matches!(error("x, poly(degree=2)").problem(), NotAlone { map: "poly" }));
    assert!(matches!(error("poly(degree=2), x").problem(), NotAlone { map: "poly" }));
    assert!(matches!(error(&"(".repeat(5_000)).problem(), Syntax(SyntaxProblem::TooDeep { .. })));
    assert!(matches!(error(&"-".repeat(5_000)).problem(), Syntax(SyntaxProblem::TooDeep { .. })));
    assert!(matches!(
        error(&"x+".repeat(30_000)).problem(),
        TooManyParts { .. } | Syntax(SyntaxProblem::Unexpected { .. })
    ));
    assert!(matches!(error(&"x".repeat(1 << 20)).problem(), Syntax(SyntaxProblem::TooLong { .. })));
}

#[test]
fn texts_of_named_maps_round_trip_with_their_defaults() {
    for (text, printed) in [
        ("poly", "poly(degree=3, gamma=1, c=1)"),
        ("poly(c=0, degree=2)", "poly(degree=2, gamma=1, c=0)"),
        ("poly(gamma=1/4)", "poly(degree=3, gamma=0.25, c=1)"),
        ("monomials()", "monomials(degree=3)"),
        ("taylor", "taylor(sigma=1, degree=8)"),
        ("series(1,1,1,1)", "series(1, 1, 1, 1)"),
    ] {
        assert_eq!(map(text).to_string(), printed);
        assert_eq!(map(printed), map(text));
    }
}

#[test]
fn kernels_without_a_finite_map_have_none() {
    for text in [
        "rbf(sigma=1)",
        "poly(degree=1.5)",
        "poly(c=-1)",
        "<x,z> - 1",
        "exp(<x,z>)",
        "linear[0]",
        "|x|*|z|",
        "<x,z>^0.5",
        "poly(degree=?)",
        "0*linear",
        "1/<x,z>",
        "<x,z>^2000",
    ] {
        assert_eq!(FeatureMap::of_kernel(&kernel(text), 3), None, "{text}");
    }
    assert!(FeatureMap::of_kernel(&kernel("linear[0]"), 1).is_some());
    assert!(FeatureMap::of_kernel(&kernel("linear[2,0,1]"), 3).is_some());
}

#[test]
fn sparse_and_dense_and_any_number_of_threads_give_the_same_features() {
    let entries: Vec<f64> = (0..3_000).map(|k| if k % 3 == 0 { (k as f64).sin() } else { 0.0 }).collect();
    let dense = samples(5, &entries);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in entries.chunks(5) {
        for (column, value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(column as u32);
            values.push(*value);
        }
        indptr.push(values.len());
    }
    let sparse = AnySamples::F64(Samples::sparse(5, indptr, indices, values).unwrap());
    for text in ["poly(degree=4)", "taylor", "x, x^2, cos(x0)*x4"] {
        let features = |samples: &AnySamples<'_>, threads| {
            pool::with(Some(threads), || map(text).transform(samples, &Session::default()).unwrap())
        };
        assert!(features(&dense, 1) == features(&dense, 3), "{text}");
        assert!(features(&dense, 1) == features(&sparse, 2), "{text}");
    }
}

#[test]
fn the_work_stops_when_asked() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let error =
        map("poly").transform(&samples(2, &[1.0, 2.0]), &Session::default().with_watch(&stop)).unwrap_err();
    assert!(matches!(error, DesignError::Stopped(_)));
}
