//! Operations on strips: a node of the program for every pair of a block of rows.

use crate::kernel::{Function, special};

use super::math;
use super::program::Node;
use super::simd::{Element, Simd};

/// Strips of a block, one per register.
pub(super) struct Strips<'a, T> {
    /// Registers of `len` entries, one after the other.
    pub registers: &'a mut [T],
    /// Entries in a register: a multiple of every vector length.
    pub len: usize,
}

impl<T: Element> Strips<'_, T> {
    /// A register's entries.
    pub fn register(&mut self, r: usize) -> &mut [T] {
        &mut self.registers[r * self.len..(r + 1) * self.len]
    }

    #[inline(always)]
    fn unary<S: Simd<T = T>>(&mut self, s: S, out: usize, a: usize, f: impl Fn(S::V) -> S::V) {
        let len = self.len;
        assert!(out.max(a) < self.registers.len() / len && len.is_multiple_of(S::LANES));
        let base = self.registers.as_mut_ptr();
        for k in (0..len).step_by(S::LANES) {
            // SAFETY: both registers are whole by the assertion; a register may be overwritten by its own image, lane by lane.
            unsafe { s.store(base.add(out * len + k), f(s.load(base.add(a * len + k)))) };
        }
    }

    #[inline(always)]
    fn binary<S: Simd<T = T>>(
        &mut self,
        s: S,
        out: usize,
        a: usize,
        b: usize,
        f: impl Fn(S::V, S::V) -> S::V,
    ) {
        let len = self.len;
        assert!(out.max(a).max(b) < self.registers.len() / len && len.is_multiple_of(S::LANES));
        let base = self.registers.as_mut_ptr();
        for k in (0..len).step_by(S::LANES) {
            // SAFETY: as in `unary`.
            unsafe {
                let value = f(s.load(base.add(a * len + k)), s.load(base.add(b * len + k)));
                s.store(base.add(out * len + k), value);
            }
        }
    }

    /// A function without a vector form, entry by entry.
    fn scalar(&mut self, out: usize, a: usize, f: impl Fn(f64) -> f64) {
        for k in 0..self.len {
            let value = f(self.registers[a * self.len + k].to_f64());
            self.registers[out * self.len + k] = T::from_f64(value);
        }
    }

    /// Computes `node` into register `out`, its operands in the registers that `place` names.
    #[inline(always)]
    #[allow(clippy::redundant_closure, reason = "a function passed by name would not be inlined always")]
    pub fn compute<S: Simd<T = T>>(&mut self, s: S, node: Node, out: usize, place: &[usize]) {
        // Closures that use vectors must be inlined for the vectors to stay in registers; the attribute is set here
        // once.
        macro_rules! map {
            ($a:expr, |$v:ident| $value:expr) => {
                self.unary(
                    s,
                    out,
                    place[$a],
                    #[inline(always)]
                    |$v| $value,
                )
            };
            ($a:expr, $b:expr, |$v:ident, $w:ident| $value:expr) => {
                self.binary(
                    s,
                    out,
                    place[$a],
                    place[$b],
                    #[inline(always)]
                    |$v, $w| $value,
                )
            };
        }
        macro_rules! in_double {
            ($a:expr, $f:path) => {
                map!($a, |v| s.in_double(
                    v,
                    #[inline(always)]
                    |wide, v| $f(wide, v)
                ))
            };
        }
        let one = s.number(1.0);
        match node {
            Node::Pair(_) | Node::Point(..) | Node::SameRow => {}
            Node::Number(value) => self.register(out).fill(T::from_f64(value)),
            Node::Affine { of, scale, shift } => {
                let (scale, shift) = (s.number(scale), s.number(shift));
                map!(of, |v| s.mul_add(v, scale, shift));
            }
            Node::Exp { of, slope, shift, scale } => {
                let (slope, shift, factor) = (s.number(slope), s.number(shift), s.number(scale));
                map!(of, |v| s.mul(factor, T::exp(s, s.mul_add(v, slope, shift))));
            }
            Node::Sum(a, b) => map!(a, b, |v, w| s.add(v, w)),
            Node::Product(a, b) => map!(a, b, |v, w| s.mul(v, w)),
            Node::Quotient(a, b) => map!(a, b, |v, w| s.div(v, w)),
            Node::Power(a, b) => {
                map!(a, b, |v, w| s.in_double2(
                    v,
                    w,
                    #[inline(always)]
                    |wide, v, w| math::pow(wide, v, w)
                ));
            }
            Node::IntegerPower(a, 2) => map!(a, |v| s.mul(v, v)),
            Node::IntegerPower(a, 3) => map!(a, |v| s.mul(s.mul(v, v), v)),
            Node::IntegerPower(a, n) => map!(a, |v| integer_power(s, v, n)),
            // As f64::min and f64::max: a number where the other is NaN.
            Node::Least(a, b) => map!(a, b, |v, w| s.select(s.lt(v, w), v, s.select(s.eq(v, v), w, v))),
            Node::Greatest(a, b) => map!(a, b, |v, w| s.select(s.lt(w, v), v, s.select(s.eq(v, v), w, v))),
            Node::Call(function, a) => match function {
                Function::Exp => map!(a, |v| T::exp(s, v)),
                Function::Sqrt => map!(a, |v| s.sqrt(v)),
                Function::Abs => map!(a, |v| s.abs(v)),
                Function::Log => in_double!(a, math::log),
                Function::Sin => in_double!(a, math::sin),
                Function::Cos => in_double!(a, math::cos),
                Function::Tan => in_double!(a, math::tan),
                Function::Sinc => in_double!(a, math::sinc),
                Function::Sinh => in_double!(a, math::sinh),
                Function::Cosh => in_double!(a, math::cosh),
                Function::Tanh => in_double!(a, math::tanh),
                Function::Asin => in_double!(a, math::asin),
                Function::Acos => in_double!(a, math::acos),
                Function::Atan => in_double!(a, math::atan),
                Function::Min | Function::Max => unreachable!("compiled to nodes of two operands"),
            },
            Node::Matern { nu: 1.5, squared } => map!(squared, |v| {
                let r = s.sqrt(not_far(s, v));
                s.mul(s.add(r, one), T::exp(s, s.sub(s.number(0.0), r)))
            }),
            Node::Matern { nu: 2.5, squared } => map!(squared, |v| {
                let v = not_far(s, v);
                let r = s.sqrt(v);
                let polynomial = s.mul_add(v, s.number(1.0 / 3.0), s.add(r, one));
                s.mul(polynomial, T::exp(s, s.sub(s.number(0.0), r)))
            }),
            Node::Matern { nu, squared } => {
                self.scalar(out, place[squared], |v| special::matern(nu, v.sqrt()))
            }
            Node::ArcCosine { order: 0, chord } => in_double!(chord, arc_cosine::<_, 0>),
            Node::ArcCosine { order: 1, chord } => in_double!(chord, arc_cosine::<_, 1>),
            Node::ArcCosine { chord, .. } => in_double!(chord, arc_cosine::<_, 2>),
        }
    }
}

/// A squared distance, at most 10⁶, for which e^(−r) is 0 and a polynomial of r is still finite. NaN stays.
#[inline(always)]
fn not_far<S: Simd>(s: S, v: S::V) -> S::V {
    let far = s.number(1e6);
    s.select(s.lt(far, v), far, v)
}

/// vⁿ by repeated squaring.
#[inline(always)]
fn integer_power<S: Simd>(s: S, v: S::V, n: i32) -> S::V {
    let mut power = s.number(1.0);
    let (mut square, mut left) = (v, n.unsigned_abs());
    while left > 0 {
        if left & 1 == 1 {
            power = s.mul(power, square);
        }
        left >>= 1;
        if left > 0 {
            square = s.mul(square, square);
        }
    }
    if n < 0 { s.div(s.number(1.0), power) } else { power }
}

/// Jₙ(θ)/π for n = `ORDER`, where 2 − 2cos θ is the squared length of the chord.
#[inline(always)]
fn arc_cosine<S: Simd<T = f64>, const ORDER: u8>(s: S, chord: S::V) -> S::V {
    let (zero, one) = (s.number(0.0), s.number(1.0));
    // π − θ by the half angle, from the nearer end of the half circle; clamped against rounding.
    let near = s.lt(chord, s.number(2.0));
    let rest = s.max(zero, s.sub(s.number(4.0), chord));
    let nearer = s.select(near, chord, rest);
    let half = math::asin(s, s.mul(s.number(0.5), s.sqrt(nearer)));
    let angle = s.add(half, half);
    let supplement = s.select(near, s.sub(s.number(std::f64::consts::PI), angle), angle);
    let cosine = s.mul_add(chord, s.number(-0.5), one);
    let sine = s.mul(s.number(0.5), s.sqrt(s.mul(chord, rest)));
    let j = match ORDER {
        0 => supplement,
        1 => s.mul_add(supplement, cosine, sine),
        _ => {
            let weight = s.mul_add(s.mul(s.number(2.0), cosine), cosine, one);
            s.mul_add(supplement, weight, s.mul(s.mul(s.number(3.0), sine), cosine))
        }
    };
    s.mul(j, s.number(std::f64::consts::FRAC_1_PI))
}
