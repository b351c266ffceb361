//! Random kernel expressions, for property tests.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::eval::constant;
use super::expr::{Columns, Expr, Function};
use super::family::FAMILIES;
use super::named::{Allowed, Argument, Named, Prior, Slot, Value};

/// Which expressions to draw.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Levels of operators above the atoms.
    pub depth: usize,
    /// Columns of the data: subsets and lists fit this number.
    pub columns: usize,
    /// Whether hyper-parameters may be `auto` or `?`.
    pub unresolved: bool,
}

/// An expression that the parser can make, the same for the same seed.
#[must_use]
pub fn expr(seed: u64, shape: Shape) -> Expr {
    draw(&mut Xoshiro256PlusPlus::seed_from_u64(seed), shape)
}

/// Two points of `columns` coordinates in [-2, 2], or in [0, 2] where `positive`.
#[must_use]
pub fn points(seed: u64, columns: usize, positive: bool) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let low = if positive { 0.0 } else { -2.0 };
    let mut point = || (0..columns).map(|_| rng.random_range(low..2.0)).collect();
    (point(), point())
}

fn draw(rng: &mut impl Rng, shape: Shape) -> Expr {
    if shape.depth == 0 || rng.random_bool(0.15) {
        return leaf(rng, shape);
    }
    let below = Shape { depth: shape.depth - 1, ..shape };
    let boxed = |rng: &mut _| Box::new(draw(rng, below));
    let expr = match rng.random_range(0..9) {
        0 | 1 => Expr::Sum(several(rng, below)),
        2 | 3 => Expr::Product(several(rng, below)),
        4 => Expr::Neg(boxed(rng)),
        5 => Expr::Div(boxed(rng), boxed(rng)),
        6 => {
            let base = boxed(rng);
            let exponent = match rng.random_range(0..4) {
                0 => boxed(rng),
                1 => Box::new(Expr::Number(-1.0)),
                _ => Box::new(Expr::Number(f64::from(rng.random_range(0_u8..4)) / 2.0)),
            };
            Expr::Pow(base, exponent)
        }
        7 => {
            let function = Function::ALL[rng.random_range(0..Function::ALL.len())];
            let arguments = if function.is_variadic() { several(rng, below) } else { vec![draw(rng, below)] };
            Expr::Call(function, arguments)
        }
        _ => {
            let columns = columns(rng, shape.columns);
            let inside = Shape { columns: columns.len(), ..below };
            Expr::Columns(Box::new(draw(rng, inside)), columns)
        }
    };
    // The parser refuses constants that are not finite.
    match constant(&expr) {
        Some(value) if !value.is_finite() => leaf(rng, shape),
        _ => expr,
    }
}

fn several(rng: &mut impl Rng, shape: Shape) -> Vec<Expr> {
    (0..rng.random_range(2..4)).map(|_| draw(rng, shape)).collect()
}

fn leaf(rng: &mut impl Rng, shape: Shape) -> Expr {
    match rng.random_range(0..10) {
        0 | 1 => Expr::Number(number(rng, Allowed::Finite)),
        2 => Expr::Dot,
        3 => Expr::Distance,
        4 => Expr::Distance1,
        5 => Expr::NormX,
        6 => Expr::NormZ,
        _ => {
            let family = FAMILIES[rng.random_range(0..FAMILIES.len())];
            let arguments = family.slots().iter().map(|slot| argument(rng, slot, shape)).collect();
            Expr::Named(Named { family, arguments })
        }
    }
}

fn argument(rng: &mut impl Rng, slot: &Slot, shape: Shape) -> Argument {
    let spelling = rng.random_range(0..slot.spellings.len());
    let allowed = slot.spellings[spelling].allowed;
    let list = |rng: &mut _, length: usize| (0..length).map(|_| number(rng, allowed)).collect();
    let value = match rng.random_range(0..8) {
        0 if slot.spellings[spelling].per_column => Value::PerColumn(list(rng, shape.columns)),
        1 if shape.unresolved && slot.spellings[spelling].auto.is_some() => Value::Auto,
        2 if shape.unresolved => Value::Tune,
        3 if shape.unresolved && allowed != Allowed::Order => {
            let low = number(rng, Allowed::Positive);
            Value::TuneBetween(low, 2.0 * low)
        }
        4 if shape.unresolved => Value::TuneOver(list(rng, 3)),
        5 if shape.unresolved && slot.spellings[spelling].per_column => {
            let prior =
                Prior::LogNormal { mu: number(rng, Allowed::Finite), s: number(rng, Allowed::Positive) };
            let one = Value::WithPrior(Box::new(Value::Tune), prior);
            if rng.random_bool(0.5) { Value::EachColumn(Box::new(one)) } else { one }
        }
        _ => Value::Number(number(rng, allowed)),
    };
    Argument { spelling, value }
}

fn number(rng: &mut impl Rng, allowed: Allowed) -> f64 {
    let magnitude = match rng.random_range(0..4) {
        0 => f64::from(rng.random_range(1_u8..4)),
        1 => f64::from(rng.random_range(1_u8..16)) / 8.0,
        2 => rng.random_range(0.1..3.0),
        _ => rng.random_range(-1.0_f64..1.0).exp(),
    };
    match allowed {
        Allowed::Finite if rng.random_bool(0.3) => -magnitude,
        Allowed::Order => f64::from(rng.random_range(0_u8..3)),
        _ => magnitude,
    }
}

/// A choice of columns below `columns`, in random order.
fn columns(rng: &mut impl Rng, columns: usize) -> Columns {
    let middle = rng.random_range(0..columns);
    let first = middle..rng.random_range(middle..columns) + 1;
    let before = 0..rng.random_range(0..middle + 1);
    let both = if before.is_empty() { vec![first] } else { vec![first, before] };
    Columns(both)
}
