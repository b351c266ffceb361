//! The public form of a compiled kernel has all that an engine needs: interpreted in plain scalar Rust, it gives the kernel.

use std::f64::consts::PI;

use mercer::kernel::{Function, Kernel, special};
use mercer::tile::{Group, Kind, Node, PointStatistic, Program, Side, Statistic};

/// The mapped row of a group, and its norm before the map.
fn mapped(group: &Group, row: &[f64]) -> (Vec<f64>, f64) {
    let norm = group.columns.iter().map(|&c| row[c] * row[c]).sum::<f64>().sqrt();
    let mut features = vec![0.0; group.width()];
    for (j, &c) in group.columns.iter().enumerate() {
        group.features(j, row[c], norm, |feature, value| features[feature] = value);
    }
    (features, norm)
}

fn statistic(of: &Statistic, x: &[f64], z: &[f64]) -> f64 {
    let pairs = x.iter().zip(z);
    match &of.kind {
        Kind::Dot => pairs.map(|(s, t)| s * t).sum(),
        Kind::SquaredDistance => pairs.map(|(s, t)| (s - t) * (s - t)).sum(),
        Kind::Distance1 => pairs.map(|(s, t)| (s - t).abs()).sum(),
        Kind::ChiSquared => {
            pairs.map(|(s, t)| if s + t == 0.0 && s == t { 0.0 } else { (s - t) * (s - t) / (s + t) }).sum()
        }
        Kind::Coordinate(program) => {
            let fold = program.fold();
            pairs.fold(fold.neutral(), |folded, (s, t)| fold.join(folded, program.at(*s, *t)))
        }
    }
}

fn arc_cosine(order: u8, chord: f64) -> f64 {
    let cos = (1.0 - 0.5 * chord).clamp(-1.0, 1.0);
    let (theta, sin) = (cos.acos(), (1.0 - cos * cos).sqrt());
    let j = match order {
        0 => PI - theta,
        1 => sin + (PI - theta) * cos,
        _ => 3.0 * sin * cos + (PI - theta) * (1.0 + 2.0 * cos * cos),
    };
    j / PI
}

/// k(x, z) by the program alone.
fn interpret(program: &Program, x: &[f64], z: &[f64]) -> f64 {
    let sides: Vec<_> = program.groups().iter().map(|group| (mapped(group, x), mapped(group, z))).collect();
    let mut values: Vec<f64> = Vec::new();
    for node in program.nodes() {
        let at = |place: usize| values[place];
        values.push(match *node {
            Node::Number(value) => value,
            Node::Pair(place) => {
                let of = &program.statistics()[place];
                let ((x, _), (z, _)) = &sides[of.group];
                statistic(of, x, z)
            }
            Node::Point(what, side, group) => {
                let ((_, x), (_, z)) = &sides[group];
                let norm = if side == Side::X { *x } else { *z };
                match what {
                    PointStatistic::Norm => norm,
                    PointStatistic::NonZero => f64::from(u8::from(norm != 0.0)),
                }
            }
            Node::SameRow => f64::from(u8::from(x == z)),
            Node::Affine { of, scale, shift } => scale * at(of) + shift,
            Node::Exp { of, slope, shift, scale } => scale * (slope * at(of) + shift).exp(),
            Node::Sum(a, b) => at(a) + at(b),
            Node::Product(a, b) => at(a) * at(b),
            Node::Quotient(a, b) => at(a) / at(b),
            Node::Power(a, b) => at(a).powf(at(b)),
            Node::IntegerPower(a, n) => at(a).powi(n),
            Node::Call(function, a) => function.apply(&[at(a)]),
            Node::Least(a, b) => Function::Min.apply(&[at(a), at(b)]),
            Node::Greatest(a, b) => Function::Max.apply(&[at(a), at(b)]),
            Node::Matern { nu, squared } => special::matern(nu, at(squared).sqrt()),
            Node::ArcCosine { order, chord } => arc_cosine(order, at(chord)),
            _ => panic!("{node:?} is not known here"),
        });
    }
    *values.last().expect("a program has a node")
}

/// One of every statistic, embedding and node.
const KERNELS: &[&str] = &[
    "<x,z>",
    "(0.5*<x,z> + 1)^3",
    "(<x,z> + 4)^-2",
    "rbf(sigma=0.8)",
    "2*rbf(sigma=0.8) + 0.3*laplacian(gamma=0.4)",
    "laplacian",
    "matern(nu=0.5)",
    "matern(nu=1.5)",
    "matern(nu=2.5)",
    "matern(nu=0.9)",
    "rq(alpha=0.7)",
    "periodic(period=1.3)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "arccos(order=2)",
    "chi2(gamma=0.3)[0..2]",
    "sigmoid(gamma=0.1)",
    "spline",
    "wendland(radius=2)",
    "min(|x-z|, 0.5*|x-z|_1)",
    "max(<x,z>, rbf)",
    "rbf[0] * matern(nu=1.5)[1..3] + cos(<x,z>)",
    "sqrt(|x-z|_1 + 1)/(1 + |x-z|^2)",
    "(1 + |x-z|)^(0.5*<x,z>)",
    "tanh(0.2*<x,z>) + log(3 + |x-z|^2)",
];

#[test]
fn a_program_interpreted_by_its_documentation_is_the_kernel() {
    // Entries from 0.05 to 1, so that every kernel is defined; one row of zeros.
    let entry = |k: usize| 0.05 + ((k * 7919) % 97) as f64 / 100.0;
    let mut rows: Vec<Vec<f64>> = (0..7).map(|i| (4 * i..4 * i + 4).map(entry).collect()).collect();
    rows.push(vec![0.0; 4]);
    let mut compiled = 0;
    for text in KERNELS {
        let Ok(kernel) = text.parse::<Kernel>() else { panic!("{text} is no kernel") };
        let program = Program::compile(&kernel, 4).unwrap();
        assert_eq!(program.ncols(), 4);
        for x in &rows {
            for z in &rows {
                let (found, expected) = (interpret(&program, x, z), kernel.eval(x, z).unwrap());
                // Errors are some units of what is added up; an angle near 0 has the square root of one.
                let tolerance = if text.starts_with("arccos") { 1e-7 } else { 1e-12 };
                let close = (found - expected).abs() <= tolerance * (1.0 + expected.abs());
                assert!(
                    close || found.to_bits() == expected.to_bits(),
                    "{text} at {x:?}, {z:?}: {found} is not {expected}"
                );
            }
        }
        compiled += program.nodes().len();
    }
    assert!(compiled > 2 * KERNELS.len());
}
