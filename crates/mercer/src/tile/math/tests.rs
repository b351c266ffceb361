//! Every function, on every instruction set this machine has, against extended precision or the standard library.

use rayon::prelude::*;

use super::super::simd::{Element, InstructionSet, Simd, Vectorized, each_instruction_set, run_at};
use super::*;

/// Applies a function to a slice whose length is a multiple of every vector length.
struct Map<'a, T, F> {
    values: &'a mut [T],
    function: F,
}

/// A vector function by name, so that it can be called with any instruction set.
trait Function<T>: Copy + Sync {
    fn call<S: Simd<T = T>>(self, s: S, x: S::V) -> S::V;
}

macro_rules! function {
    ($name:ident, $t:ty, $f:path) => {
        #[derive(Clone, Copy)]
        struct $name;
        impl Function<$t> for $name {
            #[inline(always)]
            fn call<S: Simd<T = $t>>(self, s: S, x: S::V) -> S::V {
                $f(s, x)
            }
        }
    };
}

function!(Exp32, f32, exp_f32);
function!(Exp, f64, exp_f64);
function!(Log, f64, log);
function!(Sin, f64, sin);
function!(Cos, f64, cos);
function!(Tan, f64, tan);
function!(Sinc, f64, sinc);
function!(Sinh, f64, sinh);
function!(Cosh, f64, cosh);
function!(Tanh, f64, tanh);
function!(Asin, f64, asin);
function!(Acos, f64, acos);
function!(Atan, f64, atan);

/// x to the power held by the function.
#[derive(Clone, Copy)]
struct Pow(f64);

impl Function<f64> for Pow {
    #[inline(always)]
    fn call<S: Simd<T = f64>>(self, s: S, x: S::V) -> S::V {
        pow(s, x, s.splat(self.0))
    }
}

impl<T: Element, F: Function<T>> Vectorized<T> for Map<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        for chunk in self.values.chunks_exact_mut(S::LANES) {
            // SAFETY: the chunk has as many entries as the vector.
            unsafe { s.store(chunk.as_mut_ptr(), self.function.call(s, s.load(chunk.as_ptr()))) };
        }
    }
}

/// |found − expected| in units of the last place of `expected`; 0 where both are the same infinity or NaN.
fn ulps(found: f64, expected: f64) -> f64 {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let size = expected.abs().max(f64::MIN_POSITIVE);
    let ulp = size.next_up() - size;
    let error = (found - expected).abs() / ulp;
    if error.is_nan() { f64::INFINITY } else { error }
}

#[test]
fn single_exp_on_every_float_that_matters() {
    const CHUNK: u32 = 1 << 16;
    each_instruction_set(|set| {
        // On the widest set every number whose exponential is neither 0 nor infinite nor 1 to single precision; one chunk in 97 of the
        // others, and on the other sets.
        let wanted = |&chunk: &u32| {
            let size = f32::from_bits(chunk * CHUNK).abs();
            chunk % 97 == 0 || set == InstructionSet::widest() && (1e-9..128.0).contains(&size)
        };
        (0..=u32::MAX / CHUNK).into_par_iter().filter(wanted).for_each(|chunk| {
            let input: Vec<f32> = (0..CHUNK).map(|i| f32::from_bits(chunk * CHUNK + i)).collect();
            let mut found = input.clone();
            run_at(set, Map { values: &mut found, function: Exp32 });
            // The double-precision exponential, itself tested below, rounds correctly here but for ties.
            let mut expected: Vec<f64> = input.iter().map(|x| f64::from(*x)).collect();
            run_at(InstructionSet::widest(), Map { values: &mut expected, function: Exp });
            for ((x, found), expected) in input.iter().zip(&found).zip(&expected) {
                let rounded = *expected as f32;
                if found.to_bits() == rounded.to_bits() || (found.is_nan() && x.is_nan()) {
                    continue;
                }
                let size = rounded.abs().max(f32::MIN_POSITIVE);
                let ulp = f64::from(size) - f64::from(size.next_down());
                let error = (f64::from(*found) - expected).abs() / ulp;
                assert!(error <= 2.0, "exp({x:e}) = {found:e}, should be {expected:e}: {error} ulp");
            }
        });
    });
}

/// e^x as an unevaluated sum of two doubles, from the Taylor series in double-double arithmetic.
fn exp_extended(x: f64) -> (f64, f64) {
    let two_sum = |a: f64, b: f64| {
        let s = a + b;
        let t = s - a;
        (s, (a - (s - t)) + (b - t))
    };
    let two_product = |a: f64, b: f64| (a * b, a.mul_add(b, -(a * b)));
    // x = n·ln 2 + r, with ln 2 in three parts; then r/2⁸ and eight squarings.
    let n = (x / std::f64::consts::LN_2).round();
    let (p, e) = two_product(n, std::f64::consts::LN_2);
    let (hi, lo) = two_sum(x, -p);
    let (hi, lo) = two_sum(hi, lo - e - n * 2.319_046_813_846_299_6e-17);
    let (hi, lo) = (hi / 256.0, lo / 256.0);
    let multiply = |(a, b): (f64, f64), (c, d): (f64, f64)| {
        let (p, e) = two_product(a, c);
        two_sum(p, e + (a * d + b * c))
    };
    let add = |(a, b): (f64, f64), (c, d): (f64, f64)| {
        let (s, e) = two_sum(a, c);
        two_sum(s, e + b + d)
    };
    let mut sum = (0.0, 0.0);
    for k in (1..=12).rev() {
        // (1 + sum)·r/k
        let (q, e) = (1.0 / f64::from(k), 0.0);
        let inverse = (q, e + (-q).mul_add(f64::from(k), 1.0) / f64::from(k));
        sum = multiply(multiply(add((1.0, 0.0), sum), (hi, lo)), inverse);
    }
    // (1+s)² − 1 = 2s + s², which keeps the small part small.
    for _ in 0..8 {
        sum = add((2.0 * sum.0, 2.0 * sum.1), multiply(sum, sum));
    }
    let (hi, lo) = add((1.0, 0.0), sum);
    (
        hi * 2f64.powi(n as i32 / 2) * 2f64.powi(n as i32 - n as i32 / 2),
        lo * 2f64.powi(n as i32 / 2) * 2f64.powi(n as i32 - n as i32 / 2),
    )
}

#[test]
fn double_exp_on_ten_million_points() {
    const POINTS: u32 = 10_000_000;
    const CHUNK: u32 = 8_000;
    each_instruction_set(|set| {
        let points = if set == InstructionSet::widest() { POINTS } else { POINTS / 50 };
        (0..points / CHUNK).into_par_iter().for_each(|chunk| {
            // Evenly over the range of normal results, and over small arguments.
            let input: Vec<f64> = (0..CHUNK)
                .map(|i| {
                    let t = f64::from(chunk * CHUNK + i) / f64::from(points);
                    if i % 4 == 0 { (t - 0.5) * 2.0 } else { -708.0 + 1417.0 * t }
                })
                .collect();
            let mut found = input.clone();
            run_at(set, Map { values: &mut found, function: Exp });
            for (x, found) in input.iter().zip(&found) {
                let (hi, lo) = exp_extended(*x);
                let ulp = hi.next_up() - hi;
                let error = ((found - hi) - lo).abs() / ulp;
                assert!(error <= 1.0, "exp({x}) is off by {error} ulp");
            }
        });
    });
}

#[test]
fn double_exp_at_the_ends() {
    each_instruction_set(|set| {
        let mut values =
            [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 709.782_712_893_384, 709.8, -745.2];
        run_at(set, Map { values: &mut values, function: Exp });
        assert_eq!(&values[..4], [1.0, 1.0, f64::INFINITY, 0.0]);
        assert!(values[4].is_nan());
        assert!(values[5].is_finite() && values[6] == f64::INFINITY && values[7] == 0.0);
        let mut values = [-709.0, -720.0, -730.0, -740.0, -745.0, -745.13, -746.0, -800.0];
        let expected = values.map(f64::exp);
        run_at(set, Map { values: &mut values, function: Exp });
        for (found, expected) in values.iter().zip(expected) {
            assert!((found - expected).abs() <= 5e-324, "{found:e} {expected:e}");
        }
    });
}

/// Compares with the standard library, which is itself within 1 ulp here.
fn compare<F: Function<f64>>(
    name: &str,
    function: F,
    standard: fn(f64) -> f64,
    range: [f64; 2],
    allowed: f64,
) {
    const POINTS: usize = 160_000;
    each_instruction_set(|set| {
        let mut input: Vec<f64> = (0..POINTS)
            .map(|i| range[0] + (range[1] - range[0]) * (i as f64 + 0.37) / POINTS as f64)
            .collect();
        input.extend([0.0, range[0], range[1], 1e-300, f64::NAN, 0.5, 1e-9, 0.999_999_999]);
        let mut found = input.clone();
        run_at(set, Map { values: &mut found, function });
        for (x, found) in input.iter().zip(&found) {
            let error = ulps(*found, standard(*x));
            assert!(error <= allowed, "{name}({x:e}) = {found:e}, should be {:e}: {error} ulp", standard(*x));
        }
    });
}

#[test]
fn functions_agree_with_the_standard_library() {
    compare("log", Log, f64::ln, [1e-12, 50.0], 2.0);
    compare("log", Log, f64::ln, [0.6, 1.5], 2.0);
    compare("log", Log, f64::ln, [-1.0, 1e300], 2.0);
    compare("sin", Sin, f64::sin, [-30.0, 30.0], 2.0);
    compare("sin", Sin, f64::sin, [-2e6, 2e6], 2.0);
    compare("cos", Cos, f64::cos, [-30.0, 30.0], 2.0);
    compare("cos", Cos, f64::cos, [-2e6, 2e6], 2.0);
    compare("tan", Tan, f64::tan, [-30.0, 30.0], 3.0);
    let sinc = |x: f64| crate::kernel::Function::Sinc.apply(&[x]);
    compare("sinc", Sinc, sinc, [-30.0, 30.0], 3.0);
    compare("sinc", Sinc, sinc, [-2e6, 2e6], 3.0);
    compare("sinc", Sinc, sinc, [0.0, 1e-300], 3.0);
    compare("sinh", Sinh, f64::sinh, [-3.0, 3.0], 2.0);
    compare("sinh", Sinh, f64::sinh, [-715.0, 715.0], 2.0);
    compare("cosh", Cosh, f64::cosh, [-715.0, 715.0], 2.0);
    compare("cosh", Cosh, f64::cosh, [-3.0, 3.0], 2.0);
    compare("tanh", Tanh, f64::tanh, [-3.0, 3.0], 2.0);
    compare("tanh", Tanh, f64::tanh, [-300.0, 300.0], 2.0);
    compare("asin", Asin, f64::asin, [-1.1, 1.1], 2.0);
    compare("acos", Acos, f64::acos, [-1.1, 1.1], 2.0);
    compare("atan", Atan, f64::atan, [-50.0, 50.0], 2.0);
    compare("atan", Atan, f64::atan, [-1.0, 1.0], 2.0);
}

#[test]
fn powers_agree_with_the_standard_library() {
    for power in [0.5, -0.7, 1.0 / 3.0, 2.5, -12.25, 17.0] {
        each_instruction_set(|set| {
            let mut input: Vec<f64> = (0..80_000).map(|i| (f64::from(i) + 0.31) * 0.003).collect();
            input.extend([0.0, -0.0, -2.0, f64::INFINITY, f64::NAN, 1e-310, 1.0, f64::NEG_INFINITY]);
            let mut found = input.clone();
            run_at(set, Map { values: &mut found, function: Pow(power) });
            for (x, found) in input.iter().zip(&found) {
                let error = ulps(*found, x.powf(power));
                assert!(
                    error <= 2.0,
                    "{x:e}^{power} = {found:e}, should be {:e}: {error} ulp",
                    x.powf(power)
                );
            }
        });
    }
}
