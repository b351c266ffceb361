//! Formulas at a threshold: a little to one side they are kernels, a little to the other they are not.

use mercer_kernel::check::Domain;
use rand::{Rng, RngExt};

use super::formula::Node;
use super::{Case, distance, dot, exp, minus, near, num, pow, times};

/// A formula with a known answer.
pub fn case(random: &mut impl Rng) -> Case {
    // Below, at or above the threshold, by 10^−digits.
    let digits = [12, 17, 25, 40][random.random_range(0..4)];
    let side = random.random_range(-1..=1);
    let dim = random.random_range(1..5_usize);
    let rule = random.random_range(0..22);
    if rule >= 11 {
        return of_later_rules(rule, (side, digits), random);
    }
    let (node, dim, domain, truth) = match rule {
        0 => {
            // e^(−a r²) − c·e^(−b r²) with b < a in the plane: c ≤ b/a.
            let (b, a) = (random.random_range(1..4_i64), 4_i64);
            let gaussian = |rate: i64| exp(times(&format!("-{rate}"), pow(distance(), "2")));
            let node = minus(gaussian(a), times(&near((b, a), side, digits), gaussian(b)));
            (node, 2, Domain::All, b == a || side <= 0)
        }
        1 => {
            // (1−r)₊^ℓ: ℓ ≥ (d+1)/2.
            let base = Node::Call("max", vec![num("0"), minus(num("1"), distance())]);
            let power = near((dim as i64 + 1, 2), side, digits);
            (pow(base, &power), dim, Domain::All, side >= 0)
        }
        2 => {
            // t² − c on the sphere of R^d: c ≤ 1/d.
            let d = [2, 4, 5][random.random_range(0..3)];
            let node = minus(pow(dot(), "2"), num(&near((1, d), side, digits)));
            (node, d as usize, Domain::Sphere, side <= 0)
        }
        3 => {
            // e^(−r^p): p ≤ 2.
            let p = near((2, 1), side, digits);
            (exp(Node::Negative(Box::new(pow(distance(), &p)))), dim, Domain::All, side <= 0)
        }
        4 => {
            // (e^t − c·t)-type series: 1 − c ≥ 0 in front of t.
            let c = near((1, 1), side, digits);
            (minus(exp(dot()), times(&c, dot())), dim, Domain::All, side <= 0)
        }
        5 => {
            // e^(t) + c·sin t: 1 − c·1 ≥ 0 at t³.
            let c = near((1, 1), side, digits);
            let sine = Node::Call("sin", vec![dot()]);
            (Node::Sum(vec![exp(dot()), times(&c, sine)]), dim, Domain::All, side <= 0)
        }
        6 => {
            // c·t^n − t^n.
            let n = ["1", "2", "5", "70", "200"][random.random_range(0..5)];
            let c = near((1, 1), side, digits);
            (minus(times(&c, pow(dot(), n)), pow(dot(), n)), dim, Domain::All, side >= 0)
        }
        7 => {
            // |x|²/2 + |z|²/2 − c·|x−z|²/2 = (1−c)(…)/2 + c·⟨x,z⟩: c = 1, or it fails (far off the diagonal, or at it).
            let c = near((1, 1), side, digits);
            let square = |name| pow(Node::Atom(name, vec![]), "2");
            let whole = minus(Node::Sum(vec![square("|x|"), square("|z|")]), times(&c, pow(distance(), "2")));
            (whole, dim, Domain::All, side == 0)
        }
        8 => {
            // A constant: c − 1/2.
            (minus(num(&near((1, 2), side, digits)), num("0.5")), dim, Domain::All, side >= 0)
        }
        9 => {
            // (c + t)³ needs c ≥ 0.
            let c = near((0, 1), side, digits);
            (pow(Node::Sum(vec![num(&c), dot()]), "3"), dim, Domain::All, side >= 0)
        }
        _ => {
            // e^(−r) − c·e^(−r/2): the density at 0 and far out; on the line c ≤ 1/2 and c ≤ 2.
            let slow = exp(times("-0.5", distance()));
            let node =
                minus(exp(Node::Negative(Box::new(distance()))), times(&near((1, 2), side, digits), slow));
            (node, 1, Domain::All, side <= 0)
        }
    };
    Case { node, dim, domain, truth: Some(truth) }
}

fn call(name: &'static str, parts: Vec<Node>) -> Node {
    Node::Call(name, parts)
}

fn norm(name: &'static str) -> Node {
    Node::Atom(name, vec![])
}

/// (c − r)₊^power.
fn cut(c: &str, power: &str) -> Node {
    pow(call("max", vec![num("0"), minus(num(c), distance())]), power)
}

/// As [`case`], of compact support, damped waves, the half-line, columns, growth and the rim of a ball.
fn of_later_rules(rule: usize, (side, digits): (i32, u32), random: &mut impl Rng) -> Case {
    let decay = || exp(Node::Negative(Box::new(distance())));
    let wave = |name, rate: &str| call(name, vec![times(rate, distance())]);
    let product = |a, b| Node::Product(vec![a, b]);
    let (node, dim, domain, truth) = match rule {
        11 => {
            // φ_{ℓ,1} = (1−r)₊^(ℓ+1)·((ℓ+1)r + 1): ℓ ≥ (d+3)/2.
            let d = random.random_range(1..5_usize);
            let power = near((d as i64 + 5, 2), side, digits);
            let line = Node::Sum(vec![times(&power, distance()), num("1")]);
            (product(cut("1", &power), line), d, Domain::All, side >= 0)
        }
        12 => {
            // (1−r)₊²·(1 + cr) on R³: c ≤ 1/2, the spherical covariance.
            let line = Node::Sum(vec![num("1"), times(&near((1, 2), side, digits), distance())]);
            (product(cut("1", "2"), line), 3, Domain::All, side <= 0)
        }
        13 => {
            // (2−r)₊³ − c·(1−r)₊³ on the line: c ≤ 4, the cubic B-spline.
            let c = near((4, 1), side, digits);
            (minus(cut("2", "3"), times(&c, cut("1", "3"))), 1, Domain::All, side <= 0)
        }
        14 => {
            // e^(−r)·cos(br): b ≤ 1 in the plane.
            (product(decay(), wave("cos", &near((1, 1), side, digits))), 2, Domain::All, side <= 0)
        }
        15 => {
            // e^(−r)·(cos 2r + c·sin 2r) on the line: c ≤ 1/2.
            let sine = times(&near((1, 2), side, digits), wave("sin", "2"));
            (product(decay(), Node::Sum(vec![wave("cos", "2"), sine])), 1, Domain::All, side <= 0)
        }
        16 => {
            // e^(−r)·cos(br) on R³: b² ≤ 1/3.
            let rates = ["0.577350269189625764509", "0.577350269189625764510"];
            let above = random.random_range(0..2);
            (product(decay(), wave("cos", rates[above])), 3, Domain::All, above == 0)
        }
        17 => {
            // m²M/2 − c·m³ on the half-line: c ≤ 1/6, integrated Brownian motion.
            let m = || call("min", vec![norm("|x|"), norm("|z|")]);
            let greater = call("max", vec![norm("|x|"), norm("|z|")]);
            let first = Node::Product(vec![num("0.5"), pow(m(), "2"), greater]);
            // 1/6 is no decimal: `near` rounds it down.
            let node = minus(first, times(&near((1, 6), side, digits), pow(m(), "3")));
            (node, random.random_range(1..4), Domain::Orthant, side <= 0)
        }
        18 => {
            // <x,z> − c·<x,z>[0]: c ≤ 1.
            let first = Node::Atom("<x,z>", vec![0]);
            let c = near((1, 1), side, digits);
            (minus(dot(), times(&c, first)), random.random_range(2..5), Domain::All, side <= 0)
        }
        19 => {
            // e^t − c·e^(1.1t): no c > 0 is small enough.
            let c = near((0, 1), -side, digits);
            let node = minus(exp(dot()), times(&c, exp(times("1.1", dot()))));
            (node, random.random_range(1..4), Domain::All, side >= 0)
        }
        20 => {
            // 1/(c − t) on the unit ball has a value everywhere where c > 1.
            let below = minus(num(&near((1, 1), side, digits)), dot());
            let node = Node::Quotient(Box::new(num("1")), Box::new(below));
            (node, random.random_range(1..4), Domain::Ball(1.0), side > 0)
        }
        _ => {
            // sinc: up to three dimensions.
            let d = random.random_range(1..6);
            let rate = ["1", "0.5", "1e-3", "7/3"][random.random_range(0..4)];
            (wave("sinc", rate), d, Domain::All, d <= 3)
        }
    };
    Case { node, dim, domain, truth: Some(truth) }
}
