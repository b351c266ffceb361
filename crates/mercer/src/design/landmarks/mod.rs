//! Nyström features: whitened kernel values with a few landmarks.
//!
//! With landmarks c₁ … c_M, K_MM = LLᵀ their kernel matrix and k(x) the kernel of x with each of them,
//!
//! ```text
//! φ(x) = L⁻¹k(x),     ⟨φ(x),φ(z)⟩ = k(x)ᵀ K_MM⁻¹ k(z):
//! ```
//!
//! the kernel's best approximation on the span of k(c₁,·) … k(c_M,·), exact between landmarks (Williams and Seeger 2001).
//! Any other root of K_MM⁻¹ gives the same features up to a rotation. Redundant landmarks, such as duplicates, are left
//! out, so that L is well conditioned.

mod choice;
mod factor;

use std::ops::Range;

use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::{AnySamples, Matrix, Samples, Storage, with_samples};
use crate::gram::{DenseGram, GramError, Part, Value, ValuesMut, Wanted, randomly_pivoted, with_values};
use crate::kernel::Kernel;
use crate::linalg::{Cholesky, Scalar, products, zeroed};
use crate::real::Real;
use crate::session::Session;
use crate::watch::Watch;

use super::error::{DesignError, check_columns, check_memory};
use super::held::solve_upper;

pub use choice::LandmarkChoice;
pub use factor::LandmarkFactor;

/// Rows whose kernel values with the landmarks are held at a time.
const BAND: usize = 1024;

/// Columns of a triangular solve per task.
const SOLVE: usize = 64;

/// Nyström features of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    kernel: Kernel,
    landmarks: AnySamples<'static>,
    /// L, row-major.
    whitening: Vec<f64>,
    narrow: Vec<f32>,
}

impl Landmarks {
    /// Features with `count` landmarks chosen among `samples`.
    ///
    /// # Errors
    /// If `count` is 0 or more than the number of samples, if [`with_landmarks`](Self::with_landmarks) fails, or if
    /// the session is stopped.
    pub fn choose(
        kernel: &Kernel,
        samples: &AnySamples<'_>,
        count: usize,
        choice: LandmarkChoice,
        session: &Session<'_>,
    ) -> Result<Self, DesignError> {
        let rows = choice.choose(kernel, samples, count, session)?;
        Self::with_landmarks(kernel, &samples.select(&rows), None, session)
    }

    /// Features with these landmarks, without those whose residual on the span of the others is at most `tolerance`
    /// times the largest kernel value; by default M·2⁻⁵² for double-precision landmarks and 10⁻⁶ for single ones, the
    /// rounding errors of kernel values.
    ///
    /// M³/3 multiply-adds and M² numbers for M landmarks.
    ///
    /// # Errors
    /// If there are no landmarks, if the kernel does not fit them or has no finite value between two of them or is zero
    /// on all, if M² numbers do not fit the memory, or if the session is stopped.
    pub fn with_landmarks(
        kernel: &Kernel,
        landmarks: &AnySamples<'_>,
        tolerance: Option<f64>,
        session: &Session<'_>,
    ) -> Result<Self, DesignError> {
        let m = landmarks.nrows();
        if m == 0 {
            return Err(DesignError::parameter("the number of landmarks", 0, "1 or more"));
        }
        check_memory("the kernel matrix of the landmarks", m, m, 16, session.memory())?;
        let tolerance = match (tolerance, landmarks) {
            (Some(tolerance), _) if (0.0..1.0).contains(&tolerance) => tolerance,
            (Some(tolerance), _) => {
                return Err(DesignError::parameter("the tolerance", tolerance, "0 or more and below 1"));
            }
            (None, _) => factor::rounding(landmarks),
        };
        // In double precision for samples of either precision: the factor magnifies errors of the kernel.
        let resident = session.load(&landmarks.widened())?;
        let mut matrix: Vec<f64> = zeroed(m * m);
        let gram = resident.gram(kernel, Wanted::Exact)?;
        gram.fill(Part::Full, (&mut matrix).into(), session).map_err(GramError::from)?;
        if let Some(place) = matrix.iter().position(|k| !k.is_finite()) {
            return Err(DesignError::KernelValue { row: place / m, column: place % m });
        }
        let largest = (0..m).map(|i| matrix[i * m + i]).fold(0.0, f64::max);
        if let Ok(factor) = Cholesky::try_factor(m, matrix.clone(), session)?
            && factor.smallest_pivot() > tolerance * largest
        {
            return Ok(Self::new(kernel, landmarks.view().into_owned(), factor));
        }
        // Some landmark is redundant: keep those that a pivoted factorisation keeps.
        let gram = DenseGram::new(m, matrix);
        let mut tolerance = tolerance.max(f64::EPSILON);
        loop {
            let mut kept = randomly_pivoted::<f64>(&gram, m, tolerance, 0, session)?.pivots;
            kept.sort_unstable();
            if kept.is_empty() {
                return Err(DesignError::NoRank);
            }
            let among: Vec<f64> = kept
                .iter()
                .flat_map(|&i| kept.iter().map(move |&j| (i, j)))
                .map(|(i, j)| gram.entries()[i * m + j])
                .collect();
            if let Ok(factor) = Cholesky::try_factor(kept.len(), among, session)? {
                return Ok(Self::new(kernel, landmarks.select(&kept), factor));
            }
            // In another order, rounding errors can exceed a residual just above the tolerance.
            tolerance *= 4.0;
        }
    }

    /// Features of given landmarks and the lower-triangular L they are whitened with, row-major: the results of
    /// [`landmarks`](Self::landmarks) and [`whitening`](Self::whitening).
    ///
    /// # Errors
    /// If L is not a finite matrix of that order with a positive diagonal.
    pub fn from_parts(
        kernel: Kernel,
        landmarks: AnySamples<'static>,
        whitening: Vec<f64>,
    ) -> Result<Self, DesignError> {
        let m = landmarks.nrows();
        if m == 0 || whitening.len() != m * m {
            return Err(DesignError::parameter(
                "the number of entries of the whitening matrix",
                whitening.len(),
                format!("{}: the square of the number of landmarks, which must be positive", m * m),
            ));
        }
        for i in 0..m {
            let row = &whitening[i * m..][..=i];
            if let Some(bad) = row.iter().find(|v| !v.is_finite()).or((row[i] <= 0.0).then_some(&row[i])) {
                return Err(DesignError::parameter(
                    "an entry of the whitening matrix",
                    bad,
                    "finite, and positive on the diagonal",
                ));
            }
        }
        kernel.check_columns(landmarks.ncols()).map_err(GramError::from)?;
        let narrow = whitening.iter().map(|v| *v as f32).collect();
        Ok(Self { kernel, landmarks, whitening, narrow })
    }

    fn new(kernel: &Kernel, landmarks: AnySamples<'static>, factor: Cholesky<f64>) -> Self {
        let m = factor.order();
        let mut whitening = factor.into_lower();
        (0..m).for_each(|i| whitening[i * m + i + 1..(i + 1) * m].fill(0.0));
        let narrow = whitening.iter().map(|v| *v as f32).collect();
        Self { kernel: kernel.clone(), landmarks, whitening, narrow }
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The landmarks that are used.
    #[must_use]
    pub fn landmarks(&self) -> &AnySamples<'static> {
        &self.landmarks
    }

    /// L, row-major, zeros above the diagonal.
    #[must_use]
    pub fn whitening(&self) -> &[f64] {
        &self.whitening
    }

    /// Columns of the samples.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.landmarks.ncols()
    }

    /// M, the number of landmarks and of features.
    #[must_use]
    pub fn count(&self) -> usize {
        self.landmarks.nrows()
    }

    /// L⁻ᵀw: the coefficients of k(c₁,·) … k(c_M,·) in the function with weights w on the features.
    #[must_use]
    pub fn coefficients(&self, mut weights: Matrix<f64>) -> Matrix<f64> {
        solve_upper(&self.whitening, &mut weights);
        weights
    }

    /// Writes the features of some rows of `samples` to `out`, row after row, computed in the precision of `out`.
    ///
    /// # Errors
    /// If the samples have another number of columns, or if the session is stopped.
    ///
    /// # Panics
    /// If `out` does not have an entry for each row and feature.
    pub fn fill(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: ValuesMut<'_>,
        session: &Session<'_>,
    ) -> Result<(), DesignError> {
        match out {
            ValuesMut::F32(out) => self.fill_as(samples, rows, out, Some(&self.narrow), session),
            ValuesMut::F64(out) => self.fill_as(samples, rows, out, Some(&self.whitening), session),
        }
    }

    /// As [`fill`](Self::fill), of k(x) in place of φ(x).
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    ///
    /// # Panics
    /// As [`fill`](Self::fill).
    pub fn fill_kernel_values(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: ValuesMut<'_>,
        session: &Session<'_>,
    ) -> Result<(), DesignError> {
        with_values!(ValuesMut, out, out => self.fill_as(samples, rows, out, None, session))
    }

    /// k of every row, whitened if L is given.
    fn fill_as<T: Scalar + Value>(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [T],
        lower: Option<&[T]>,
        session: &Session<'_>,
    ) -> Result<(), DesignError> {
        check_columns(samples, self.columns())?;
        let m = self.count();
        assert_eq!(out.len(), rows.len() * m, "the features of each row");
        let centres = session.load(&self.landmarks)?;
        let lower = lower.map(|lower| MatRef::from_row_major_slice(lower, m, m));
        let mut kernel = zeroed(m * BAND.min(rows.len()));
        for (start, out) in rows.clone().step_by(BAND).zip(out.chunks_mut(BAND * m)) {
            session.check()?;
            let count = out.len() / m;
            let queries = session.load(&rows_of(samples, start..start + count))?;
            let kernel = &mut kernel[..m * count];
            // Landmarks come first: both sides are then centred on the means of the landmarks before distances are
            // computed.
            let cross = centres.cross(&self.kernel, &*queries)?;
            cross.fill(Part::Full, T::erase_mut(kernel), session)?;
            let mut parts = Vec::new();
            let mut rest = MatMut::from_row_major_slice_mut(kernel, m, count);
            while rest.ncols() > 0 {
                let width = SOLVE.min(rest.ncols());
                let (part, after) = rest.split_at_col_mut(width);
                parts.push(part);
                rest = after;
            }
            out.par_chunks_mut(SOLVE * m).zip(parts).for_each(|(out, mut part)| {
                if let Some(lower) = lower {
                    products::solve_lower(lower, part.rb_mut());
                }
                for (c, out) in out.chunks_exact_mut(m).enumerate() {
                    out.iter_mut().enumerate().for_each(|(k, o)| *o = part[(k, c)]);
                }
            });
        }
        Ok(())
    }
}

/// Some rows, borrowed where they are dense.
fn rows_of<'a>(samples: &'a AnySamples<'_>, rows: Range<usize>) -> AnySamples<'a> {
    fn dense<'a, T: Real>(samples: &'a Samples<'_, T>, rows: &Range<usize>) -> Option<Samples<'a, T>> {
        let Storage::Dense(entries) = samples.storage() else { return None };
        let d = samples.ncols();
        Samples::dense(rows.len(), d, &entries[rows.start * d..rows.end * d]).ok()
    }
    let borrowed = with_samples!(samples, samples => dense(samples, &rows).map(AnySamples::from));
    borrowed.unwrap_or_else(|| samples.select(&rows.collect::<Vec<_>>()))
}
