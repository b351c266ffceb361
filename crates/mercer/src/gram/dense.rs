//! A Gram matrix that is stored.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::data::Matrix;
use crate::kernel::Kernel;
use crate::linalg::zeroed;
use crate::real::{Precision, Real};
use crate::tile::{ROWS, ValueBlock};
use crate::watch::{Stopped, Watch};

use super::accumulate::{ByOutput, forward};
use super::columns::StoredColumns;
use super::engine::{GramError, Part, Resident};
use super::operator::{Columns, Gram, KernelValues, LinearOperator};

/// A symmetric matrix held in full, row after row, in `f64` or `f32`; borrowed or owned.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseGram<'a, T: Real> {
    n: usize,
    entries: Cow<'a, [T]>,
}

impl<'a, T: Real> DenseGram<'a, T> {
    /// A matrix over existing entries.
    ///
    /// # Panics
    /// Where there are not n² of them.
    #[must_use]
    pub fn new(n: usize, entries: impl Into<Cow<'a, [T]>>) -> Self {
        let entries = entries.into();
        assert_eq!(entries.len(), n * n, "a {n} × {n} matrix");
        Self { n, entries }
    }

    /// The entries, row after row.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// The entries as a vector, row after row.
    #[must_use]
    pub fn into_entries(self) -> Vec<T> {
        self.entries.into_owned()
    }

    fn copy_to<O: Real>(&self, out: &mut [O], watch: &dyn Watch) -> Result<(), Stopped> {
        let width = self.n.max(1);
        out.par_chunks_mut(width).zip(self.entries.par_chunks(width)).try_for_each(|(out, row)| {
            watch.check()?;
            out.iter_mut().zip(row).for_each(|(o, k)| *o = O::from_f64(k.to_f64()));
            Ok(())
        })
    }

    fn row(&self, i: usize) -> &[T] {
        &self.entries[i * self.n..(i + 1) * self.n]
    }
}

impl DenseGram<'static, f64> {
    /// The kernel matrix of `samples` with themselves. O(n²d) time, O(n²) memory.
    ///
    /// # Errors
    /// Where the kernel does not fit the samples, or where `watch` stops the work.
    pub fn compute(samples: &dyn Resident, kernel: &Kernel, watch: &dyn Watch) -> Result<Self, GramError> {
        let n = samples.nrows();
        let mut entries = zeroed(n * n);
        samples.gram(kernel)?.fill_f64(Part::Full, &mut entries, watch)?;
        Ok(Self::new(n, entries))
    }
}

impl DenseGram<'static, f32> {
    /// As for `f64`, in half the memory.
    ///
    /// # Errors
    /// Where the kernel does not fit the samples, or where `watch` stops the work.
    pub fn compute(samples: &dyn Resident, kernel: &Kernel, watch: &dyn Watch) -> Result<Self, GramError> {
        let n = samples.nrows();
        let mut entries = zeroed(n * n);
        samples.gram(kernel)?.fill_f32(Part::Full, &mut entries, watch)?;
        Ok(Self::new(n, entries))
    }
}

/// Columns that are multiplied at a time: a block of rows of them stays in the second-level cache.
const STRIP: usize = 1024;

impl<T: Real> LinearOperator for DenseGram<'_, T> {
    fn nrows(&self) -> usize {
        self.n
    }

    fn ncols(&self) -> usize {
        self.n
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        assert!(rhs.nrows() == self.n && out.nrows() == self.n && out.ncols() == rhs.ncols());
        let (n, outputs) = (self.n, rhs.ncols());
        let rhs = ByOutput::columns_of(rhs);
        out.entries_mut().par_chunks_mut((ROWS * outputs).max(1)).enumerate().try_for_each_init(
            || vec![0.0; ROWS * STRIP],
            |values, (band, out)| {
                watch.check()?;
                let rows = band * ROWS..n.min((band + 1) * ROWS);
                let mut sums = ByOutput::zeros(rows.len(), outputs);
                for first in (0..n).step_by(STRIP) {
                    let cols = STRIP.min(n - first);
                    for (i, strip) in rows.clone().zip(values.chunks_exact_mut(STRIP)) {
                        let row = &self.row(i)[first..first + cols];
                        strip.iter_mut().zip(row).for_each(|(s, k)| *s = k.to_f64());
                    }
                    let block = ValueBlock { rows: rows.clone(), values, stride: STRIP };
                    forward(&block, first, cols, &rhs, &mut sums, rows.start, &mut Vec::new());
                }
                for (i, out) in out.chunks_exact_mut(outputs).enumerate() {
                    out.iter_mut().enumerate().for_each(|(o, out)| *out = sums.entry(i, o));
                }
                Ok(())
            },
        )
    }
}

impl<T: Real> KernelValues for DenseGram<'_, T> {
    fn fill_f64(&self, _: Part, out: &mut [f64], watch: &dyn Watch) -> Result<(), Stopped> {
        self.copy_to(out, watch)
    }

    fn fill_f32(&self, _: Part, out: &mut [f32], watch: &dyn Watch) -> Result<(), Stopped> {
        self.copy_to(out, watch)
    }
}

impl<T: Real> Gram for DenseGram<'_, T> {
    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn columns<'a>(&'a self, cols: &[usize]) -> Box<dyn Columns + 'a> {
        Box::new(StoredColumns::new(self.n, &self.entries, cols))
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.n).map(|i| self.entries[i * self.n + i].to_f64()).collect()
    }

    fn diagonal_at(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&i| self.entries[i * self.n + i].to_f64()).collect()
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: &mut [f64]) {
        assert_eq!(out.len(), rows.len() * cols.len(), "rows × columns of the block");
        for (&i, out) in rows.iter().zip(out.chunks_mut(cols.len().max(1))) {
            let row = self.row(i);
            for (o, &j) in out.iter_mut().zip(cols) {
                *o = row[j].to_f64();
            }
        }
    }
}
