//! The factor F of K ≈ FFᵀ on a device, in single precision and column-major.

use mercer::data::Matrix as Dense;
use mercer::gram::{Gram, LowRankFactor, NewColumns, Penalty};
use mercer::linalg::SymmetricMatrix;
use mercer::real::Precision;
use mercer::watch::{Stopped, Watch};

use crate::blas::{Op, Side};
use crate::dense::{self, DeviceMatrix};
use crate::device::{Bytes, Device, Ended, Grid, arguments, check};
use crate::error::CudaError;
use crate::matrix::Matrix;
use crate::rows::address;

/// F of a kernel matrix on the device that computes it.
pub(crate) struct DeviceLowRank {
    matrix: Matrix,
    values: Bytes,
    columns: usize,
    /// The most columns.
    capacity: usize,
}

/// Numbers converted to double precision at a time.
const WIDENED: usize = 1 << 27;

impl DeviceLowRank {
    /// An empty factor, with room for `rank` columns. The caller holds the device's lock.
    pub fn new(matrix: &Matrix, rank: usize) -> Result<Self, CudaError> {
        let values = matrix.device().allocate(matrix.features().count * rank * 4)?;
        Ok(Self { matrix: matrix.clone(), values, columns: 0, capacity: rank })
    }

    fn device(&self) -> &Device {
        self.matrix.device()
    }

    /// The address of a column.
    fn column(&self, column: usize) -> u64 {
        address(self.device(), &self.values) + (column * self.nrows() * 4) as u64
    }

    /// One thread for each of `count` items of a function of `dense.cuh`.
    ///
    /// # Safety
    /// As [`dense::launch`].
    unsafe fn launch(
        &self,
        name: &str,
        count: usize,
        arguments: &[*const std::ffi::c_void],
    ) -> Result<(), CudaError> {
        // SAFETY: the caller's promise.
        unsafe { dense::launch(self.device(), Precision::Single, name, Grid::over(count), arguments) }
    }

    fn gather_rows(&self, rows: &[usize]) -> Result<Vec<f64>, Ended> {
        let count = rows.len() * self.columns;
        let mut found = vec![0f32; count];
        let device = self.device();
        let index = device.upload(&rows.iter().map(|&row| row as i32).collect::<Vec<_>>())?;
        let out = device.allocate(count * 4)?;
        let (from, height, chosen) = (self.column(0), self.nrows() as i64, address(device, &index));
        let (rows, columns, to) = (rows.len() as i64, self.columns as i64, address(device, &out));
        let arguments = arguments![from, height, chosen, rows, columns, to];
        // SAFETY: the arguments of `gather_rows`, which writes `count` numbers.
        unsafe { self.launch("gather_rows", count, &arguments)? };
        device.download(&out, &mut found)?;
        Ok(found.into_iter().map(f64::from).collect())
    }

    fn append(&mut self, new: &NewColumns<'_>, residual: &mut [f64], watch: &dyn Watch) -> Result<(), Ended> {
        let (device, n, width, known) = (self.device(), self.nrows(), new.chosen.len(), self.columns);
        check(watch)?;
        let narrow = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
        let (rows, lower) = (device.upload(&narrow(&new.rows))?, device.upload(&narrow(&new.lower))?);
        let to = self.column(known);
        self.matrix.fill_rows(new.chosen, to, Precision::Single)?;
        let blas = device.blas()?;
        // SAFETY: F has `known` columns of n entries, and room for `width` more; F_S is `known` × `width` and L of order `width`, as
        // the library sees them.
        unsafe {
            blas.multiply(
                Precision::Single,
                (Op::AsIs, Op::AsIs),
                (n, width, known),
                (-1.0, (self.column(0), n), (address(device, &rows), known.max(1))),
                (1.0, (to, n)),
            )?;
            let triangle = (address(device, &lower), width);
            blas.solve(Precision::Single, (Side::Right, Op::AsIs), (n, width), triangle, (to, n))?;
        }
        let left = device.upload(residual)?;
        let (height, columns, at) = (n as i64, width as i64, address(device, &left));
        let arguments = arguments![to, height, columns, at];
        // SAFETY: the arguments of `subtract_squares`, which writes a number for each row.
        unsafe { self.launch("subtract_squares", n, &arguments)? };
        device.download(&left, residual)?;
        self.columns += width;
        Ok(())
    }

    fn moment(&self, lambda: f64, watch: &dyn Watch) -> Result<DeviceMatrix, Ended> {
        let (device, n, k) = (self.matrix.shared_device(), self.nrows(), self.columns);
        let height = (WIDENED / k.max(1)).clamp(1, n.max(1));
        let wide = device.allocate(height * k * 8)?;
        let sums = device.zeros(k * k * 8)?;
        let (from, rows, columns, to) = (self.column(0), n as i64, k as i64, address(device, &wide));
        watch.begin("preconditioner", n as u64);
        for first in (0..n).step_by(height) {
            check(watch)?;
            let here = height.min(n - first);
            let (start, count) = (first as i64, here as i64);
            let arguments = arguments![from, rows, start, count, columns, to];
            // SAFETY: the arguments of `widen_rows`, which writes `here` · k numbers; the library adds their products to k² sums.
            unsafe {
                self.launch("widen_rows", here * k, &arguments)?;
                device.blas()?.add_square(
                    Op::Transposed,
                    (k, here),
                    (to, here),
                    (address(device, &sums), k),
                )?;
            }
            device.wait()?;
            watch.advance(here as u64);
        }
        let mut moment = DeviceMatrix::new(device, k, Precision::Double, sums);
        moment.regularise(Penalty::uniform(lambda))?;
        Ok(moment)
    }
}

impl LowRankFactor for DeviceLowRank {
    fn nrows(&self) -> usize {
        self.matrix.features().count
    }

    fn ncols(&self) -> usize {
        self.columns
    }

    fn rows(&self, rows: &[usize]) -> Result<Vec<f64>, Stopped> {
        assert!(rows.iter().all(|&row| row < self.nrows()), "rows of the factor");
        if self.columns == 0 {
            return Ok(Vec::new());
        }
        let _work = self.device().lock();
        self.device().record_fault(self.gather_rows(rows))
    }

    fn extend(
        &mut self,
        _: &dyn Gram,
        new: &NewColumns<'_>,
        residual: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let (width, known) = (new.chosen.len(), self.columns);
        assert!(known + width <= self.capacity, "{} columns at most", self.capacity);
        assert!(new.rows.len() == width * known && new.lower.len() == width * width, "shapes of new columns");
        assert_eq!(residual.len(), self.nrows(), "one residual for each row");
        if new.chosen.is_empty() {
            return Ok(());
        }
        let device = std::sync::Arc::clone(self.matrix.shared_device());
        let _work = device.lock();
        device.record_fault(self.append(new, residual, watch))
    }

    fn finish(&mut self) {}

    fn scale_rows(&mut self, factors: &[f64]) -> Result<(), Stopped> {
        assert_eq!(factors.len(), self.nrows(), "one factor for each row");
        let device = self.device();
        let _work = device.lock();
        let scale = || -> Result<(), Ended> {
            let by = device.upload(factors)?;
            let (at, rows, columns, by_at) =
                (self.column(0), self.nrows() as i64, self.columns as i64, address(device, &by));
            let arguments = arguments![at, rows, columns, by_at];
            // SAFETY: the arguments of `scale_rows`; there is a factor for each row.
            unsafe { self.launch("scale_rows", self.nrows(), &arguments)? };
            Ok(device.wait()?)
        };
        device.record_fault(scale())
    }

    fn second_moment(&self, lambda: f64, watch: &dyn Watch) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let _work = self.device().lock();
        Ok(Box::new(self.device().record_fault(self.moment(lambda, watch))?))
    }

    fn transposed_times(&self, v: &Dense<f64>, watch: &dyn Watch) -> Result<Dense<f64>, Stopped> {
        assert_eq!(v.nrows(), self.nrows(), "rows of the right-hand sides");
        watch.check()?;
        let (device, k, outputs) = (self.device(), self.columns, v.ncols());
        let _work = device.lock();
        let mut found = Dense::zeros(k, outputs);
        let mut product = || -> Result<(), Ended> {
            let (right, out) = (device.upload(v.entries())?, device.allocate(k * outputs * 8)?);
            let (from, rows, right_at) = (self.column(0), self.nrows() as i64, address(device, &right));
            let (count, to) = (outputs as i64, address(device, &out));
            let arguments = arguments![from, rows, right_at, count, to];
            let grid = Grid { blocks: (k, 1), threads: 256, shared: 0 };
            // SAFETY: the arguments of `transposed_times`, which writes `outputs` numbers for each of k columns.
            unsafe { dense::launch(device, Precision::Single, "transposed_times", grid, &arguments)? };
            Ok(device.download(&out, found.entries_mut())?)
        };
        device.record_fault(product())?;
        Ok(found)
    }

    fn subtract_product(
        &self,
        u: &Dense<f64>,
        out: &mut Dense<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        assert!(u.nrows() == self.columns && out.nrows() == self.nrows() && out.ncols() == u.ncols());
        watch.check()?;
        let (device, outputs) = (self.device(), u.ncols());
        let _work = device.lock();
        let mut product = || -> Result<(), Ended> {
            let (right, sums) = (device.upload(u.entries())?, device.upload(out.entries())?);
            let (from, rows, columns) = (self.column(0), self.nrows() as i64, self.columns as i64);
            let (right_at, count, to) = (address(device, &right), outputs as i64, address(device, &sums));
            let arguments = arguments![from, rows, columns, right_at, count, to];
            // SAFETY: the arguments of `subtract_product`, which writes `outputs` numbers for each row.
            unsafe { self.launch("subtract_product", self.nrows(), &arguments)? };
            Ok(device.download(&sums, out.entries_mut())?)
        };
        device.record_fault(product())
    }
}
