//! Sums of kernel rows over chosen columns.

use mercer::data::Matrix as Dense;
use mercer::gram::{Ends, RowSums, TileMut, ValuesRef};
use mercer::watch::{Stopped, Unwatched, Watch};

use crate::device::Ended;
use crate::matrix::{Matrix, scatter};
use crate::rows::Features;

/// Rows of a kernel matrix over chosen columns, whose features stay on the device.
pub(crate) struct CudaRowSums<'a> {
    matrix: &'a Matrix,
    /// The chosen columns, by their index in the matrix.
    chosen: Vec<usize>,
    /// Their features; `None` if the device had no room for them, which the next call reports.
    columns: Option<Features>,
    evaluations: u64,
}

impl<'a> CudaRowSums<'a> {
    pub fn new(matrix: &'a Matrix, columns: &[usize]) -> Self {
        let mut sums = Self { matrix, chosen: columns.to_vec(), columns: None, evaluations: 0 };
        sums.prepare();
        sums
    }

    fn prepare(&mut self) {
        let _work = self.matrix.device().lock();
        self.columns = match self.matrix.chosen(&self.chosen) {
            Ok(columns) => Some(columns),
            Err(error) => {
                self.matrix.device().set_fault(error);
                None
            }
        };
    }
}

impl RowSums for CudaRowSums<'_> {
    fn add(
        &mut self,
        terms: &[(usize, f64)],
        f: &mut [f64],
        ends: Option<Ends<'_>>,
        watch: &dyn Watch,
    ) -> Result<Vec<(f64, f64)>, Stopped> {
        assert_eq!(f.len(), self.chosen.len(), "one sum for each column");
        if !terms.is_empty() && !f.is_empty() {
            let columns = self.columns.as_ref().ok_or(Stopped)?;
            let (rows, factors): (Vec<usize>, Vec<f64>) = terms.iter().copied().unzip();
            let rhs = Dense::from_entries(rows.len(), 1, factors);
            let mut sums = Dense::zeros(f.len(), 1);
            {
                let _work = self.matrix.device().lock();
                let ended = (|| {
                    let rows = self.matrix.chosen(&rows)?;
                    self.matrix.multiply_columns(columns, &rows, &rhs, &mut sums, watch)
                })();
                self.matrix.device().record_fault(ended)?;
            }
            f.iter_mut().zip(sums.entries()).for_each(|(f, sum)| *f += sum);
            self.evaluations += (terms.len() * f.len()) as u64;
        }
        Ok(ends.map_or_else(Vec::new, |ends| ends.extremes(0, f)))
    }

    /// NaN everywhere if the device fails.
    fn rows(&mut self, rows: &[usize], mut out: TileMut<'_>) {
        let width = self.chosen.len();
        let matrix = self.matrix;
        let ended = match &self.columns {
            None => Err(Ended::Stopped),
            Some(columns) => {
                let _work = matrix.device().lock();
                (|| {
                    let x = matrix.chosen(rows)?;
                    matrix.values(&x, columns, |_| width, &Unwatched, &mut |first, band| {
                        scatter(&mut out, rows.len(), width, first, band);
                    })
                })()
            }
        };
        if matrix.device().record_fault(ended).is_err() {
            let nothing = vec![f64::NAN; rows.len() * width];
            scatter(&mut out, rows.len(), width, 0, ValuesRef::F64(&nothing));
        }
        self.evaluations += (rows.len() * width) as u64;
    }

    fn narrow(&mut self, kept: &[usize]) {
        self.chosen = kept.iter().map(|&k| self.chosen[k]).collect();
        self.prepare();
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}
