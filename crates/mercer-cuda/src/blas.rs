//! Calls of cuBLAS and cuSOLVER, in either precision. Matrices are column-major, as these libraries require.

use std::ffi::c_void;

use cudarc::cublas::{CudaBlas, sys as cublas};
use cudarc::cusolver::{DnHandle, sys as cusolver};
use mercer::real::Precision;

use crate::device::{Bytes, Device};
use crate::error::CudaError;
use crate::rows::address;

/// The libraries' handles for the stream of a device.
#[derive(Debug)]
pub(crate) struct Blas {
    products: CudaBlas,
    factors: DnHandle,
}

/// A matrix: its address, and the entries from one column to the next.
pub(crate) type At = (u64, usize);

/// Whether a matrix is transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    AsIs,
    Transposed,
}

/// The side of the triangle relative to the unknowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Op {
    fn code(self) -> cublas::cublasOperation_t {
        match self {
            Self::AsIs => cublas::cublasOperation_t::CUBLAS_OP_N,
            Self::Transposed => cublas::cublasOperation_t::CUBLAS_OP_T,
        }
    }
}

const UPPER: cublas::cublasFillMode_t = cublas::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER;
const NOT_ONES: cublas::cublasDiagType_t = cublas::cublasDiagType_t::CUBLAS_DIAG_NON_UNIT;

/// Calls the function of cuBLAS for a precision, whose type of numbers is `$number` in the arguments.
macro_rules! in_precision {
    ($precision:expr, $number:ident => $double:ident | $single:ident ($($arguments:tt)*)) => {
        match $precision {
            Precision::Double => {
                type $number = f64;
                cublas::$double($($arguments)*)
            }
            Precision::Single => {
                type $number = f32;
                cublas::$single($($arguments)*)
            }
        }
    };
}

impl Blas {
    /// Whether the libraries can be loaded.
    pub fn is_present() -> bool {
        // SAFETY: both only try to load a library by its name.
        unsafe { cublas::is_culib_present() && cusolver::is_culib_present() }
    }

    /// # Errors
    /// If a library fails.
    pub fn new(device: &Device) -> Result<Self, CudaError> {
        let products = CudaBlas::new(device.shared_stream())?;
        Ok(Self { products, factors: DnHandle::new(device.shared_stream())? })
    }

    /// C = α·AB + β·C, with C of m × n and k terms.
    ///
    /// # Safety
    /// The matrices must be of these shapes and in the memory of the device.
    pub unsafe fn multiply(
        &self,
        precision: Precision,
        (op_a, op_b): (Op, Op),
        (m, n, k): (usize, usize, usize),
        (alpha, a, b): (f64, At, At),
        (beta, c): (f64, At),
    ) -> Result<(), CudaError> {
        if m == 0 || n == 0 || k == 0 {
            return Ok(());
        }
        let (handle, op_a, op_b) = (*self.products.handle(), op_a.code(), op_b.code());
        let (m, n, k) = (m as i32, n as i32, k as i32);
        let (lda, ldb, ldc) = (a.1 as i32, b.1 as i32, c.1 as i32);
        // SAFETY: the caller's promise; the factors are read before the calls return.
        unsafe {
            in_precision!(precision, Number => cublasDgemm_v2 | cublasSgemm_v2 (
                handle, op_a, op_b, m, n, k,
                &(alpha as Number), a.0 as *const Number, lda, b.0 as *const Number, ldb,
                &(beta as Number), c.0 as *mut Number, ldc
            ))
        }
        .result()?;
        Ok(())
    }

    /// The upper triangle of C += AAᵀ or AᵀA in double precision, with C of order n and k terms.
    ///
    /// # Safety
    /// As [`multiply`](Self::multiply).
    pub unsafe fn add_square(&self, op: Op, (n, k): (usize, usize), a: At, c: At) -> Result<(), CudaError> {
        if n == 0 || k == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe {
            cublas::cublasDsyrk_v2(
                *self.products.handle(),
                UPPER,
                op.code(),
                n as i32,
                k as i32,
                &1.0,
                a.0 as *const f64,
                a.1 as i32,
                &1.0,
                c.0 as *mut f64,
                c.1 as i32,
            )
        }
        .result()?;
        Ok(())
    }

    /// UX = B or XU = B for an upper triangle U, or its transpose, and B of m × n, in place.
    ///
    /// # Safety
    /// As [`multiply`](Self::multiply).
    pub unsafe fn solve(
        &self,
        precision: Precision,
        (side, op): (Side, Op),
        (m, n): (usize, usize),
        u: At,
        b: At,
    ) -> Result<(), CudaError> {
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (handle, op) = (*self.products.handle(), op.code());
        let (m, n, ldu, ldb) = (m as i32, n as i32, u.1 as i32, b.1 as i32);
        let code = match side {
            Side::Left => cublas::cublasSideMode_t::CUBLAS_SIDE_LEFT,
            Side::Right => cublas::cublasSideMode_t::CUBLAS_SIDE_RIGHT,
        };
        // SAFETY: the caller's promise.
        unsafe {
            if side == Side::Left && n == 1 {
                // One right-hand side has a separate, faster function.
                in_precision!(precision, Number => cublasDtrsv_v2 | cublasStrsv_v2 (
                    handle, UPPER, op, NOT_ONES, m, u.0 as *const Number, ldu, b.0 as *mut Number, 1
                ))
            } else {
                in_precision!(precision, Number => cublasDtrsm_v2 | cublasStrsm_v2 (
                    handle, code, UPPER, op, NOT_ONES, m, n,
                    &1.0, u.0 as *const Number, ldu, b.0 as *mut Number, ldb
                ))
            }
        }
        .result()?;
        Ok(())
    }

    /// U with A = UᵀU in the upper triangle of A, of order n; `info` receives the pivot that fails, from 1, or 0.
    ///
    /// # Safety
    /// As [`multiply`](Self::multiply); `info` has room for one `i32`.
    pub unsafe fn factor(
        &self,
        device: &Device,
        precision: Precision,
        n: usize,
        a: At,
        info: &Bytes,
    ) -> Result<(), CudaError> {
        let upper = cusolver::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER;
        let kind = match precision {
            Precision::Single => cusolver::cudaDataType_t::CUDA_R_32F,
            Precision::Double => cusolver::cudaDataType_t::CUDA_R_64F,
        };
        let (handle, none) = (self.factors.cu(), std::ptr::null_mut());
        let (n, ld, at) = (n as i64, a.1 as i64, a.0 as *mut c_void);
        let (mut on_device, mut on_host) = (0usize, 0usize);
        // SAFETY: the caller's promise; the sizes are written to.
        unsafe {
            cusolver::cusolverDnXpotrf_bufferSize(
                handle,
                none,
                upper,
                n,
                kind,
                at,
                ld,
                kind,
                &mut on_device,
                &mut on_host,
            )
        }
        .result()?;
        let space = device.allocate(on_device)?;
        let mut host_space = vec![0u8; on_host];
        // SAFETY: as above, with working space of the sizes that were asked for.
        unsafe {
            cusolver::cusolverDnXpotrf(
                handle,
                none,
                upper,
                n,
                kind,
                at,
                ld,
                kind,
                address(device, &space) as *mut c_void,
                on_device,
                host_space.as_mut_ptr().cast(),
                on_host,
                address(device, info) as *mut i32,
            )
        }
        .result()?;
        Ok(())
    }
}
