//! Kernel text: results of parsing, refused texts and their messages, and printing as the inverse of parsing.

use mercer_kernel::family::gaussian::GAUSSIAN;
use mercer_kernel::random::{self, Shape};
use mercer_kernel::{Expr, Kernel, MAX_CHARACTERS, Named, Problem, SyntaxProblem, Value};
use proptest::prelude::*;

fn parse(text: &str) -> Expr {
    text.parse::<Kernel>().unwrap_or_else(|e| panic!("{e}")).expr().clone()
}

fn refused(text: &str) -> (Problem, usize) {
    let error = text.parse::<Kernel>().expect_err(text);
    (error.problem().clone(), error.column())
}

fn number(value: f64) -> Expr {
    Expr::Number(value)
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

#[test]
fn precedence() {
    use Expr::*;
    let (d, r) = (Dot, Distance);
    assert_eq!(parse("<x,z> + |x-z|*2"), Sum(vec![d.clone(), Product(vec![r.clone(), number(2.0)])]));
    assert_eq!(parse("-<x,z>^2"), Neg(boxed(Pow(boxed(d.clone()), boxed(number(2.0))))));
    assert_eq!(parse("-2^2"), Neg(boxed(Pow(boxed(number(2.0)), boxed(number(2.0))))));
    assert_eq!(parse("2^-1"), Pow(boxed(number(2.0)), boxed(number(-1.0))));
    let tower = Pow(boxed(number(2.0)), boxed(Pow(boxed(number(3.0)), boxed(d.clone()))));
    assert_eq!(parse("2^3^<z,x>"), tower);
    assert_eq!(parse("-<x,z>*|z-x|"), Product(vec![Neg(boxed(d.clone())), r.clone()]));
    let quotient = Div(boxed(Div(boxed(d.clone()), boxed(r.clone()))), boxed(number(2.0)));
    assert_eq!(parse("<x,z>/|x-z|/2"), quotient);
    assert_eq!(parse("<x,z> - |x-z|"), Sum(vec![d.clone(), Neg(boxed(r.clone()))]));
    assert_eq!(parse("1 - 2*|x-z|"), Sum(vec![number(1.0), Product(vec![number(-2.0), r])]));
    assert_eq!(parse("⟨x,z⟩ − 1"), Sum(vec![d, number(-1.0)]));
}

#[test]
fn named_kernels() {
    assert_eq!(parse("rbf"), Expr::Named(Named::with_defaults(GAUSSIAN)));
    assert_eq!(parse("gaussian()"), parse("rbf(sigma=1)"));
    assert_eq!(parse("poly"), parse("poly(degree=3, gamma=1, c=1)"));
    assert_eq!(parse("poly(c=2)").to_string(), "poly(degree=3, gamma=1, c=2)");
    let Expr::Named(rbf) = parse("rbf(gamma=1/3)") else { panic!() };
    assert_eq!(rbf.arguments[0].value, Value::Number(1.0 / 3.0));
    assert_eq!(rbf.spelling(0).name, "gamma");
    for text in [
        "rbf(sigma=auto)",
        "rbf(sigma=?)",
        "rbf(gamma=?0.1..10)",
        "rbf(sigma=?{1, 2, 4})",
        "rbf(sigma=[1, 2, 0.5])",
        "sigmoid(gamma=-1, c=-0.5)",
        "arccos(order=2)[0..3,7]",
        "linear[0,4]",
        "cosine[1..3][0]",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn brackets_are_printed_only_where_needed() {
    for text in [
        "0.5*rbf(sigma=2) + (<x,z> + 1)^2",
        "exp(-|x-z|^2/(2*4))",
        "<x,z> - (|x| - |z|)",
        "<x,z>/(|x|*|z|)",
        "(<x,z> + 1)[0..3]^2",
        "(-2)^2",
        "-(2)",
        "--2",
        "(2^3)^<x,z>",
        "min(<x,z>, 1e-7, 1e300)",
        "<x,z> - -|x|*2",
        "<x,z> - (2*|x|)",
        "(1 + 2) + 3",
        "|x-z|_1/|x|*|z|",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn errors_name_the_problem_and_its_position() {
    let unexpected = |text: &str, column: usize| {
        let (problem, found) = refused(text);
        assert!(matches!(problem, Problem::Syntax(SyntaxProblem::Unexpected { .. })), "{text}: {problem:?}");
        assert_eq!(found, column, "{text}");
    };
    unexpected("", 1);
    unexpected("<x,z> +", 8);
    unexpected("<x,z> <x,z>", 7);
    unexpected("(<x,z>", 7);
    unexpected("|x-x|", 4);
    unexpected("|1-x|", 2);
    unexpected("|x-z|_2", 6);
    unexpected("x*z", 1);
    unexpected("exp", 4);
    unexpected("rbf[0..]", 8);
    unexpected("rbf[1.5]", 5);
    unexpected("rbf[0", 6);
    unexpected("2 x", 3);
    unexpected("rbf(sigma=?1)", 13);

    assert!(matches!(refused("rbg"), (Problem::UnknownName { suggestion: Some("rbf"), .. }, 1)));
    let (problem, column) = refused("1 + rbf(sigm=2)");
    assert!(matches!(problem, Problem::UnknownParameter { suggestion: Some("sigma"), .. }));
    assert_eq!(column, 9);
    assert!(matches!(refused("rbf(2)"), (Problem::PositionalArgument { .. }, 5)));
    assert!(refused("rbf(2)").0.to_string().contains("sigma, gamma"));
    assert!(refused("linear(2)").0.to_string().contains("no parameters"));
    assert!(matches!(refused("rbf(sigma=1, gamma=2)"), (Problem::GivenTwice { .. }, 14)));
    assert!(matches!(refused("rbf(sigma=1, sigma=2)"), (Problem::GivenTwice { .. }, 14)));
    assert!(matches!(refused("rbf(sigma=0)"), (Problem::OutOfRange { .. }, 11)));
    assert!(matches!(refused("rbf(sigma=[1,-2])"), (Problem::OutOfRange { .. }, 14)));
    assert!(matches!(refused("arccos(order=3)"), (Problem::OutOfRange { .. }, 14)));
    assert!(matches!(refused("matern(nu=auto)"), (Problem::NoAuto { .. }, 11)));
    assert!(matches!(refused("matern(nu=[1,2])"), (Problem::NoList { .. }, 11)));
    assert!(matches!(refused("rbf(sigma=?2..1)"), (Problem::SearchRange { .. }, 12)));
    assert!(matches!(refused("rbf(sigma=|x|)"), (Problem::NotConstant, 11)));
    assert!(matches!(refused("rbf(sigma=1+rbf)"), (Problem::NotConstant, 13)));
    assert!(matches!(refused("2*1e999"), (Problem::Syntax(SyntaxProblem::NotFinite { .. }), 3)));
    assert!(matches!(refused("rbf + 1/0"), (Problem::Syntax(SyntaxProblem::NotFinite { .. }), 8)));
    assert!(matches!(refused("rbf(sigma=10^400)"), (Problem::Syntax(SyntaxProblem::NotFinite { .. }), _)));
    assert!(matches!(refused("exp(1, 2)"), (Problem::Syntax(SyntaxProblem::ArgumentCount { .. }), 1)));
    assert!(matches!(refused("min(1)"), (Problem::Syntax(SyntaxProblem::ArgumentCount { .. }), 1)));
    assert!(matches!(refused("exp()"), (Problem::Syntax(SyntaxProblem::ArgumentCount { .. }), 1)));
    assert!(matches!(refused("rbf[3..3]"), (Problem::EmptyColumns { .. }, 5)));
    assert!(matches!(refused("rbf[0..3,2]"), (Problem::RepeatedColumn { column: 2 }, 10)));
    assert!(matches!(
        refused("rbf # 2"),
        (Problem::Syntax(SyntaxProblem::UnknownCharacter { found: '#', .. }), 5)
    ));
}

#[test]
fn the_message_shows_the_place() {
    let message = "rbf(sigma=2) + poly(3)".parse::<Kernel>().unwrap_err().to_string();
    assert_eq!(
        message,
        "kernel text, column 21: arguments of poly are given by name: it takes degree, gamma, c; found `3`\n  \
         rbf(sigma=2) + poly(3)\n                      ^"
    );
}

/// Runs in a stack of 1 MiB, the least that a thread of a common system has.
fn in_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn hostile_texts_are_refused() {
    in_small_stack(|| {
        for length in [200, 60_000, 1_000_000] {
            for (open, close) in [
                ("(", ")"),
                ("-", ""),
                ("2^", ""),
                ("exp(", ")"),
                ("min(1,", ")"),
                ("rbf(sigma=", ")"),
                ("1/", ""),
                ("rbf(sigma=(", "))"),
                ("-(", ")"),
            ] {
                let text = [open.repeat(length), "1".into(), close.repeat(length)].concat();
                assert!(text.parse::<Kernel>().is_err(), "{open}");
            }
            let text = ["1".into(), "/<x,z>".repeat(length)].concat();
            assert!(text.parse::<Kernel>().is_err());
            let text = ["rbf".into(), "[0]".repeat(length)].concat();
            assert!(text.parse::<Kernel>().is_err());
        }
        let text = ["<x,z>".into(), "+|x|".repeat(16_000)].concat();
        assert!(text.parse::<Kernel>().is_ok());
        let text = ["1".into(), "+1".repeat(30_000)].concat();
        assert!(matches!(refused(&text).0, Problem::TooManyNodes { .. }));
        let text = " ".repeat(MAX_CHARACTERS + 1);
        assert!(matches!(refused(&text).0, Problem::Syntax(SyntaxProblem::TooLong { .. })));
    });
}

#[test]
fn the_deepest_kernels_work_in_a_small_stack() {
    in_small_stack(|| {
        for (open, close, levels) in [
            ("(", ")", 100),
            ("-", "", 98),
            ("|x|^", "", 98),
            ("exp(", ")", 98),
            ("min(1,", ")", 98),
            ("(1+", ")", 98),
            ("(1+2*", ")", 49),
            ("-(1-", ")", 32),
            ("<x,z>/(2+", ")", 49),
            ("exp(-(1+2*sin(", "))^2)[0]", 14),
        ] {
            let text = [open.repeat(levels), "rbf".into(), close.repeat(levels)].concat();
            let kernel: Kernel = text.parse().unwrap_or_else(|e| panic!("{e}"));
            kernel.eval(&[1.0, 2.0], &[2.0, 1.0]).unwrap();
            assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
            assert_eq!(kernel.clone(), kernel);
            let canonical = kernel.canonical();
            assert_eq!(canonical.canonical(), canonical);
            canonical.eval(&[1.0, 2.0], &[2.0, 1.0]).unwrap();
            assert!(kernel.is_resolved() && kernel.tunables().unwrap().is_empty());
            kernel.with_values(&[]).unwrap().check_columns(2).unwrap();
        }
    });
}

#[test]
fn unknowns_of_columns_and_priors_are_read_and_printed() {
    for (text, printed) in [
        ("?*rbf(sigma=[?])", "const(value=?)*rbf(sigma=[?])"),
        ("rbf(sigma=[?0.1..10~lognormal(0,1)])", "rbf(sigma=[?0.1..10~lognormal(0, 1)])"),
        ("?~lognormal(-1, 1/2)*linear", "const(value=?~lognormal(-1, 0.5))*linear"),
        ("rbf(sigma=[?,?~lognormal(0,1)])", "rbf(sigma=[?, ?~lognormal(0, 1)])"),
        ("rbf + noise(value=?)", "rbf(sigma=1) + noise(value=?)"),
    ] {
        let kernel: Kernel = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(kernel.to_string(), printed);
        assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
    }
    assert!(matches!(refused("rbf(sigma=?{1,2}~lognormal(0,1))").0, Problem::PriorOfList));
    assert!(matches!(refused("rbf(sigma=?~lognormal(0,0))").0, Problem::Prior { .. }));
    assert!(matches!(refused("rbf(sigma=?~normal(0,1))").0, Problem::Syntax(_)));
    assert!(matches!(refused("rbf(sigma=[?,1])").0, Problem::Syntax(_)));
    assert!(matches!(refused("poly(degree=[?])").0, Problem::NoList { .. }));
}

#[test]
fn two_unknowns_are_never_collected() {
    for (text, form) in [
        ("rbf(sigma=?) + rbf(sigma=?)", "rbf(sigma=?) + rbf(sigma=?)"),
        ("?*?*linear", "const(value=?)*const(value=?)*linear"),
        ("max(?, ?)", "max(const(value=?), const(value=?))"),
        ("rbf(sigma=auto) + rbf(sigma=auto)", "2*rbf(sigma=auto)"),
    ] {
        let canonical = text.parse::<Kernel>().unwrap().canonical();
        assert_eq!(canonical.to_string(), form);
        assert_eq!(canonical.canonical(), canonical);
    }
}

#[test]
fn noise_is_a_kernel_of_rows() {
    let kernel: Kernel = "rbf + noise(value=0.5)".parse().unwrap();
    assert_eq!(kernel.eval(&[1.0], &[1.0]), Ok(1.5));
    assert_eq!(kernel.eval(&[0.0], &[1.0]), Ok((-0.5f64).exp()));
    for text in
        ["noise(value=?)", "?*rbf(sigma=[?]) + noise(value=?)*linear^2", "rbf(sigma=[?~lognormal(0,1)])*?"]
    {
        let kernel: Kernel = text.parse().unwrap();
        let verdict =
            kernel.check(mercer_kernel::check::Dim::Any, mercer_kernel::check::Domain::All).unwrap();
        assert!(verdict.is_proven(), "{text}");
    }
}

#[test]
fn the_widest_kernels_can_be_stored() {
    let text = vec!["rbf"; 9_999].join("+");
    let kernel: Kernel = text.parse().unwrap();
    let stored = serde_json::to_string(&kernel).unwrap();
    assert!(stored.len() > MAX_CHARACTERS);
    assert_eq!(serde_json::from_str::<Kernel>(&stored).unwrap(), kernel);
    assert!(matches!(refused(&(text + "+rbf")).0, Problem::TooManyNodes { .. }));
    assert_eq!(kernel.canonical().to_string(), "9999*rbf(sigma=1)");
    assert!(serde_json::from_str::<Kernel>("\"rbf(\"").unwrap_err().to_string().contains("column 5"));
}

#[test]
fn large_kernels_have_a_canonical_form() {
    for (open, sign) in [("(", '+'), ("(", '*'), ("exp(", '+'), ("1/(", '*')] {
        let level = |i: usize| (0..50).map(|j| format!("{sign}|x|^{}", i * 50 + j)).collect::<String>();
        let nested = (0..48).fold("|x|".to_owned(), |inner, i| format!("{open}{inner}{})", level(i)));
        let kernel: Kernel = nested.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(kernel.canonical().canonical(), kernel.canonical());
    }
    let columns: Vec<String> = (0..5_000).map(|i| (2 * i).to_string()).collect();
    let text = format!("({})[{}]", vec!["rbf(sigma=?)"; 2_000].join("+"), columns.join(","));
    let kernel: Kernel = text.parse().unwrap();
    assert_eq!(kernel.tunables().unwrap().len(), 2_000);
    assert_eq!(kernel.canonical().canonical(), kernel.canonical());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn printing_is_the_inverse_of_parsing(seed: u64, depth in 0_usize..5, unresolved: bool) {
        let expr = random::expr(seed, Shape { depth, columns: 5, unresolved });
        let text = expr.to_string();
        let kernel = text.parse::<Kernel>().map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(kernel.expr(), &expr, "{}", text);
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = text.parse::<Kernel>().map_err(|e| e.to_string());
    }

    #[test]
    fn no_row_of_tokens_panics(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..30)) {
        let text = tokens.concat();
        match text.parse::<Kernel>() {
            Ok(kernel) => prop_assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel),
            Err(error) => prop_assert!(error.column() <= text.chars().count() + 1),
        }
    }
}

const TOKENS: &[&str] = &[
    "<x,z>",
    "|x-z|",
    "|x-z|_1",
    "|x|",
    "rbf",
    "poly",
    "(",
    ")",
    "sigma",
    "=",
    "auto",
    "?",
    "{",
    "}",
    "[",
    "]",
    "..",
    ",",
    "1",
    "2.5",
    "1e-3",
    "0",
    "+",
    "-",
    "*",
    "/",
    "^",
    "exp(",
    "min(",
    " ",
    "x",
    "<",
    "|",
    "_1",
    "é",
    "rbf(sigma=",
    "[0]",
    "nu",
];
