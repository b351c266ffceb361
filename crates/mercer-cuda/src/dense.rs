//! Symmetric matrices and their Cholesky factors on a device.
//!
//! The lower triangle of a matrix is stored row after row. cuBLAS and cuSOLVER use column-major order: for them it is
//! the upper triangle, and the factor is U = Lᵀ. Work proceeds in blocks of rows, so that each call is short enough for
//! a quick stop:
//!
//! ```text
//! A_j  ← A_j − L_j L_:ᵀ      the rows of block j, with all that is known to its left
//! L_jj ← chol(A_jj),   L_ij ← A_ij L_jj⁻ᵀ   for the rows i below
//! ```

use std::ffi::c_void;
use std::sync::Arc;

use mercer::data::Matrix as Dense;
use mercer::gram::Penalty;
use mercer::linalg::{CholeskyError, CholeskyFactor, HostMatrix, SymmetricMatrix};
use mercer::real::Precision;
use mercer::watch::{Stopped, Watch};

use crate::blas::{At, Op, Side};
use crate::device::{Bytes, Device, Ended, Grid, arguments, check};
use crate::error::CudaError;
use crate::rows::address;

const DENSE: &str = include_str!("kernels/dense.cuh");

/// Operations of a product that take about 0.15 s.
const PIECE: f64 = 8e12;

/// Rows of the inverted part of a block.
const INVERSE: usize = 512;

/// Launches a function of `dense.cuh`, with `real` of this precision.
///
/// # Safety
/// The arguments must be those of the function, and its accesses must stay within what they point to.
pub(crate) unsafe fn launch(
    device: &Device,
    precision: Precision,
    name: &str,
    grid: Grid,
    arguments: &[*const c_void],
) -> Result<(), CudaError> {
    let real = if precision == Precision::Single { "float" } else { "double" };
    let function = device.function(&format!("typedef {real} real;\n{DENSE}"), name, 0)?;
    // SAFETY: the caller's promise.
    unsafe { device.launch(&function, grid, arguments) }
}

/// A block of threads for each row.
fn by_rows(rows: usize) -> Grid {
    Grid { blocks: (rows, 1), threads: 256, shared: 0 }
}

/// A symmetric matrix in the memory of a device.
#[derive(Debug)]
pub(crate) struct DeviceMatrix {
    device: Arc<Device>,
    order: usize,
    precision: Precision,
    values: Bytes,
}

impl DeviceMatrix {
    /// The matrix whose lower triangle `values` holds, row after row.
    pub fn new(device: &Arc<Device>, order: usize, precision: Precision, values: Bytes) -> Self {
        Self { device: Arc::clone(device), order, precision, values }
    }

    /// Adds a penalty. The caller holds the device's lock.
    pub fn regularise(&mut self, penalty: Penalty<'_>) -> Result<(), CudaError> {
        let Penalty { lambda, root_weights, noise } = penalty;
        let is_whole = |values: Option<&[f64]>| values.is_none_or(|values| values.len() == self.order);
        assert!(is_whole(root_weights) && is_whole(noise), "a number for each row");
        let upload = |values: Option<&[f64]>| values.map(|values| self.device.upload(values)).transpose();
        let (roots, noise) = (upload(root_weights)?, upload(noise)?);
        let optional = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, |bytes| address(&self.device, bytes));
        let (at, order) = (address(&self.device, &self.values), self.order as i64);
        let (roots_at, noise_at) = (optional(&roots), optional(&noise));
        let arguments = arguments![at, order, lambda, roots_at, noise_at];
        // SAFETY: the arguments of `regularise`, which writes rows up to the diagonal.
        unsafe { launch(&self.device, self.precision, "regularise", by_rows(self.order), &arguments)? };
        // Roots and noise must live until then.
        self.device.wait()
    }

    /// The matrix from column `column` on in the rows of the libraries from `row` on: entry (column, row) of the lower triangle.
    fn at(&self, row: usize, column: usize) -> At {
        let bytes = self.precision.bytes() as usize;
        (address(&self.device, &self.values) + ((column * self.order + row) * bytes) as u64, self.order)
    }

    /// Rows of a block: fewer if a product with all known rows would take long.
    fn block(&self) -> usize {
        let rows = PIECE / (0.5 * (self.order as f64).powi(2));
        ((rows / 512.0) as usize * 512).clamp(512, 2048)
    }

    /// L in place of A.
    fn factorise(&mut self, watch: &dyn Watch) -> Result<Result<(), usize>, Ended> {
        let (device, n, precision) = (&self.device, self.order, self.precision);
        let (blas, block) = (device.blas()?, self.block());
        let info = device.upload(&[0i32])?;
        let space = device.allocate(INVERSE * (INVERSE + n) * precision.bytes() as usize)?;
        watch.begin("Cholesky", n as u64);
        for first in (0..n).step_by(block) {
            check(watch)?;
            let width = block.min(n - first);
            let (known, diagonal) = (self.at(0, first), self.at(first, first));
            // SAFETY: blocks of the matrix; `known` has `first` rows and the columns from `first` on.
            unsafe {
                blas.multiply(
                    precision,
                    (Op::Transposed, Op::AsIs),
                    (width, n - first, first),
                    (-1.0, known, known),
                    (1.0, diagonal),
                )?;
                blas.factor(device, precision, width, diagonal, &info)?;
            }
            let mut pivot = [0i32];
            device.download(&info, &mut pivot)?;
            if pivot[0] != 0 {
                return Ok(Err(first + pivot[0].max(1) as usize - 1));
            }
            self.divide(first, width, address(device, &space))?;
            watch.advance(width as u64);
        }
        Ok(Ok(()))
    }

    /// L_ij ← A_ij L_jj⁻ᵀ for the rows i below a block of `width` rows from `first` on, a part of the block at a time: by the inverse of
    /// the part, since products take a third of the time of the library's solution. `space` has room for the inverse and for as many
    /// rows of n numbers.
    fn divide(&self, first: usize, width: usize, space: u64) -> Result<(), CudaError> {
        let (device, n, precision) = (&self.device, self.order, self.precision);
        let (blas, end) = (device.blas()?, first + width);
        let below = n - end;
        if below == 0 {
            return Ok(());
        }
        let result = space + (INVERSE * INVERSE) as u64 * precision.bytes();
        for start in (first..end).step_by(INVERSE) {
            let part = INVERSE.min(end - start);
            let (order, none, count) = (part as i64, 0i64, part as i64);
            let arguments = arguments![space, order, none, count];
            let (to, rows, columns, stride) = (self.at(start, end).0, part as i64, below as i64, n as i64);
            let copied = arguments![result, to, rows, columns, stride];
            // SAFETY: blocks of the matrix; the inverse has `part` rows and columns, the result `part` rows for each row below.
            unsafe {
                blas.multiply(
                    precision,
                    (Op::Transposed, Op::AsIs),
                    (part, below, start - first),
                    (-1.0, self.at(first, start), self.at(first, end)),
                    (1.0, self.at(start, end)),
                )?;
                launch(device, precision, "unit_columns", Grid::over(part * part), &arguments)?;
                let inverse = (space, part);
                blas.solve(precision, (Side::Left, Op::AsIs), (part, part), self.at(start, start), inverse)?;
                blas.multiply(
                    precision,
                    (Op::Transposed, Op::AsIs),
                    (part, below, part),
                    (1.0, inverse, self.at(start, end)),
                    (0.0, (result, part)),
                )?;
                launch(device, precision, "copy_columns", Grid::over(part * below), &copied)?;
            }
        }
        Ok(())
    }

    /// The diagonal, in double precision.
    fn diagonal(&self) -> Result<Vec<f64>, CudaError> {
        let mut found = vec![0.0; self.order];
        let out = self.device.allocate(self.order * 8)?;
        let (from, order, to) =
            (address(&self.device, &self.values), self.order as i64, address(&self.device, &out));
        let arguments = arguments![from, order, to];
        // SAFETY: the arguments of `diagonal_of`, which writes a number for each row.
        unsafe {
            launch(&self.device, self.precision, "diagonal_of", Grid::over(self.order), &arguments)?;
        }
        self.device.download(&out, &mut found)?;
        Ok(found)
    }
}

impl SymmetricMatrix for DeviceMatrix {
    fn order(&self) -> usize {
        self.order
    }

    fn frobenius(&self) -> Result<f64, Stopped> {
        let _work = self.device.lock();
        let squares = || -> Result<f64, Ended> {
            let mut squares = vec![0.0; self.order];
            let out = self.device.allocate(self.order * 8)?;
            let (from, order, to) =
                (address(&self.device, &self.values), self.order as i64, address(&self.device, &out));
            let arguments = arguments![from, order, to];
            // SAFETY: the arguments of `row_squares`, which writes a number for each row.
            unsafe {
                launch(&self.device, self.precision, "row_squares", by_rows(self.order), &arguments)?;
            }
            self.device.download(&out, &mut squares)?;
            Ok(squares.iter().sum())
        };
        Ok(self.device.record_fault(squares())?.sqrt())
    }

    fn factor(mut self: Box<Self>, watch: &dyn Watch) -> Result<Box<dyn CholeskyFactor>, CholeskyError> {
        let device = Arc::clone(&self.device);
        let _work = device.lock();
        let order = self.order;
        let mut factored = || -> Result<Result<Vec<f64>, usize>, Ended> {
            match self.factorise(watch)? {
                Ok(()) => Ok(Ok(self.diagonal()?)),
                Err(pivot) => Ok(Err(pivot)),
            }
        };
        let failed = |pivot| CholeskyError::NotPositiveDefinite { pivot, order };
        let diagonal = device.record_fault(factored())?.map_err(failed)?;
        // A NaN pivot may pass the comparison of a factorisation with zero.
        if let Some(pivot) = diagonal.iter().position(|l| l.is_nan()) {
            return Err(failed(pivot));
        }
        Ok(Box::new(DeviceFactor { matrix: *self, diagonal }))
    }
}

/// A matrix on the host that is copied to a device when it is factored.
#[derive(Debug)]
pub(crate) struct Waiting {
    device: Arc<Device>,
    host: HostMatrix<f64>,
}

/// The order below which the host factors a matrix faster than it is copied.
const SMALL: usize = 512;

impl Waiting {
    pub fn new(device: &Arc<Device>, order: usize, lower: Vec<f64>) -> Self {
        Self { device: Arc::clone(device), host: HostMatrix::new(order, lower) }
    }
}

impl SymmetricMatrix for Waiting {
    fn order(&self) -> usize {
        self.host.order()
    }

    fn frobenius(&self) -> Result<f64, Stopped> {
        self.host.frobenius()
    }

    fn factor(self: Box<Self>, watch: &dyn Watch) -> Result<Box<dyn CholeskyFactor>, CholeskyError> {
        let order = self.order();
        if order < SMALL {
            return Box::new(self.host).factor(watch);
        }
        let copied = {
            let _work = self.device.lock();
            let copied = self.device.upload(self.host.lower()).map_err(Ended::Failed);
            self.device.record_fault(copied)?
        };
        Box::new(DeviceMatrix::new(&self.device, order, Precision::Double, copied)).factor(watch)
    }
}

/// L in the memory of a device.
#[derive(Debug)]
pub(crate) struct DeviceFactor {
    matrix: DeviceMatrix,
    /// Its diagonal.
    diagonal: Vec<f64>,
}

/// The most right-hand sides that are solved one by one: the library then reads the factor at memory bandwidth.
const FEW: usize = 6;

/// Columns of an inverse per solve.
const INVERTED: usize = 1024;

/// Rows of a block of a triangular solve.
const SOLVED: usize = 2048;

impl DeviceFactor {
    /// Copies right-hand sides to the device, runs `work` on them and copies them back. In single precision they are
    /// scaled by the largest entry.
    fn with_columns(
        &self,
        rhs: &mut Dense<f64>,
        watch: &dyn Watch,
        work: impl FnOnce(u64, usize) -> Result<(), CudaError>,
    ) -> Result<(), Stopped> {
        let (device, n, outputs) = (&self.matrix.device, rhs.nrows(), rhs.ncols());
        assert_eq!(n, self.matrix.order, "rows of the right-hand sides");
        watch.check()?;
        if n == 0 || outputs == 0 {
            return Ok(());
        }
        let _work = device.lock();
        let mut columns: Vec<f64> = (0..n * outputs).map(|k| rhs.row(k % n)[k / n]).collect();
        let solved = || -> Result<(), Ended> {
            match self.matrix.precision {
                Precision::Double => {
                    let there = device.upload(&columns)?;
                    work(address(device, &there), outputs)?;
                    device.download(&there, &mut columns)?;
                }
                Precision::Single => {
                    let largest = columns.iter().fold(0.0f64, |l, v| l.max(v.abs()));
                    let unit = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
                    let mut singles: Vec<f32> = columns.iter().map(|v| (v / unit) as f32).collect();
                    let there = device.upload(&singles)?;
                    work(address(device, &there), outputs)?;
                    device.download(&there, &mut singles)?;
                    columns.iter_mut().zip(&singles).for_each(|(c, s)| *c = f64::from(*s) * unit);
                }
            }
            Ok(())
        };
        device.record_fault(solved())?;
        for i in 0..n {
            rhs.row_mut(i).iter_mut().enumerate().for_each(|(o, v)| *v = columns[o * n + i]);
        }
        watch.check()
    }

    /// UX = B or UᵀX = B, one column after the other.
    fn solve_each(&self, op: Op, x: u64, outputs: usize) -> Result<(), CudaError> {
        let (matrix, n) = (&self.matrix, self.matrix.order);
        let (blas, precision) = (matrix.device.blas()?, matrix.precision);
        for o in 0..outputs {
            let column = (x + (o * n) as u64 * precision.bytes(), n);
            // SAFETY: the factor and one of the columns.
            unsafe { blas.solve(precision, (Side::Left, op), (n, 1), matrix.at(0, 0), column)? };
        }
        Ok(())
    }

    /// LX = B, for `outputs` columns at `x`.
    fn solve_down(&self, x: u64, outputs: usize) -> Result<(), CudaError> {
        let (matrix, n) = (&self.matrix, self.matrix.order);
        let (blas, precision) = (matrix.device.blas()?, matrix.precision);
        if outputs <= FEW {
            return self.solve_each(Op::Transposed, x, outputs);
        }
        let row = |i: usize| (x + i as u64 * precision.bytes(), n);
        for first in (0..n).step_by(SOLVED) {
            let width = SOLVED.min(n - first);
            // SAFETY: blocks of the factor and rows of the columns.
            unsafe {
                blas.multiply(
                    precision,
                    (Op::Transposed, Op::AsIs),
                    (width, outputs, first),
                    (-1.0, matrix.at(0, first), row(0)),
                    (1.0, row(first)),
                )?;
                let diagonal = matrix.at(first, first);
                blas.solve(precision, (Side::Left, Op::Transposed), (width, outputs), diagonal, row(first))?;
            }
        }
        Ok(())
    }

    /// LᵀX = B, for `outputs` columns at `x`.
    fn solve_up(&self, x: u64, outputs: usize) -> Result<(), CudaError> {
        let (matrix, n) = (&self.matrix, self.matrix.order);
        let (blas, precision) = (matrix.device.blas()?, matrix.precision);
        if outputs <= FEW {
            return self.solve_each(Op::AsIs, x, outputs);
        }
        let row = |i: usize| (x + i as u64 * precision.bytes(), n);
        for first in (0..n).step_by(SOLVED).rev() {
            let width = SOLVED.min(n - first);
            // SAFETY: blocks of the factor and rows of the columns.
            unsafe {
                let diagonal = matrix.at(first, first);
                blas.solve(precision, (Side::Left, Op::AsIs), (width, outputs), diagonal, row(first))?;
                blas.multiply(
                    precision,
                    (Op::AsIs, Op::AsIs),
                    (first, outputs, width),
                    (-1.0, matrix.at(0, first), row(first)),
                    (1.0, row(0)),
                )?;
            }
        }
        Ok(())
    }

    /// scale·LᵀL. The caller holds the device's lock.
    fn times_transposed(&self, scale: f64, watch: &dyn Watch) -> Result<DeviceMatrix, Ended> {
        let (factor, n) = (&self.matrix, self.matrix.order);
        let (device, precision) = (&factor.device, factor.precision);
        let values = device.allocate(n * n * precision.bytes() as usize)?;
        let product = DeviceMatrix::new(device, n, precision, values);
        let (at, order) = (address(device, &factor.values), n as i64);
        // SAFETY: the arguments of `clear_upper`, which writes entries above the diagonal.
        unsafe {
            let arguments = arguments![at, order];
            launch(device, precision, "clear_upper", by_rows(n), &arguments)?;
        }
        let (blas, block) = (device.blas()?, factor.block());
        for first in (0..n).step_by(block) {
            check(watch)?;
            let width = block.min(n - first);
            // SAFETY: U has the rows up to the end of the block and the columns from `first` on, zeros below its diagonal.
            unsafe {
                blas.multiply(
                    precision,
                    (Op::AsIs, Op::Transposed),
                    (first + width, width, n - first),
                    (scale, factor.at(0, first), factor.at(first, first)),
                    (0.0, product.at(0, first)),
                )?;
            }
            device.wait()?;
        }
        Ok(product)
    }
}

impl CholeskyFactor for DeviceFactor {
    fn order(&self) -> usize {
        self.matrix.order
    }

    fn smallest_pivot(&self) -> f64 {
        self.diagonal.iter().map(|l| l * l).fold(f64::INFINITY, f64::min)
    }

    fn solve_lower(&self, rhs: &mut Dense<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.with_columns(rhs, watch, |x, outputs| self.solve_down(x, outputs))
    }

    fn solve_upper(&self, rhs: &mut Dense<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.with_columns(rhs, watch, |x, outputs| self.solve_up(x, outputs))
    }

    fn solve(&self, rhs: &mut Dense<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.with_columns(rhs, watch, |x, outputs| {
            self.solve_down(x, outputs)?;
            self.solve_up(x, outputs)
        })
    }

    fn transposed_product(
        &self,
        scale: f64,
        lambda: f64,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let device = &self.matrix.device;
        let _work = device.lock();
        let product = || -> Result<DeviceMatrix, Ended> {
            let mut product = self.times_transposed(scale, watch)?;
            product.regularise(Penalty::uniform(lambda))?;
            Ok(product)
        };
        Ok(Box::new(device.record_fault(product())?))
    }

    fn into_inverse(self: Box<Self>, watch: &dyn Watch) -> Result<Dense<f64>, Stopped> {
        let (matrix, n) = (&self.matrix, self.matrix.order);
        let device = &matrix.device;
        let _work = device.lock();
        let inverse = || -> Result<Dense<f64>, Ended> {
            let bytes = matrix.precision.bytes() as usize;
            let buffer = device.allocate(INVERTED.min(n) * n * bytes)?;
            let (to, order) = (address(device, &buffer), n as i64);
            let mut entries = mercer::linalg::zeroed(n * n);
            for (place, rows) in entries.chunks_mut((INVERTED * n).max(1)).enumerate() {
                check(watch)?;
                let (first, count) = ((place * INVERTED) as i64, (rows.len() / n) as i64);
                let arguments = arguments![to, order, first, count];
                let grid = Grid::over(rows.len());
                // SAFETY: the arguments of `unit_columns`, which writes `count` columns.
                unsafe { launch(device, matrix.precision, "unit_columns", grid, &arguments)? };
                self.solve_down(to, rows.len() / n)?;
                self.solve_up(to, rows.len() / n)?;
                // The columns of a symmetric matrix are its rows.
                match matrix.precision {
                    Precision::Double => device.download(&buffer, rows)?,
                    Precision::Single => {
                        let mut singles = vec![0f32; rows.len()];
                        device.download(&buffer, &mut singles)?;
                        rows.iter_mut().zip(&singles).for_each(|(row, s)| *row = f64::from(*s));
                    }
                }
            }
            Ok(Dense::from_entries(n, n, entries))
        };
        device.record_fault(inverse())
    }

    fn log_determinant(&self) -> f64 {
        self.diagonal.iter().map(|l| (l * l).ln()).sum()
    }

    fn to_lower(&self, watch: &dyn Watch) -> Result<Vec<f64>, Stopped> {
        watch.check()?;
        let (device, entries) = (&self.matrix.device, self.matrix.order * self.matrix.order);
        let _work = device.lock();
        let copy = || -> Result<Vec<f64>, Ended> {
            let mut lower = mercer::linalg::zeroed(entries);
            match self.matrix.precision {
                Precision::Double => device.download(&self.matrix.values, &mut lower)?,
                Precision::Single => {
                    let mut singles = vec![0f32; entries];
                    device.download(&self.matrix.values, &mut singles)?;
                    lower.iter_mut().zip(&singles).for_each(|(l, s)| *l = f64::from(*s));
                }
            }
            Ok(lower)
        };
        device.record_fault(copy())
    }
}
