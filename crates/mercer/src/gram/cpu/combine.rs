//! Passes over vectors of sums: adding rows of kernel values, and finding the extremes.

use crate::tile::{Element, Simd, Vectorized};

/// `out` += Σᵣ factorᵣ·rowᵣ, the sums running in the order of the rows.
pub(crate) struct Combine<'a, T> {
    pub out: &'a mut [f64],
    pub rows: &'a [&'a [T]],
    pub factors: &'a [f64],
}

impl<T: Element> Vectorized<T> for Combine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let (w, lanes) = (s.wide(), <S::Wide as Simd>::LANES);
        let n = self.out.len();
        assert!(self.rows.iter().all(|row| row.len() >= n) && self.rows.len() == self.factors.len());
        let whole = n - n % (4 * lanes);
        for (rows, factors) in self.rows.chunks(8).zip(self.factors.chunks(8)) {
            for k in (0..whole).step_by(4 * lanes) {
                // SAFETY: four vectors from k on are inside of the sums and of every row, by the assertion.
                unsafe {
                    let out = self.out.as_mut_ptr().add(k);
                    let mut sums: [_; 4] = [
                        w.load(out),
                        w.load(out.add(lanes)),
                        w.load(out.add(2 * lanes)),
                        w.load(out.add(3 * lanes)),
                    ];
                    for (row, &factor) in rows.iter().zip(factors) {
                        let factor = w.splat(factor);
                        let [a, b] = s.load_wide(row.as_ptr().add(k));
                        let [c, d] = s.load_wide(row.as_ptr().add(k + 2 * lanes));
                        sums[0] = w.mul_add(factor, a, sums[0]);
                        sums[1] = w.mul_add(factor, b, sums[1]);
                        sums[2] = w.mul_add(factor, c, sums[2]);
                        sums[3] = w.mul_add(factor, d, sums[3]);
                    }
                    for (i, sum) in sums.into_iter().enumerate() {
                        w.store(out.add(i * lanes), sum);
                    }
                }
            }
            for k in whole..n {
                for (row, &factor) in rows.iter().zip(factors) {
                    self.out[k] = factor.mul_add(row[k].to_f64(), self.out[k]);
                }
            }
        }
    }
}

/// The least f + up and the greatest f + low, over slices of any length.
pub(crate) struct LeastAndGreatest<'a> {
    pub f: &'a [f64],
    pub up: &'a [f64],
    pub low: &'a [f64],
}

impl Vectorized<f64> for LeastAndGreatest<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<S: Simd<T = f64>>(self, s: S) -> (f64, f64) {
        let n = self.f.len();
        assert!(self.up.len() == n && self.low.len() == n);
        let whole = n - n % S::LANES;
        let (mut least, mut most) = (s.splat(f64::INFINITY), s.splat(f64::NEG_INFINITY));
        for k in (0..whole).step_by(S::LANES) {
            // SAFETY: a vector from k on is inside of every slice.
            unsafe {
                let f = s.load(self.f.as_ptr().add(k));
                least = s.min(s.add(f, s.load(self.up.as_ptr().add(k))), least);
                most = s.max(s.add(f, s.load(self.low.as_ptr().add(k))), most);
            }
        }
        let (mut least, mut most) = (fold(s, least, f64::min), fold(s, most, f64::max));
        for k in whole..n {
            least = least.min(self.f[k] + self.up[k]);
            most = most.max(self.f[k] + self.low[k]);
        }
        (least, most)
    }
}

/// Folds the lanes of a vector.
#[inline(always)]
pub(crate) fn fold<S: Simd<T = f64>>(s: S, v: S::V, f: fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    // SAFETY: no vector of `f64` has more lanes.
    unsafe { s.store(lanes.as_mut_ptr(), v) };
    lanes[1..S::LANES].iter().fold(lanes[0], |a, &b| f(a, b))
}
