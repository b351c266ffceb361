//! Passes over the gradient, which every step repeats, in vector code.
//!
//! Kernel values come in single or double precision; sums are `f64`.

use crate::gram::fold;
use crate::tile::{Element, Simd, Vectorized};

/// Slots are processed in groups of this many: two of the widest vectors of `f64`.
pub(super) const GROUP: usize = 16;

/// The two ends of the gradient: its minimum among variables that may grow, and its maximum among those that may
/// shrink. Their difference is the violation of the optimality conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extremes {
    /// min f + up.
    pub least: f64,
    /// The first slot where it is attained.
    pub at: usize,
    /// max f + low.
    pub most: f64,
}

impl Extremes {
    /// The violation of the optimality conditions; negative infinity if no pair can change.
    pub fn violation(self) -> f64 {
        self.most - self.least
    }
}

/// f += step·(a − b), then the extremes of f + up and f + low. All slices have the same length, a multiple of
/// [`GROUP`]; if the step is 0, a and b are not read.
pub(super) struct Advance<'a, T> {
    pub f: &'a mut [f64],
    pub step: f64,
    pub a: &'a [T],
    pub b: &'a [T],
    pub up: &'a [f64],
    pub low: &'a [f64],
}

impl<T: Element> Vectorized<T> for Advance<'_, T> {
    type Output = Extremes;

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) -> Extremes {
        let (w, lanes) = (s.wide(), <S::Wide as Simd>::LANES);
        let n = self.f.len();
        let moves = self.step != 0.0;
        assert!(n.is_multiple_of(GROUP) && [self.up.len(), self.low.len()] == [n; 2]);
        assert!(!moves || [self.a.len(), self.b.len()] == [n; 2]);
        let step = w.splat(self.step);
        let mut best = Least::new(w);
        let mut most = [w.splat(f64::NEG_INFINITY); 2];
        for k in (0..n).step_by(2 * lanes) {
            // SAFETY: two vectors from k on are inside of every slice, by the assertions.
            unsafe {
                let at = self.f.as_mut_ptr().add(k);
                let mut f = [w.load(at), w.load(at.add(lanes))];
                if moves {
                    let (a, b) = (s.load_wide(self.a.as_ptr().add(k)), s.load_wide(self.b.as_ptr().add(k)));
                    for half in 0..2 {
                        f[half] = w.mul_add(step, w.sub(a[half], b[half]), f[half]);
                        w.store(at.add(half * lanes), f[half]);
                    }
                }
                let mut sums = f;
                for half in 0..2 {
                    let (at, f) = (k + half * lanes, f[half]);
                    sums[half] = w.add(f, w.load(self.up.as_ptr().add(at)));
                    most[half] = w.max(w.add(f, w.load(self.low.as_ptr().add(at))), most[half]);
                }
                best.offer(w, sums);
            }
        }
        let (least, at) = best.finish(w);
        let most = fold(w, w.max(most[0], most[1]), f64::max);
        Extremes { least, at, most }
    }
}

/// The least value so far and its position, in each lane of two vectors.
struct Least<S: Simd<T = f64>> {
    value: [S::V; 2],
    place: [S::V; 2],
    here: [S::V; 2],
}

/// Most lanes of a vector of `f64`.
const LANES: usize = 8;

impl<S: Simd<T = f64>> Least<S> {
    #[inline(always)]
    fn new(s: S) -> Self {
        let numbers: [f64; 2 * LANES] = std::array::from_fn(|i| i as f64);
        // SAFETY: two vectors have at most as many lanes.
        let here = unsafe { [s.load(numbers.as_ptr()), s.load(numbers.as_ptr().add(S::LANES))] };
        Self { value: [s.splat(f64::INFINITY); 2], place: [s.splat(-1.0); 2], here }
    }

    /// The next two vectors of values.
    #[inline(always)]
    fn offer(&mut self, s: S, values: [S::V; 2]) {
        let next = s.splat((2 * S::LANES) as f64);
        for half in 0..2 {
            let less = s.lt(values[half], self.value[half]);
            self.value[half] = s.select(less, values[half], self.value[half]);
            self.place[half] = s.select(less, self.here[half], self.place[half]);
            self.here[half] = s.add(self.here[half], next);
        }
    }

    /// The least value and its first position.
    #[inline(always)]
    fn finish(self, s: S) -> (f64, usize) {
        let mut found = (f64::INFINITY, usize::MAX);
        for half in 0..2 {
            let (values, places) = (lanes(s, self.value[half]), lanes(s, self.place[half]));
            for (&value, &place) in values.iter().zip(&places).take(S::LANES) {
                if place >= 0.0 && (value < found.0 || (value == found.0 && (place as usize) < found.1)) {
                    found = (value, place as usize);
                }
            }
        }
        found
    }
}

#[inline(always)]
fn lanes<S: Simd<T = f64>>(s: S, v: S::V) -> [f64; LANES] {
    let mut out = [0.0; LANES];
    // SAFETY: no vector of `f64` has more lanes.
    unsafe { s.store(out.as_mut_ptr(), v) };
    out
}

/// The slot j with the largest predicted gain for a chosen i: the largest b²/a with b = f_j + low_j − (f_i + up_i) > 0
/// and a = K_ii + K_jj − 2K_ij, floored (Fan, Chen and Lin 2005, WSS 2). Yields the slot and its b²/a.
pub(super) struct Second<'a, T> {
    pub f: &'a [f64],
    pub low: &'a [f64],
    pub diagonal: &'a [f64],
    /// Row i of the matrix.
    pub row: &'a [T],
    /// K_ii.
    pub own: f64,
    /// f_i + up_i.
    pub least: f64,
}

/// The lower bound on the curvature of a pair, as in the convergence proof of the second-order rule.
pub(super) const CURVATURE_FLOOR: f64 = 1e-12;

impl<T: Element> Vectorized<T> for Second<'_, T> {
    type Output = (usize, f64);

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) -> (usize, f64) {
        let (w, lanes_) = (s.wide(), <S::Wide as Simd>::LANES);
        let n = self.f.len();
        assert!(n.is_multiple_of(GROUP) && [self.low.len(), self.diagonal.len(), self.row.len()] == [n; 3]);
        let (zero, floor) = (w.splat(0.0), w.splat(CURVATURE_FLOOR));
        let (least, own, minus_two) = (w.splat(self.least), w.splat(self.own), w.splat(-2.0));
        let numbers: [f64; 2 * LANES] = std::array::from_fn(|i| i as f64);
        // SAFETY: two vectors have at most as many lanes.
        let mut here = unsafe { [w.load(numbers.as_ptr()), w.load(numbers.as_ptr().add(lanes_))] };
        let next = w.splat((2 * lanes_) as f64);
        // Fractions are compared by cross-multiplication: a division would cost more than everything else.
        let (mut over, mut under) = ([zero; 2], [w.splat(1.0); 2]);
        let mut place = [w.splat(-1.0); 2];
        for k in (0..n).step_by(2 * lanes_) {
            // SAFETY: two vectors from k on are inside of every slice, by the assertions.
            unsafe {
                let row = s.load_wide(self.row.as_ptr().add(k));
                for half in 0..2 {
                    let at = k + half * lanes_;
                    let f = w.add(w.load(self.f.as_ptr().add(at)), w.load(self.low.as_ptr().add(at)));
                    let b = w.max(w.sub(f, least), zero);
                    let curvature = w.add(own, w.load(self.diagonal.as_ptr().add(at)));
                    let curvature = w.max(w.mul_add(minus_two, row[half], curvature), floor);
                    let gain = w.mul(b, b);
                    let better = w.lt(w.mul(over[half], curvature), w.mul(gain, under[half]));
                    over[half] = w.select(better, gain, over[half]);
                    under[half] = w.select(better, curvature, under[half]);
                    place[half] = w.select(better, here[half], place[half]);
                    here[half] = w.add(here[half], next);
                }
            }
        }
        let mut found = (usize::MAX, 0.0);
        for half in 0..2 {
            let (over, under) = (lanes(w, over[half]), lanes(w, under[half]));
            let place = lanes(w, place[half]);
            for lane in 0..lanes_ {
                let (gain, at) = (over[lane] / under[lane], place[lane]);
                if at >= 0.0 && (gain > found.1 || (gain == found.1 && (at as usize) < found.0)) {
                    found = (at as usize, gain);
                }
            }
        }
        found
    }
}
