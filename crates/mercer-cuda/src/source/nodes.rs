//! The operations of a program as C++ expressions.

use std::f64::consts::LOG2_E;
use std::fmt::Write as _;

use mercer::kernel::Function;
use mercer::real::Precision;
use mercer::tile::{Fold, Node, Program, Side, Step};

use super::layout::{Layout, Reading, Term};

/// Numbers that printed source reads from an argument, so that the text depends only on the form of a kernel.
#[derive(Debug, Default)]
pub(super) struct Numbers(pub Vec<f64>);

impl Numbers {
    /// The expression of a number.
    fn name(&mut self, value: f64) -> String {
        let place = self.0.iter().position(|v| v.to_bits() == value.to_bits()).unwrap_or_else(|| {
            self.0.push(value);
            self.0.len() - 1
        });
        format!("p.at[{place}]")
    }
}

/// `start`: the initial values of the sums of a pair.
pub(super) fn start(layout: &Layout) -> String {
    let mut text =
        "FUNCTION void start(real (&s)[NSTATS], const real (&x)[NSCALARS], const real (&z)[NSCALARS])\n{\n"
            .to_owned();
    for (place, sum) in layout.sums.iter().enumerate() {
        let started = layout.readings.iter().find_map(|reading| match *reading {
            Reading::Exponent { sum, scalar } if sum == place => Some(format!("x[{scalar}] + z[{scalar}]")),
            _ => None,
        });
        let neutral = match &sum.term {
            Term::Coordinate(program) if program.fold() == Fold::Product => "(real)1",
            _ => "(real)0",
        };
        let _ = writeln!(text, "    s[{place}] = {};", started.unwrap_or_else(|| neutral.to_owned()));
    }
    text + "}\n"
}

/// `term`: the contribution of a pair of features of a segment to the sums.
pub(super) fn term(layout: &Layout, numbers: &mut Numbers) -> String {
    let mut text =
        "template <int SEGMENT> FUNCTION void term(real (&s)[NSTATS], real a, real b, const Numbers &p)\n{\n"
            .to_owned();
    for segment in 0..layout.segments.len() {
        let _ = writeln!(text, "    if (SEGMENT == {segment}) {{");
        for (place, sum) in layout.sums.iter().enumerate().filter(|(_, sum)| sum.segment == segment) {
            let update = match &sum.term {
                Term::Product => format!("s[{place}] = fused(a, b, s[{place}]);"),
                Term::SquaredDifference => {
                    format!("{{ real t = a - b; s[{place}] = fused(t, t, s[{place}]); }}")
                }
                Term::Difference => format!("s[{place}] += fabs(a - b);"),
                Term::ChiSquared => format!("s[{place}] += chi_squared(a, b);"),
                Term::Coordinate(program) => {
                    let (steps, last) = coordinate(program.steps(), numbers);
                    let join = if program.fold() == Fold::Sum { '+' } else { '*' };
                    format!("{{ {steps}s[{place}] {join}= {last}; }}")
                }
            };
            let _ = writeln!(text, "        {update}");
        }
        text += "    }\n";
    }
    text + "}\n"
}

/// Statements for the steps of a coordinate program, and the name of the last value.
fn coordinate(steps: &[Step], numbers: &mut Numbers) -> (String, String) {
    let name = |value: usize| match value {
        0 => "a".to_owned(),
        1 => "b".to_owned(),
        i => format!("t{i}"),
    };
    let mut text = String::new();
    for (i, step) in steps.iter().enumerate() {
        let expression = match *step {
            Step::Number(value) => numbers.name(value),
            Step::Sum(a, b) => format!("{} + {}", name(a), name(b)),
            Step::Product(a, b) => format!("{} * {}", name(a), name(b)),
            Step::Quotient(a, b) => format!("{} / {}", name(a), name(b)),
            Step::Least(a, b) => format!("least({}, {})", name(a), name(b)),
            Step::Greatest(a, b) => format!("greatest({}, {})", name(a), name(b)),
            Step::Distance(a, b) => format!("fabs({} - {})", name(a), name(b)),
        };
        let _ = write!(text, "real {} = {expression}; ", name(i + 2));
    }
    (text, name(steps.len() + 1))
}

/// `value`: the kernel's value from the sums of a pair and the numbers of its rows.
pub(super) fn value(program: &Program, layout: &Layout, numbers: &mut Numbers) -> String {
    let mut text =
        "FUNCTION real value(const real (&s)[NSTATS], const real (&x)[NSCALARS], const real (&z)[NSCALARS], \
                    const Numbers &p)\n{\n"
            .to_owned();
    for (place, node) in program.nodes().iter().enumerate() {
        let expression = expression(*node, program, layout, numbers);
        let _ = writeln!(text, "    real v{place} = {expression};");
    }
    let _ = writeln!(text, "    return v{};\n}}", program.nodes().len() - 1);
    text
}

fn expression(node: Node, program: &Program, layout: &Layout, numbers: &mut Numbers) -> String {
    match node {
        Node::Number(value) => numbers.name(value),
        Node::Pair(statistic) => match layout.readings[statistic] {
            Reading::Sum(sum) | Reading::Exponent { sum, .. } => format!("s[{sum}]"),
            Reading::Distance { sum, scalar } => {
                format!("not_negative(fused((real)-2, s[{sum}], x[{scalar}] + z[{scalar}]))")
            }
        },
        Node::Point(what, side, group) => {
            let row = if side == Side::X { 'x' } else { 'z' };
            format!("{row}[{}]", layout.scalar_of(what, group))
        }
        Node::Affine { of, scale, shift } => affine(of, scale, shift, numbers),
        Node::Exp { of, slope, shift, scale } => {
            let single = layout.precision == Precision::Single;
            let of_exponent = |place: usize| match program.nodes()[place] {
                Node::Pair(statistic) => matches!(layout.readings[statistic], Reading::Exponent { .. }),
                _ => false,
            };
            let power = match (of_exponent(of), single) {
                (true, true) => format!("power_of_two(v{of})"),
                (true, false) => format!("exp(v{of})"),
                (false, true) => {
                    format!("power_of_two({})", affine(of, slope * LOG2_E, shift * LOG2_E, numbers))
                }
                (false, false) => format!("exp({})", affine(of, slope, shift, numbers)),
            };
            if scale == 1.0 { power } else { format!("{} * {power}", numbers.name(scale)) }
        }
        Node::Sum(a, b) => format!("v{a} + v{b}"),
        Node::Product(a, b) => format!("v{a} * v{b}"),
        Node::Quotient(a, b) => format!("v{a} / v{b}"),
        Node::Power(a, b) => format!("pow(v{a}, v{b})"),
        Node::IntegerPower(a, n) => integer_power(a, n),
        Node::Call(function, a) => format!("{}(v{a})", name_of(function)),
        Node::Least(a, b) => format!("least(v{a}, v{b})"),
        Node::Greatest(a, b) => format!("greatest(v{a}, v{b})"),
        Node::Matern { nu, squared } => matern(nu, squared),
        Node::ArcCosine { order, chord } => format!("arc_cosine<{order}>(v{chord})"),
        // Node is non-exhaustive; the engine checks `is_printable` first.
        _ => "(real)0".to_owned(),
    }
}

/// Whether every operation of the program can be printed.
pub(crate) fn is_printable(program: &Program) -> bool {
    program.nodes().iter().all(|node| {
        matches!(
            node,
            Node::Number(_)
                | Node::Pair(_)
                | Node::Point(..)
                | Node::Affine { .. }
                | Node::Exp { .. }
                | Node::Sum(..)
                | Node::Product(..)
                | Node::Quotient(..)
                | Node::Power(..)
                | Node::IntegerPower(..)
                | Node::Call(..)
                | Node::Least(..)
                | Node::Greatest(..)
                | Node::Matern { .. }
                | Node::ArcCosine { .. }
        )
    })
}

fn affine(of: usize, scale: f64, shift: f64, numbers: &mut Numbers) -> String {
    match (scale == 1.0, shift == 0.0) {
        (true, true) => format!("v{of}"),
        (true, false) => format!("v{of} + {}", numbers.name(shift)),
        (false, true) => format!("{} * v{of}", numbers.name(scale)),
        (false, false) => {
            let (scale, shift) = (numbers.name(scale), numbers.name(shift));
            format!("fused({scale}, v{of}, {shift})")
        }
    }
}

/// A call of a function that squares and multiplies.
fn integer_power(of: usize, n: i32) -> String {
    let power = format!("integer_power<{}>(v{of})", n.unsigned_abs());
    if n < 0 { format!("(real)1 / {power}") } else { power }
}

fn name_of(function: Function) -> &'static str {
    match function {
        Function::Exp => "exp",
        Function::Log => "log",
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Tan => "tan",
        Function::Sinc => "sinc",
        Function::Sinh => "sinh",
        Function::Cosh => "cosh",
        Function::Tanh => "tanh",
        Function::Sqrt => "root",
        Function::Asin => "asin",
        Function::Acos => "acos",
        Function::Atan => "atan",
        // A call of these two has several arguments and is never printed.
        Function::Abs | Function::Min | Function::Max => "fabs",
    }
}

/// The order from which Debye's expansion is summed, as in `special::matern`.
const LARGE_ORDER: f64 = 16.0;

/// ν is printed: a Matérn function of another order has another source.
fn matern(nu: f64, squared: usize) -> String {
    if nu >= LARGE_ORDER {
        format!("matern_large({nu:e}, v{squared}, debye_coefficients)")
    } else if (nu - 0.5).fract() == 0.0 {
        format!("matern_half<{}>(v{squared})", nu as u32)
    } else {
        format!("matern_integral({nu:e}, v{squared})")
    }
}

/// Terms of Debye's expansion.
const DEBYE_TERMS: usize = 14;

/// The coefficients of Debye's polynomials, if the program needs them, from
/// u_{k+1}(t) = ½t²(1 − t²)u_k'(t) + ⅛∫₀ᵗ(1 − 5τ²)u_k(τ)dτ.
pub(super) fn debye_coefficients(program: &Program) -> Option<String> {
    let needed = |node: &Node| matches!(*node, Node::Matern { nu, .. } if nu >= LARGE_ORDER);
    if !program.nodes().iter().any(needed) {
        return None;
    }
    let mut polynomial = vec![1.0];
    let mut all = polynomial.clone();
    for k in 1..DEBYE_TERMS {
        let mut next = vec![0.0; 3 * k + 1];
        for (i, c) in polynomial.iter().enumerate() {
            let degree = i as f64;
            next[i + 1] += c * (0.5 * degree + 0.125 / (degree + 1.0));
            next[i + 3] -= c * (0.5 * degree + 0.625 / (degree + 3.0));
        }
        all.extend_from_slice(&next);
        polynomial = next;
    }
    let list: Vec<String> = all.iter().map(|c| format!("{c:e}")).collect();
    let table = format!("CONSTANT double debye_coefficients[] = {{{}}};\n", list.join(", "));
    Some(format!("#define DEBYE {DEBYE_TERMS}\n{table}"))
}

/// The approximate cost of a value in multiply-adds.
pub(crate) fn cost(program: &Program, layout: &Layout) -> usize {
    let of_sums: usize = layout
        .sums
        .iter()
        .map(|sum| {
            let width = layout.segments[sum.segment].width();
            width
                * match &sum.term {
                    Term::Product => 1,
                    Term::SquaredDifference | Term::Difference => 2,
                    Term::ChiSquared => 12,
                    Term::Coordinate(program) => 4 * program.steps().len(),
                }
        })
        .sum();
    of_sums + program.nodes().iter().map(|node| node_cost(*node)).sum::<usize>()
}

fn node_cost(node: Node) -> usize {
    match node {
        Node::Number(_) | Node::Pair(_) | Node::Point(..) => 0,
        Node::Exp { .. } => 4,
        Node::Quotient(..) => 10,
        Node::Power(..) => 60,
        Node::Call(Function::Abs, _) => 1,
        Node::Call(Function::Sqrt, _) => 6,
        Node::Call(..) => 30,
        Node::Matern { nu, .. } if nu < LARGE_ORDER && (nu - 0.5).fract() == 0.0 => 20,
        Node::Matern { .. } => 4000,
        Node::ArcCosine { .. } => 40,
        Node::IntegerPower(..) => 4,
        _ => 1,
    }
}
