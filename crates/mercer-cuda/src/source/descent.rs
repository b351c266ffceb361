//! The source of the solver of quadratic problems, which is the same for every kernel.

use std::fmt::Write as _;

use mercer::real::Precision;

use super::{PRELUDE, RANKS, STATE};

const DESCENT: &str = include_str!("../kernels/descent.cuh");

/// The sizes for which the solver is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescentShape {
    /// Groups of variables, each with an equality constraint: 1 or 2.
    pub groups: usize,
    /// Variables of a working set: a multiple of `solvers`.
    pub set: usize,
    /// Threads that choose a working set: a multiple of 32.
    pub choosers: usize,
    /// Threads that solve the problem over a working set: a multiple of 32 for each group.
    pub solvers: usize,
}

impl DescentShape {
    /// The sizes for a problem of `variables`: larger sets need fewer rounds, and smaller ones cost less each.
    #[must_use]
    pub fn of(variables: usize, groups: usize) -> Self {
        let (set, solvers) = if variables < MANY { (1024, 256) } else { (2048, 512) };
        Self { groups, set, choosers: 1024, solvers }
    }
}

/// The number of variables from which working sets are large.
const MANY: usize = 24_000;

/// The fraction of the violation that a round leaves within its working set.
const EAGERNESS: f64 = 0.2;

/// The text of all functions of the solver for kernel rows in `precision`.
#[must_use]
pub fn descent(precision: Precision, shape: DescentShape) -> String {
    let real = if precision == Precision::Single { "float" } else { "double" };
    let mut text = format!("typedef {real} real;\n#define EAGERNESS {EAGERNESS}\n");
    let sizes = [
        ("GROUPS", shape.groups),
        ("SET", shape.set),
        ("CHOOSERS", shape.choosers),
        ("SOLVERS", shape.solvers),
    ];
    for (name, value) in sizes {
        let _ = writeln!(text, "#define {name} {value}");
    }
    text + PRELUDE + RANKS + STATE + DESCENT
}
