//! Formulas written to mislead `check`: near cancellation, thresholds, branches, subsets of columns, extreme constants,
//! open hyper-parameters. No verdict may be false: proofs are held against Gram matrices, counter-examples against values,
//! both in an arithmetic of many bits that shares no code with the library.
//!
//! `MERCER_ATTACK=100000 cargo test -p mercer-kernel --test all check_attack` tries that many formulas;
//! `MERCER_ATTACK_SEED` starts elsewhere. `MERCER_ATTACK_LOG=FILE` appends what was tried so far to a file as it goes, so
//! that a run that is cut off counts; false verdicts are then written there, too, and the run continues after them.

mod formula;
mod known;
mod real;

use formula::Node;
use mercer_kernel::Kernel;
use mercer_kernel::check::{Dim, Domain, Refutation, Verdict};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use real::{Fixed, Gap};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A formula, a question about it, and the answer where it is known.
#[derive(Debug)]
pub struct Case {
    node: Node,
    dim: usize,
    domain: Domain,
    /// Whether it is a kernel there.
    truth: Option<bool>,
}

fn pick<'a, T: ?Sized>(random: &mut impl Rng, list: &[&'a T]) -> &'a T {
    list[random.random_range(0..list.len())]
}

fn num(text: &str) -> Node {
    Node::Number(text.into())
}

fn dot() -> Node {
    Node::Atom("<x,z>", vec![])
}

fn distance() -> Node {
    Node::Atom("|x-z|", vec![])
}

fn pow(a: Node, e: &str) -> Node {
    Node::Power(Box::new(a), e.into())
}

fn exp(a: Node) -> Node {
    Node::Call("exp", vec![a])
}

fn times(factor: &str, a: Node) -> Node {
    Node::Product(vec![num(factor), a])
}

fn minus(a: Node, b: Node) -> Node {
    Node::Sum(vec![a, Node::Negative(Box::new(b))])
}

/// A number with a little more or less than `exact` where `change` is not 0, as a decimal text.
fn near(exact: (i64, i64), change: i32, digits: u32) -> String {
    let scale = BigInt::from(10).pow(digits + 3);
    let (n, d) = exact;
    let below = BigInt::from(n) * &scale / d;
    let value = below + BigInt::from(change) * BigInt::from(1000);
    format!("{value}e-{}", digits + 3)
}

const DOMAINS: [Domain; 7] = [
    Domain::All,
    Domain::All,
    Domain::Orthant,
    Domain::Sphere,
    Domain::Ball(0.9),
    Domain::Box(0.0, 1.0),
    Domain::Box(-0.5, 1.5),
];

/// A number of the formulas, harmless or not.
fn constant(random: &mut impl Rng) -> String {
    let plain = ["1", "2", "0.5", "3", "0.25", "1/3", "1.5", "0.1"];
    let extreme = [
        "1e-300",
        "1e300",
        "1e-400",
        "746",
        "1e-12",
        "0.33333333333333334",
        "1.000000000000000000001",
        "0.999999999999999999",
        "3.141592653589793",
        "1e-17",
        "2.0000000000000004",
    ];
    let list = if random.random_range(0..4) == 0 { &extreme[..] } else { &plain[..] };
    pick(random, list).into()
}

fn exponent(random: &mut impl Rng) -> String {
    let list = ["2", "3", "0.5", "1.5", "1/3", "0.35", "4", "7", "2.00000000000000000001", "200", "1"];
    pick(random, &list).into()
}

fn atom(random: &mut impl Rng, dim: usize) -> Node {
    let name = pick(random, &["<x,z>", "|x-z|", "|x-z|_1", "|x|", "|z|", "<x,z>", "|x-z|"]);
    let mut columns = Vec::new();
    if dim > 1 && random.random_range(0..4) == 0 {
        columns = (0..dim).filter(|_| random.random_range(0..2) == 0).collect();
    }
    Node::Atom(name, columns)
}

/// A random tree with the shapes that go wrong.
fn tree(random: &mut impl Rng, dim: usize, depth: usize) -> Node {
    if depth == 0 {
        return match random.random_range(0..10) {
            0 => num(&constant(random)),
            1 => Node::Gaussian(constant(random).replace("1e-400", "1e-300")),
            2 => Node::Open(random.random_range(0..2)),
            3 => Node::Pi,
            _ => atom(random, dim),
        };
    }
    let part = |random: &mut _| tree(random, dim, depth - 1);
    match random.random_range(0..19) {
        17 => Node::Product(vec![exp(Node::Negative(Box::new(distance()))), part(random)]),
        18 => {
            // (c − a)₊^p, in front of something now and then.
            let line = minus(num(&constant(random)), part(random));
            let cut = pow(Node::Call("max", vec![num("0"), line]), &exponent(random));
            if random.random_range(0..2) == 0 { cut } else { Node::Product(vec![cut, part(random)]) }
        }
        0 | 1 => Node::Sum(vec![part(random), part(random)]),
        2 => minus(part(random), times(&constant(random), part(random))),
        3 => Node::Product(vec![part(random), part(random)]),
        4 => pow(part(random), &exponent(random)),
        5 => exp(part(random)),
        6 => exp(Node::Negative(Box::new(part(random)))),
        7 => Node::Quotient(Box::new(part(random)), Box::new(Node::Sum(vec![num("1"), part(random)]))),
        8 => Node::Call("log", vec![Node::Sum(vec![num("1"), part(random)])]),
        9 => Node::Call(
            pick(random, &["sin", "cos", "cosh", "tanh", "atan", "asin", "acos", "sinh", "sinc"]),
            vec![part(random)],
        ),
        10 => Node::Call("sqrt", vec![part(random)]),
        11 => Node::Call("abs", vec![part(random)]),
        12 => Node::Call(pick(random, &["min", "max"]), vec![part(random), part(random)]),
        13 => {
            // (1/(a·e^|x| − b))^p with a base of either sign.
            let below = minus(times(&constant(random), exp(part(random))), num(&constant(random)));
            let one = Node::Quotient(Box::new(num("1")), Box::new(below));
            pow(one, &exponent(random))
        }
        14 => {
            // f(x)·f(z), with a sign now and then.
            let of = |name| pow(minus(times("3", exp(Node::Atom(name, vec![]))), num("2")), "-0.5");
            let product = Node::Product(vec![of("|x|"), of("|z|")]);
            if random.random_range(0..2) == 0 { product } else { Node::Negative(Box::new(product)) }
        }
        15 => {
            // Two writings of one thing, all but equal.
            let (a, b) = equal(random, dim);
            let factor = pick(random, &["1", "1.00000000000000000001", "0.99999999999999999999"]);
            Node::Sum(vec![part(random), minus(a, times(factor, b))])
        }
        _ => {
            let (a, b) = equal(random, dim);
            minus(a, b)
        }
    }
}

/// Two writings of the same function.
fn equal(random: &mut impl Rng, dim: usize) -> (Node, Node) {
    let a = atom(random, dim);
    let square = |n: Node| pow(n, "2");
    match random.random_range(0..6) {
        0 => (
            pow(Node::Sum(vec![a.clone(), num("1")]), "2"),
            Node::Sum(vec![square(a.clone()), times("2", a), num("1")]),
        ),
        1 => (exp(Node::Sum(vec![a.clone(), num("1")])), Node::Product(vec![exp(a), exp(num("1"))])),
        2 => {
            (square(Node::Call("sin", vec![a.clone()])), minus(num("1"), square(Node::Call("cos", vec![a]))))
        }
        3 => (
            square(distance()),
            minus(
                Node::Sum(vec![square(Node::Atom("|x|", vec![])), square(Node::Atom("|z|", vec![]))]),
                times("2", dot()),
            ),
        ),
        4 => (Node::Call("sqrt", vec![square(a.clone())]), Node::Call("abs", vec![a])),
        _ => (Node::Gaussian("1/3".into()), exp(times("-1/3", square(distance())))),
    }
}

fn case(random: &mut impl Rng) -> Case {
    if random.random_range(0..3) == 0 {
        return known::case(random);
    }
    let dim = random.random_range(1..4);
    let depth = random.random_range(1..4);
    let node = tree(random, dim, depth);
    let domain = DOMAINS[random.random_range(0..DOMAINS.len())];
    Case { node, dim, domain, truth: None }
}

fn ratio(n: i64, d: i64) -> BigRational {
    BigRational::new(n.into(), d.into())
}

fn point(random: &mut impl Rng, dim: usize, domain: Domain, size: i64) -> Vec<BigRational> {
    let mut coordinate = || ratio(random.random_range(-32 * size..=32 * size), 32);
    match domain {
        Domain::All => (0..dim).map(|_| coordinate()).collect(),
        Domain::Orthant => (0..dim).map(|_| coordinate().abs()).collect(),
        Domain::Box(low, high) => {
            let ends = [low, high].map(|end| ratio((end * 2.0) as i64, 2));
            let unit = |c: BigRational| c.abs() / ratio(size, 1);
            (0..dim).map(|_| &ends[0] + (&ends[1] - &ends[0]) * unit(coordinate())).collect()
        }
        Domain::Ball(_) => (0..dim).map(|_| coordinate() / ratio(2 * size, 1)).collect(),
        Domain::Sphere => {
            let y: Vec<BigRational> = (1..dim).map(|_| coordinate()).collect();
            let square = y.iter().fold(BigRational::zero(), |s, c| s + c * c);
            let below = &square + BigRational::one();
            let last = if dim == 1 {
                ratio(2 * random.random_range(0..2) - 1, 1)
            } else {
                (square - BigRational::one()) / &below
            };
            y.into_iter().map(|c| c * ratio(2, 1) / &below).chain([last]).collect()
        }
    }
}

/// The attack's count of what it saw.
#[derive(Debug, Default)]
struct Seen {
    proven: usize,
    refuted: usize,
    undecided: usize,
    matrices: usize,
}

fn gram(
    case: &Case,
    points: &[Vec<BigRational>],
    open: &[BigRational],
    f: Fixed,
) -> Result<Vec<Vec<BigInt>>, Gap> {
    points.iter().map(|x| points.iter().map(|z| case.node.value(x, z, open, f)).collect()).collect()
}

/// A proven formula has values everywhere, symmetric ones, and no negative direction.
fn hold_against_matrices(case: &Case, seen: &mut Seen, random: &mut impl Rng) {
    let f = Fixed { bits: if case.node.is_extreme() { 3_200 } else { 512 } };
    let text = case.node.text();
    for size in [1, 3] {
        let mut points: Vec<_> = (0..5).map(|_| point(random, case.dim, case.domain, size)).collect();
        points.sort();
        points.dedup();
        let open = [ratio(random.random_range(1..20), 8), ratio(random.random_range(1..20), 8)];
        let matrix = match gram(case, &points, &open, f) {
            Ok(matrix) => matrix,
            Err(Gap::Beyond) => continue,
            Err(Gap::Undefined) => panic!("{text}: proven, but undefined at some of {points:?}"),
        };
        seen.matrices += 1;
        for i in 0..points.len() {
            for j in 0..i {
                let apart = (&matrix[i][j] - &matrix[j][i]).abs();
                assert!(
                    apart <= f.tolerance() * (matrix[i][j].abs() / f.one() + 1_u32),
                    "{text}: proven, but not symmetric"
                );
            }
        }
        assert!(
            !f.is_indefinite(matrix),
            "{text} in R^{} on {}: proven, but indefinite at {points:?}",
            case.dim,
            case.domain
        );
    }
}

fn hold_against_values(case: &Case, refutation: &Refutation) {
    let text = case.node.text();
    // Open hyper-parameters were filled with 1.
    let open = [ratio(1, 1), ratio(1, 1)];
    let f = Fixed { bits: if case.node.is_extreme() { 3_200 } else { 512 } };
    match refutation {
        Refutation::Points { points, weights, .. } => {
            let Ok(matrix) = gram(case, points, &open, f) else { return };
            let mut sum = BigInt::zero();
            for (row, a) in matrix.iter().zip(weights) {
                for (entry, b) in row.iter().zip(weights) {
                    sum += f.mul(entry, &f.rational(&(a * b)));
                }
            }
            assert!(sum < f.tolerance(), "{text}: refuted by {points:?}, {weights:?}, but wᵀKw ≥ 0");
        }
        Refutation::Undefined { x, z, reason } => {
            let value = case.node.value(x, z, &open, f);
            assert!(value.is_err(), "{text}: undefined at {x:?}, {z:?}: {reason}, but it is {value:?}");
        }
        Refutation::Asymmetric { x, z, .. } => {
            if let (Ok(a), Ok(b)) = (case.node.value(x, z, &open, f), case.node.value(z, x, &open, f)) {
                assert!(a != b, "{text}: symmetric at {x:?}, {z:?}");
            }
        }
        _ => {}
    }
}

/// Asks about a case and holds the answer against the arithmetic of many bits.
fn try_case(case: &Case, seen: &mut Seen, random: &mut impl Rng) {
    let text = case.node.text();
    // A text may fold to a constant that is not finite, which the parser refuses.
    let Ok(kernel) = text.parse::<Kernel>() else { return };
    let checked = kernel.check_within(Dim::Exactly(case.dim), case.domain, 150_000);
    let verdict = checked.unwrap_or_else(|e| panic!("{e}")).verdict;
    let question = || format!("{text} in R^{} on {}", case.dim, case.domain);
    match &verdict {
        Verdict::Proven(_) => {
            seen.proven += 1;
            assert_ne!(case.truth, Some(false), "{}: {verdict}", question());
            hold_against_matrices(case, seen, random);
        }
        Verdict::Refuted(refutation) | Verdict::Undefined(refutation) => {
            seen.refuted += 1;
            assert_ne!(case.truth, Some(true), "{}: {verdict}", question());
            hold_against_values(case, refutation);
        }
        Verdict::Undecided(_) => seen.undecided += 1,
    }
}

/// Appends a line to the log, where there is one.
fn log(line: &str) {
    let Ok(path) = std::env::var("MERCER_ATTACK_LOG") else { return };
    let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

#[test]
fn no_verdict_is_false() {
    let variable = |name: &str, default: u64| std::env::var(name).map_or(default, |v| v.parse().unwrap());
    let count = variable("MERCER_ATTACK", 500);
    let seed = variable("MERCER_ATTACK_SEED", 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut seen = Seen::default();
    let mut failures = Vec::new();
    for tried in 1..=count {
        let case = case(&mut random);
        let attempt = AssertUnwindSafe(|| try_case(&case, &mut seen, &mut random));
        if let Err(panic) = catch_unwind(attempt) {
            let reason = panic.downcast_ref::<String>().cloned();
            let reason = reason.unwrap_or_else(|| format!("a panic without a text, at {}", case.node.text()));
            log(&format!("FALSE seed {seed}, formula {tried}: {reason}"));
            failures.push(reason);
        }
        if tried % 25 == 0 {
            log(&format!("seed {seed}: {tried} tried, {} failed, {seen:?}", failures.len()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let decided = (seen.proven + seen.refuted) as u64;
    assert!(10 * decided > 5 * count && 10 * seen.proven as u64 > count, "{seen:?} of {count}");
}

/// Formulas that were once decided wrongly, each with its correct verdict.
#[test]
fn false_verdicts_of_the_past() {
    let question = |line: &str| {
        let mut parts = line.split(';').map(str::trim);
        let text = parts.next().unwrap();
        let word =
            |part: Option<&str>, default: &str| part.filter(|p| !p.is_empty()).unwrap_or(default).to_string();
        let dim: Dim = word(parts.next(), "any").parse().unwrap();
        let domain: Domain = word(parts.next(), "all").parse().unwrap();
        text.parse::<Kernel>().unwrap().check(dim, domain).unwrap()
    };
    for line in [
        "-(1/(3*exp(|x|)-2))^0.5*(1/(3*exp(|z|)-2))^0.5",
        "rbf(sigma=?)-rbf(sigma=?)",
        "rbf(sigma=?)*(rbf(sigma=?)-rbf(sigma=?))",
        "max(0,1-|x-z|[1])^5*(3+15*|x-z|[0]+24*|x-z|[1]^2);2",
        "max(0,1-|x-z|[1])^4*(1+4*|x-z|[0]);2",
        "exp(-|x-z|)-exp(-746);1",
        "exp(-|x-z|)-exp(-1e9);1",
        "-1e-400",
        "<x,z>/3 - 0.33333333333333334*<x,z>",
        "exp(-|x-z|^2/3)-rbf(gamma=0.33333333333333334)",
        "poly(degree=2.00000000000000000001)",
        "|x-z|^2.00000000000000000001;1",
        "exp(-|x-z|^2.00000000000000000001);1",
        "1-tanh(|x-z|)-1e-300;1",
        "min(|x|,|z|)-1e-400",
        "exp(-|x-z|)*|x-z|+1e-20*cos(|x-z|)^2-1e-20;1",
        "|x-z|*max(0,2-|z|)^(1/3)+cos(|x-z|)^2;1;box:0..1",
        "(exp(|x|)+2)^(-0.25)*(exp(|z|)+2)^(-0.25)+1e-20*cos(|x-z|)^2-1e-20;1",
    ] {
        assert!(!question(line).is_proven(), "{line}");
    }
    for line in [
        "1-2*acos(<x,z>)/pi;;sphere",
        "1-acos(<x,z>)/pi;;sphere",
        "<x,z>^5000",
        "<x,z>^4097;2",
        "<x,z>^200",
        "(1+<x,z>)^200",
        "(1+<x,z>)^1000000",
        "(0.5+0.5*<x,z>)^9999;3;ball:1",
        "<x,z>^200;3;sphere",
        "rbf(gamma=1/3)-exp(-|x-z|^2/3)",
        "rbf(gamma=0.33333333333333334)-exp(-0.33333333333333334*|x-z|^2)",
        "(1/(3*exp(|x|)-2))^0.5*(1/(3*exp(|z|)-2))^0.5",
        "exp(1e200*<x,z>)-exp(1e199*<x,z>)",
        "exp(-(1+1e-300)*|x-z|)+exp(-1e300*|x-z|^2);3",
        "rbf(sigma=pi)+periodic(period=2*pi)",
    ] {
        assert!(question(line).is_proven(), "{line}");
    }
    for line in ["<x,z>^4097-2*<x,z>^4097;2", "-1e-400", "3.141592653589793-pi", "(<x,z>-1)^201;1"] {
        assert!(question(line).is_refuted(), "{line}");
    }
    assert!(question("pi-3.141592653589793").is_proven());
}

/// Constants that make every number long: the bound on the steps holds all the same.
#[test]
fn extreme_constants_stay_within_the_steps() {
    for text in [
        "exp(1e300*<x,z>)-1.234567890123456789e-300*sin(1.1e300*<x,z>)",
        "exp(1.00000000000000000000000000001e299*<x,z>)-0.99e-299*cos(1.7e299*<x,z>)+log(1+<x,z>^2)",
        "(1-1e-300*<x,z>)^(-1.3e5)-(1-1.1e-300*<x,z>)^(-1.1e5)",
        "(|x-z|^24+1e300*|x-z|^23)*exp(-1.0000000001e-300*|x-z|)-exp(-1e300*|x-z|)",
        "(|x-z|^24+1e300*|x-z|^22)*exp(-1.0000000001e-300*|x-z|^2)-exp(-1e300*|x-z|^2)",
        "asin(1e-300*<x,z>)-atan(1.1e-300*<x,z>)+1e-300*tan(1e-300*<x,z>)",
    ] {
        let kernel: Kernel = text.parse().unwrap();
        for domain in [Domain::All, Domain::Ball(1.0), Domain::Sphere] {
            let checked = kernel.check_within(Dim::Exactly(3), domain, 8_000_000).unwrap();
            assert!(checked.steps < 24_000_000, "{text}: {} steps", checked.steps);
        }
    }
}
