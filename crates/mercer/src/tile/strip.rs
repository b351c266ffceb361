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
    pub fn compute<S: Simd<T = T>>(&mut self, s: S, node: Node, out: usize, place: &[usize]) {
        match node {
            Node::Pair(_) | Node::Point(..) => {}
            Node::Number(value) => self.register(out).fill(T::from_f64(value)),
            Node::Affine { of, scale, shift } => {
                let (scale, shift) = (s.number(scale), s.number(shift));
                self.unary(
                    s,
                    out,
                    place[of],
                    #[inline(always)]
                    |v| s.mul_add(v, scale, shift),
                );
            }
            Node::Exp { of, slope, shift, scale } => {
                let (slope, shift, factor) = (s.number(slope), s.number(shift), s.number(scale));
                if scale == 1.0 {
                    self.unary(
                        s,
                        out,
                        place[of],
                        #[inline(always)]
                        |v| T::exp(s, s.mul_add(v, slope, shift)),
                    );
                } else {
                    self.unary(
                        s,
                        out,
                        place[of],
                        #[inline(always)]
                        |v| s.mul(factor, T::exp(s, s.mul_add(v, slope, shift))),
                    );
                }
            }
            Node::Sum(a, b) => self.binary(
                s,
                out,
                place[a],
                place[b],
                #[inline(always)]
                |a, b| s.add(a, b),
            ),
            Node::Product(a, b) => self.binary(
                s,
                out,
                place[a],
                place[b],
                #[inline(always)]
                |a, b| s.mul(a, b),
            ),
            Node::Quotient(a, b) => self.binary(
                s,
                out,
                place[a],
                place[b],
                #[inline(always)]
                |a, b| s.div(a, b),
            ),
            Node::Power(a, b) => {
                self.binary(
                    s,
                    out,
                    place[a],
                    place[b],
                    #[inline(always)]
                    |a, b| {
                        s.in_double2(
                            a,
                            b,
                            #[inline(always)]
                            |w, a, b| math::pow(w, a, b),
                        )
                    },
                );
            }
            Node::IntegerPower(a, n) => self.unary(
                s,
                out,
                place[a],
                #[inline(always)]
                |v| integer_power(s, v, n),
            ),
            Node::Call(function, a) => self.call(s, function, out, place[a]),
            Node::Least(a, b) => self.binary(
                s,
                out,
                place[a],
                place[b],
                #[inline(always)]
                |a, b| s.select(s.lt(a, b), a, s.select(s.eq(b, b), b, a)),
            ),
            Node::Greatest(a, b) => self.binary(
                s,
                out,
                place[a],
                place[b],
                #[inline(always)]
                |a, b| s.select(s.lt(b, a), a, s.select(s.eq(b, b), b, a)),
            ),
            Node::Matern { nu: 1.5, squared } => self.unary(
                s,
                out,
                place[squared],
                #[inline(always)]
                |v| {
                    let r = s.sqrt(v);
                    s.mul(s.add(r, s.number(1.0)), T::exp(s, s.sub(s.number(0.0), r)))
                },
            ),
            Node::Matern { nu: 2.5, squared } => self.unary(
                s,
                out,
                place[squared],
                #[inline(always)]
                |v| {
                    let r = s.sqrt(v);
                    let polynomial = s.mul_add(v, s.number(1.0 / 3.0), s.add(r, s.number(1.0)));
                    s.mul(polynomial, T::exp(s, s.sub(s.number(0.0), r)))
                },
            ),
            Node::Matern { nu, squared } => {
                self.scalar(
                    out,
                    place[squared],
                    #[inline(always)]
                    |v| special::matern(nu, v.sqrt()),
                );
            }
            Node::ArcCosine { order, chord } => {
                self.scalar(
                    out,
                    place[chord],
                    #[inline(always)]
                    |v| angle_part(order, v),
                );
            }
        }
    }
}

impl<T: Element> Strips<'_, T> {
    /// A function of one argument.
    #[inline(always)]
    fn call<S: Simd<T = T>>(&mut self, s: S, function: Function, out: usize, a: usize) {
        macro_rules! in_double {
            ($f:path) => {
                self.unary(
                    s,
                    out,
                    a,
                    #[inline(always)]
                    |v| {
                        s.in_double(
                            v,
                            #[inline(always)]
                            |w, v| $f(w, v),
                        )
                    },
                )
            };
        }
        match function {
            Function::Exp => self.unary(
                s,
                out,
                a,
                #[inline(always)]
                |v| T::exp(s, v),
            ),
            Function::Sqrt => self.unary(
                s,
                out,
                a,
                #[inline(always)]
                |v| s.sqrt(v),
            ),
            Function::Abs => self.unary(
                s,
                out,
                a,
                #[inline(always)]
                |v| s.abs(v),
            ),
            Function::Log => in_double!(math::log),
            Function::Sin => in_double!(math::sin),
            Function::Cos => in_double!(math::cos),
            Function::Tan => in_double!(math::tan),
            Function::Sinh => in_double!(math::sinh),
            Function::Cosh => in_double!(math::cosh),
            Function::Tanh => in_double!(math::tanh),
            Function::Asin => in_double!(math::asin),
            Function::Acos => in_double!(math::acos),
            Function::Atan => in_double!(math::atan),
            Function::Min | Function::Max => unreachable!("compiled to nodes of two operands"),
        }
    }
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

/// Jₙ(θ)/π where 2 − 2cos θ is the squared length of the chord.
fn angle_part(order: u8, chord: f64) -> f64 {
    use std::f64::consts::PI;
    let half = |squared: f64| 2.0 * (0.5 * squared.max(0.0).sqrt()).min(1.0).asin();
    // π − θ, from the nearer end of the half circle.
    let supplement = if chord <= 2.0 { PI - half(chord) } else { half(4.0 - chord) };
    let cosine = 1.0 - 0.5 * chord;
    let sine = (chord * (1.0 - 0.25 * chord)).max(0.0).sqrt();
    let j = match order {
        0 => supplement,
        1 => sine + supplement * cosine,
        _ => 3.0 * sine * cosine + supplement * (1.0 + 2.0 * cosine * cosine),
    };
    j / PI
}
