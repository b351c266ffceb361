//! A Gram matrix that is stored.

use std::borrow::Cow;
use std::sync::OnceLock;

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::kernel::Kernel;
use crate::linalg::{products, zeroed};
use crate::real::{Precision, Real};
use crate::tile::{Element, ROWS, ValueBlock};
use crate::watch::{Stopped, Watch};

use super::cpu::accumulate::{ByOutput, forward};
use super::cpu::columns::{ColumnSource, Columns, StoredColumns, gather, runs};
use super::cpu::compact::CompactGram;
use super::cpu::part::{AnySource, apply_part};
use super::cpu::row_sums::row_sums;
use super::engine::{GramError, Part, Resident, Wanted};
use super::operator::{Gram, KeepRows, KernelValues, LinearOperator, RowSums, StoreAs, Stored};
use super::values::{TileMut, Value, ValuesMut, with_values};

/// A symmetric matrix held in full, row after row, in `f64` or `f32`; borrowed or owned.
#[derive(Debug, Clone)]
pub struct DenseGram<'a, T: Real> {
    n: usize,
    entries: Cow<'a, [T]>,
    /// Whether products with several right-hand sides are summed in `T`.
    rounded_products: bool,
    diagonal: OnceLock<Vec<f64>>,
}

impl<'a, T: Real> DenseGram<'a, T> {
    /// A matrix over existing entries.
    ///
    /// # Panics
    /// If there are not n² of them.
    #[must_use]
    pub fn new(n: usize, entries: impl Into<Cow<'a, [T]>>) -> Self {
        let entries = entries.into();
        assert_eq!(entries.len(), n * n, "a {n} × {n} matrix");
        Self { n, entries, rounded_products: false, diagonal: OnceLock::new() }
    }

    /// The same matrix, whose products with several right-hand sides at a time are faster and summed in `T`.
    #[must_use]
    pub(crate) fn for_products(self) -> Self {
        Self { rounded_products: true, ..self }
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
        assert_eq!(out.len(), self.entries.len(), "a {0} × {0} matrix", self.n);
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

/// [`Gram::store`] for a matrix in this machine's memory.
pub(super) fn store_as<G: Gram + AnySource>(
    gram: &G,
    form: StoreAs,
    watch: &dyn Watch,
) -> Result<Stored, Stopped> {
    match form {
        StoreAs::F64 => Ok(Stored::Gram(Box::new(DenseGram::<f64>::filled(gram, watch)?))),
        StoreAs::F32 => Ok(Stored::Gram(Box::new(DenseGram::<f32>::filled(gram, watch)?))),
        StoreAs::I16 => {
            let operator = CompactGram::store(gram, watch)?;
            let rounding = operator.rounding();
            Ok(Stored::Products { operator: Box::new(operator), rounding })
        }
    }
}

impl<T: Value> DenseGram<'static, T> {
    /// The kernel matrix of `samples` with themselves. O(n²d) time, O(n²) memory.
    ///
    /// # Errors
    /// If the kernel does not fit the samples, or if `watch` stops the work.
    pub fn compute(samples: &dyn Resident, kernel: &Kernel, watch: &dyn Watch) -> Result<Self, GramError> {
        let gram = samples.gram(kernel, Wanted::Exact)?;
        Ok(Self { rounded_products: false, ..Self::filled(&*gram, watch)? })
    }

    /// All values of `gram`, for products.
    fn filled(gram: &dyn Gram, watch: &dyn Watch) -> Result<Self, Stopped> {
        let n = gram.nrows();
        let mut entries: Vec<T> = zeroed(n * n);
        gram.fill(Part::Full, (&mut entries).into(), watch)?;
        Ok(Self { rounded_products: true, ..Self::new(n, entries) })
    }
}

impl StoreAs {
    /// Bytes that a matrix of order n takes.
    #[must_use]
    pub fn bytes(self, n: usize) -> u64 {
        let entries = (n as u64).saturating_mul(n as u64);
        match self {
            Self::F64 => entries.saturating_mul(8),
            Self::F32 => entries.saturating_mul(4),
            Self::I16 => CompactGram::bytes(n),
        }
    }

    /// |Ev|/|v|, approximately, for the errors E of a matrix of order n whose values span `range` within each tile.
    #[must_use]
    pub fn rounding(self, n: usize, range: f64) -> f64 {
        match self {
            Self::F64 => 0.5 * f64::EPSILON * (n as f64).sqrt() * range,
            Self::F32 => 0.5 * f64::from(f32::EPSILON) * (n as f64).sqrt() * range,
            Self::I16 => CompactGram::rounding_over(n, range),
        }
    }
}

/// Columns multiplied at a time: a block of their rows stays in the second-level cache.
const STRIP: usize = 1024;

/// Rows that one task multiplies by several right-hand sides; constant, so that the order of summation is fixed.
const PRODUCT_ROWS: usize = 128;

/// The number of right-hand sides from which a matrix product is faster than one row at a time.
const PRODUCT_FROM: usize = 3;

impl<T: Value> DenseGram<'_, T> {
    /// A product that is summed in `T`.
    fn multiply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (n, m) = (self.n, rhs.ncols());
        // A power of two brings the right-hand sides into the range of single precision and changes no digit.
        let largest = rhs.entries().iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let unit = if largest > 0.0 && largest.is_finite() { 2f64.powi(largest.log2() as i32) } else { 1.0 };
        let rhs: Vec<T> = rhs.entries().iter().map(|v| T::from_f64(v / unit)).collect();
        let rhs = MatRef::from_row_major_slice(&rhs, n, m);
        let bands = out
            .entries_mut()
            .par_chunks_mut(PRODUCT_ROWS * m)
            .zip(self.entries.par_chunks((PRODUCT_ROWS * n).max(1)));
        bands.try_for_each_init(
            || vec![T::default(); PRODUCT_ROWS * m],
            |product, (out, rows)| {
                watch.check()?;
                let height = out.len() / m;
                let rows = MatRef::from_row_major_slice(rows, height, n);
                let to = MatMut::from_row_major_slice_mut(&mut product[..out.len()], height, m);
                products::assign(to, 1.0, rows, rhs);
                out.iter_mut().zip(product.iter()).for_each(|(o, p)| *o = p.to_f64() * unit);
                Ok(())
            },
        )
    }
}

impl<T: Value> LinearOperator for DenseGram<'_, T> {
    fn nrows(&self) -> usize {
        self.n
    }

    fn ncols(&self) -> usize {
        self.n
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        assert!(rhs.nrows() == self.n && out.nrows() == self.n && out.ncols() == rhs.ncols());
        let (n, outputs) = (self.n, rhs.ncols());
        if self.rounded_products && outputs >= PRODUCT_FROM {
            return self.multiply(out, rhs, watch);
        }
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

impl<T: Value> KernelValues for DenseGram<'_, T> {
    fn fill(&self, _: Part, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
        with_values!(ValuesMut, out, out => self.copy_to(out, watch))
    }
}

impl<T: Value, O: Real> ColumnSource<O> for DenseGram<'_, T> {
    fn order(&self) -> usize {
        self.n
    }

    fn value_cost(&self) -> usize {
        0
    }

    fn columns<'a>(&'a self, columns: &[usize]) -> Box<dyn Columns<O> + 'a> {
        Box::new(StoredColumns { order: self.n, entries: &self.entries, columns: columns.to_vec() })
    }
}

impl<T: Value + Element> Gram for DenseGram<'_, T> {
    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn cost(&self) -> usize {
        0
    }

    fn diagonal(&self) -> Cow<'_, [f64]> {
        let entry = |i: usize| self.entries[i * self.n + i].to_f64();
        Cow::Borrowed(self.diagonal.get_or_init(|| (0..self.n).map(entry).collect()))
    }

    fn block(&self, rows: &[usize], columns: &[usize], out: TileMut<'_>) {
        let (places, segments) = out.places(rows.len(), columns.len());
        let pieces: Vec<_> = segments.into_iter().map(|s| (runs(&columns[s.from.clone()]), s)).collect();
        with_values!(ValuesMut, out.values, values => {
            for (&i, place) in rows.iter().zip(places) {
                for (runs, segment) in &pieces {
                    let to = &mut values[place * out.stride + segment.at..][..segment.from.len()];
                    gather(self.row(i), runs, to);
                }
            }
        });
    }

    fn apply_part(
        &self,
        columns: &[usize],
        rows: &[usize],
        rhs: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        apply_part::<T>(self, [columns, rows], rhs, out, watch)
    }

    fn row_sums<'a>(&'a self, columns: &[usize], keep: KeepRows) -> Box<dyn RowSums + 'a> {
        row_sums(self, columns, keep)
    }

    fn store(&self, form: StoreAs, watch: &dyn Watch) -> Result<Stored, Stopped> {
        store_as(self, form, watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    #[test]
    fn a_product_matches_the_matrix() {
        let n = PRODUCT_ROWS + 70;
        let entry = |i: usize, j: usize| 1.0 / (1.0 + (i as f64 - j as f64).abs());
        let gram = DenseGram::<f64>::new(n, (0..n * n).map(|k| entry(k / n, k % n)).collect::<Vec<_>>());
        for outputs in [1, 2, 5] {
            // Far outside of what single precision can hold.
            let rhs =
                Matrix::from_entries(n, outputs, (0..n * outputs).map(|k| 1e60 * (k as f64).cos()).collect());
            let mut expected = Matrix::zeros(n, outputs);
            for i in 0..n {
                for (o, e) in expected.row_mut(i).iter_mut().enumerate() {
                    *e = (0..n).map(|j| entry(i, j) * rhs.row(j)[o]).sum::<f64>();
                }
            }
            for (form, digits) in [(StoreAs::F64, 1e-15), (StoreAs::F32, 1e-7)] {
                let Stored::Gram(stored) = gram.store(form, &Unwatched).unwrap() else { panic!("values") };
                let mut found = Matrix::zeros(n, outputs);
                stored.apply(&mut found, &rhs, &Unwatched).unwrap();
                let pairs = found.entries().iter().zip(expected.entries());
                pairs.for_each(|(f, e)| assert!((f - e).abs() < digits * 1e60 * n as f64, "{f} is not {e}"));
            }
        }
    }

    #[test]
    fn blocks_leave_padding_alone() {
        use crate::gram::Segment;
        let gram = DenseGram::<f64>::new(4, (0..16).map(f64::from).collect::<Vec<_>>());
        let mut out = vec![-1f32; 2 * 6];
        let columns = [Segment { from: 0..2, at: 0 }, Segment { from: 2..3, at: 4 }];
        let tile = TileMut { values: (&mut out).into(), stride: 6, rows: &[], columns: &columns };
        gram.block(&[3, 1], &[0, 2, 3], tile);
        assert_eq!(out, [12.0, 14.0, -1.0, -1.0, 15.0, -1.0, 4.0, 6.0, -1.0, -1.0, 7.0, -1.0]);
    }
}
