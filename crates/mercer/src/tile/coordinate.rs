//! Statistics that fold a short program over the coordinates: one interpreter for all of them.
//!
//! Every step of the program runs on a vector of columns for [`ROWS`] rows at a time, so that decoding the step costs
//! little compared with it.

use std::ops::Range;

use crate::kernel::lower::{Coordinate, Fold, MAX_STEPS, Step};

use super::simd::{Element, Simd};
use super::sparse::SparseRows;
use super::statistic::{Block, ROWS};

/// Writes the statistic of every pair of the block to `out`, row after row of `panels · PANEL` entries.
#[inline(always)]
pub(super) fn block<S: Simd>(s: S, program: &Coordinate, block: &Block<'_, S::T>, out: &mut [S::T]) {
    let panel = S::T::PANEL;
    let stride = block.panels * panel;
    assert!(block.lane + ROWS <= panel && block.x.len() >= block.width * panel);
    assert!(block.z.len() >= block.panels * block.width * panel && out.len() >= ROWS * stride);
    for p in 0..block.panels {
        for lane in (0..panel).step_by(S::LANES) {
            // SAFETY: by the assertions, rows lane..lane+ROWS are in the x panel, the p-th z panel is whole, and out
            // holds ROWS rows of `stride`.
            unsafe {
                let x = block.x.as_ptr().add(block.lane);
                let z = block.z.as_ptr().add(p * block.width * panel + lane);
                let folded = columns(s, program, block.width, x, z);
                for (r, value) in folded.into_iter().enumerate() {
                    s.store(out.as_mut_ptr().add(r * stride + p * panel + lane), value);
                }
            }
        }
    }
}

/// The folds of [`ROWS`] rows and one vector of columns.
///
/// # Safety
/// `x` and `z` must have `width` groups of `PANEL` entries readable from where they point, less their offset in the first.
#[inline(always)]
unsafe fn columns<S: Simd>(
    s: S,
    program: &Coordinate,
    width: usize,
    x: *const S::T,
    z: *const S::T,
) -> [S::V; ROWS] {
    let last = program.steps().len() + 1;
    let mut values = [[s.number(0.0); ROWS]; MAX_STEPS + 2];
    let mut folded = [s.number(program.fold().neutral()); ROWS];
    for k in 0..width {
        // SAFETY: the caller's promise.
        unsafe {
            values[1] = [s.load(z.add(k * S::T::PANEL)); ROWS];
            for r in 0..ROWS {
                values[0][r] = s.splat(*x.add(k * S::T::PANEL + r));
            }
        }
        for (i, step) in program.steps().iter().enumerate() {
            values[i + 2] = step_of_rows(s, *step, &values);
        }
        for r in 0..ROWS {
            folded[r] = match program.fold() {
                Fold::Sum => s.add(folded[r], values[last][r]),
                Fold::Product => s.mul(folded[r], values[last][r]),
            };
        }
    }
    folded
}

#[inline(always)]
fn step_of_rows<S: Simd>(s: S, step: Step, values: &[[S::V; ROWS]; MAX_STEPS + 2]) -> [S::V; ROWS] {
    let mut out = [s.number(0.0); ROWS];
    macro_rules! each {
        ($a:expr, $b:expr, |$v:ident, $w:ident| $value:expr) => {
            for r in 0..ROWS {
                let ($v, $w) = (values[$a][r], values[$b][r]);
                out[r] = $value;
            }
        };
    }
    match step {
        Step::Number(value) => out = [s.number(value); ROWS],
        Step::Sum(a, b) => each!(a, b, |v, w| s.add(v, w)),
        Step::Product(a, b) => each!(a, b, |v, w| s.mul(v, w)),
        Step::Quotient(a, b) => each!(a, b, |v, w| s.div(v, w)),
        // NaN is propagated from both arguments.
        Step::Least(a, b) => each!(a, b, |v, w| s.select(s.lt(v, w), v, s.select(s.eq(v, v), w, v))),
        Step::Greatest(a, b) => each!(a, b, |v, w| s.select(s.lt(w, v), v, s.select(s.eq(v, v), w, v))),
        Step::Distance(a, b) => each!(a, b, |v, w| s.abs(s.sub(v, w))),
    }
    out
}

/// The statistic of row `i` of `x` with rows `columns` of `z`, in double precision. Costs a step of the program for every
/// feature that either row has.
pub(super) fn sparse_row(
    program: &Coordinate,
    (x, i): (&SparseRows, usize),
    z: &SparseRows,
    columns: Range<usize>,
    out: &mut [f64],
) {
    let of_zeros = program.at(0.0, 0.0);
    for (out, j) in out.iter_mut().zip(columns) {
        let (mut left, mut right) = (x.row(i).peekable(), z.row(j).peekable());
        let (mut folded, mut seen) = (program.fold().neutral(), 0);
        loop {
            let first = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some((k, _)), None) | (None, Some((k, _))) => *k,
                (Some((a, _)), Some((b, _))) => *a.min(b),
            };
            let s = left.next_if(|(k, _)| *k == first).map_or(0.0, |(_, value)| value);
            let t = right.next_if(|(k, _)| *k == first).map_or(0.0, |(_, value)| value);
            folded = program.fold().join(folded, program.at(s, t));
            seen += 1;
        }
        let absent = x.width() - seen;
        *out = match program.fold() {
            Fold::Sum => folded + absent as f64 * of_zeros,
            Fold::Product => folded * of_zeros.powi(absent as i32),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::simd::{Vectorized, each_instruction_set, run_at};

    /// 2 + (s−t)²/(1 + |s−t|) + min(s, t)·max(s, t), which uses every step.
    fn program(fold: Fold) -> Coordinate {
        let steps = vec![
            Step::Number(1.0),
            Step::Distance(0, 1),
            Step::Sum(2, 3),
            Step::Product(3, 3),
            Step::Quotient(5, 4),
            Step::Least(0, 1),
            Step::Greatest(0, 1),
            Step::Product(7, 8),
            Step::Sum(6, 9),
            Step::Sum(2, 10),
            Step::Sum(2, 11),
        ];
        Coordinate::new(fold, steps)
    }

    fn term(s: f64, t: f64) -> f64 {
        2.0 + (s - t).powi(2) / (1.0 + (s - t).abs()) + s * t
    }

    struct Run<'a> {
        program: &'a Coordinate,
        block: Block<'a, f64>,
        out: &'a mut [f64],
    }

    impl Vectorized<f64> for Run<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd<T = f64>>(self, s: S) {
            block(s, self.program, &self.block, self.out);
        }
    }

    #[test]
    fn a_program_is_folded_on_every_instruction_set() {
        let (panel, panels, width, lane) = (f64::PANEL, 2, 5, 8);
        let entry = |i: usize| ((i * 2_654_435_761) % 17) as f64 / 8.0 - 1.0;
        let x: Vec<f64> = (0..width * panel).map(entry).collect();
        let z: Vec<f64> = (0..width * panel * panels).map(|i| entry(i + 5)).collect();
        for fold in [Fold::Sum, Fold::Product] {
            let program = program(fold);
            each_instruction_set(|level| {
                let mut out = vec![f64::NAN; ROWS * panel * panels];
                let block = Block { x: &x, lane, width, z: &z, panels, non_zeros: None };
                run_at(level, Run { program: &program, block, out: &mut out });
                for r in 0..ROWS {
                    for c in 0..panel * panels {
                        let of_column = |k: usize| z[(c / panel) * width * panel + k * panel + c % panel];
                        let terms = (0..width).map(|k| term(x[k * panel + lane + r], of_column(k)));
                        let expected: f64 = if fold == Fold::Sum { terms.sum() } else { terms.product() };
                        let found = out[r * panel * panels + c];
                        assert!((found / expected - 1.0).abs() < 1e-13, "{fold:?}: {found} ≠ {expected}");
                    }
                }
            });
        }
    }

    #[test]
    fn the_scalar_reading_is_the_same() {
        let program = program(Fold::Sum);
        for (s, t) in [(0.0, 0.0), (1.5, -2.0), (-0.25, -3.0), (4.0, 0.5)] {
            assert!((program.at(s, t) - term(s, t)).abs() < 1e-14);
        }
        assert!(program.at(f64::NAN, 1.0).is_nan() && program.at(1.0, f64::NAN).is_nan());
    }
}
