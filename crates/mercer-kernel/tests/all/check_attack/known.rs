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
    let (node, dim, domain, truth) = match random.random_range(0..11) {
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
