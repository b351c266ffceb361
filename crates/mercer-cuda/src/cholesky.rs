//! Linear systems with a kernel matrix, factorised on the device by cuSOLVER.

use std::ffi::c_void;

use cudarc::cusolver::result::CusolverError;
use cudarc::cusolver::{DnHandle, sys as cusolver};
use mercer::data::Matrix as Dense;
use mercer::gram::{Gram, LinearOperator};
use mercer::real::Precision;
use mercer::watch::Watch;

use crate::device::{Bytes, Device, Ended, Grid};
use crate::error::CudaError;
use crate::matrix::Matrix;
use crate::rows::address;

const SHIFT: &str = include_str!("kernels/shift.cuh");

/// The Cholesky factor of K + λI on a device, in the precision of K.
#[derive(Debug)]
pub(crate) struct Factor<'a> {
    device: &'a Device,
    handle: DnHandle,
    order: usize,
    precision: Precision,
    values: Bytes,
}

/// The upper triangle, column after column, is the lower one, row after row.
const UPPER: cusolver::cublasFillMode_t = cusolver::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER;

impl From<CusolverError> for CudaError {
    fn from(error: CusolverError) -> Self {
        Self::Driver(format!("{error:?}"))
    }
}

impl<'a> Factor<'a> {
    /// Computes the values of `gram` on the device and factorises them. n³/3 multiply-adds, n² numbers of device memory and as
    /// much again of working space at most. The caller holds the device's lock.
    pub fn new(gram: &'a Matrix, lambda: f64, watch: &dyn Watch) -> Result<Self, Ended> {
        // SAFETY: only tries to load a library by its name.
        if !unsafe { cusolver::is_culib_present() } {
            return Err(CudaError::NoSolver.into());
        }
        let (device, order, precision) = (gram.device(), gram.nrows(), gram.precision());
        let values = gram.lower(watch)?;
        let real = if precision == Precision::Single { "float" } else { "double" };
        let function = device.function(&format!("typedef {real} real;\n{SHIFT}"), "shift", 0)?;
        let (at, count) = (address(device, &values), order as i64);
        let arguments: [*const c_void; 3] = [
            std::ptr::from_ref(&at).cast(),
            std::ptr::from_ref(&count).cast(),
            std::ptr::from_ref(&lambda).cast(),
        ];
        // SAFETY: the arguments of `shift`; it writes the diagonal.
        unsafe { device.launch(&function, Grid::over(order), &arguments)? };
        let handle = DnHandle::new(device.shared_stream()).map_err(CudaError::from)?;
        let factor = Self { device, handle, order, precision, values };
        factor.factorise()?;
        watch.check().map_err(|_| Ended::Stopped)?;
        Ok(factor)
    }

    fn data_type(&self) -> cusolver::cudaDataType {
        match self.precision {
            Precision::Single => cusolver::cudaDataType_t::CUDA_R_32F,
            Precision::Double => cusolver::cudaDataType_t::CUDA_R_64F,
        }
    }

    fn pointer(&self) -> *mut c_void {
        address(self.device, &self.values) as *mut c_void
    }

    fn factorise(&self) -> Result<(), CudaError> {
        let (n, kind, handle) = (self.order as i64, self.data_type(), self.handle.cu());
        let none = std::ptr::null_mut();
        let (mut on_device, mut on_host) = (0usize, 0usize);
        // SAFETY: the matrix has n rows of n entries; the sizes are written to.
        unsafe {
            cusolver::cusolverDnXpotrf_bufferSize(
                handle,
                none,
                UPPER,
                n,
                kind,
                self.pointer(),
                n,
                kind,
                &mut on_device,
                &mut on_host,
            )
        }
        .result()?;
        let space = self.device.allocate(on_device)?;
        let mut host_space = vec![0u8; on_host];
        let info = self.device.upload(&[0i32])?;
        // SAFETY: as above, with working space of the sizes that were asked for.
        unsafe {
            cusolver::cusolverDnXpotrf(
                handle,
                none,
                UPPER,
                n,
                kind,
                self.pointer(),
                n,
                kind,
                address(self.device, &space) as *mut c_void,
                on_device,
                host_space.as_mut_ptr().cast(),
                on_host,
                address(self.device, &info) as *mut i32,
            )
        }
        .result()?;
        let mut pivot = [0i32];
        self.device.download(&info, &mut pivot)?;
        if pivot[0] == 0 {
            Ok(())
        } else {
            Err(CudaError::Indefinite { pivot: pivot[0].max(1) as usize - 1 })
        }
    }

    /// (K + λI)⁻¹·rhs, to the precision of the factor.
    pub fn solve(&self, rhs: &Dense<f64>) -> Result<Dense<f64>, CudaError> {
        let (n, outputs) = (self.order, rhs.ncols());
        let by_column = |k: usize| rhs.row(k % n)[k / n];
        let values: Vec<f64> = (0..n * outputs).map(by_column).collect();
        let largest = values.iter().fold(0.0f64, |l, v| l.max(v.abs()));
        let unit = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        let singles: Vec<f32> = values.iter().map(|v| (v / unit) as f32).collect();
        let sides = match self.precision {
            Precision::Single => self.device.upload(&singles)?,
            Precision::Double => self.device.upload(&values)?,
        };
        let info = self.device.upload(&[0i32])?;
        // SAFETY: the factor has n rows of n entries, the right-hand sides n entries each.
        unsafe {
            cusolver::cusolverDnXpotrs(
                self.handle.cu(),
                std::ptr::null_mut(),
                UPPER,
                n as i64,
                outputs as i64,
                self.data_type(),
                self.pointer(),
                n as i64,
                self.data_type(),
                address(self.device, &sides) as *mut c_void,
                n as i64,
                address(self.device, &info) as *mut i32,
            )
        }
        .result()?;
        let (mut singles, mut doubles) = (singles, values);
        match self.precision {
            Precision::Single => {
                self.device.download(&sides, &mut singles)?;
                doubles.iter_mut().zip(&singles).for_each(|(d, s)| *d = f64::from(*s) * unit);
            }
            Precision::Double => self.device.download(&sides, &mut doubles)?,
        }
        let mut solution = Dense::zeros(n, outputs);
        for i in 0..n {
            solution.row_mut(i).iter_mut().enumerate().for_each(|(o, s)| *s = doubles[o * n + i]);
        }
        Ok(solution)
    }
}

/// The answer to a linear system, and how well it fulfils it.
#[derive(Debug, Clone)]
pub struct Solved {
    /// X with (K + λI)·X = B.
    pub solution: Dense<f64>,
    /// |B − (K + λI)·X|/|B|, with values of K in double precision.
    pub residual: f64,
}

/// Refinements at most.
const REFINEMENTS: usize = 10;

/// Solves with the factor of `gram` and refines with products of `exact`, until the residual is 1e-12 or no longer halves.
pub(crate) fn solve(
    gram: &Matrix,
    exact: &Matrix,
    lambda: f64,
    rhs: &Dense<f64>,
    watch: &dyn Watch,
) -> Result<Solved, Ended> {
    let device = gram.device();
    let _work = device.lock();
    let factor = Factor::new(gram, lambda, watch)?;
    let size = norm(rhs);
    let mut solution = factor.solve(rhs)?;
    let mut product = Dense::zeros(rhs.nrows(), rhs.ncols());
    let mut last: Option<(f64, Dense<f64>)> = None;
    for _ in 0..REFINEMENTS {
        exact.product(&solution, &mut product, watch)?;
        let entries = product.entries_mut().iter_mut().zip(solution.entries()).zip(rhs.entries());
        entries.for_each(|((p, x), b)| *p = b - (*p + lambda * x));
        let residual = if size > 0.0 { norm(&product) / size } else { 0.0 };
        if let Some((before, better)) = &last
            && (residual.is_nan() || residual >= 0.5 * before)
        {
            // The last step did not help: the better of both is the answer.
            return Ok(if residual < *before {
                Solved { solution, residual }
            } else {
                Solved { solution: better.clone(), residual: *before }
            });
        }
        if residual <= 1e-12 {
            return Ok(Solved { solution, residual });
        }
        let step = factor.solve(&product)?;
        last = Some((residual, solution.clone()));
        solution.entries_mut().iter_mut().zip(step.entries()).for_each(|(x, s)| *x += s);
    }
    let (residual, solution) = last.unwrap_or((0.0, solution));
    Ok(Solved { solution, residual })
}

fn norm(matrix: &Dense<f64>) -> f64 {
    matrix.entries().iter().map(|v| v * v).sum::<f64>().sqrt()
}
