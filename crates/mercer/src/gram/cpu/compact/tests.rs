use super::*;
use crate::data::{AnySamples, Samples};
use crate::gram::{CpuEngine, DenseGram, Engine, Gram, Part, Resident, StoreAs, Stored, Wanted};
use crate::kernel::Kernel;
use crate::pool;
use crate::watch::Unwatched;

fn points(n: usize, d: usize) -> AnySamples<'static> {
    let entries: Vec<f64> =
        (0..n * d).map(|k| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0).collect();
    AnySamples::F64(Samples::dense(n, d, entries).unwrap())
}

fn loaded(n: usize, d: usize) -> Box<dyn Resident> {
    CpuEngine.load(&points(n, d)).unwrap()
}

/// The values of a kernel matrix in double precision.
fn dense(samples: &dyn Resident, kernel: &Kernel) -> DenseGram<'static, f64> {
    let n = samples.nrows();
    let mut entries = vec![0.0; n * n];
    samples.gram(kernel, Wanted::Exact).unwrap().fill(Part::Full, (&mut entries).into(), &Unwatched).unwrap();
    DenseGram::new(n, entries)
}

struct Compact {
    operator: Box<dyn LinearOperator>,
    rounding: f64,
}

/// A kernel matrix in 16 bits.
fn compact(gram: &dyn Gram, watch: &dyn Watch) -> Result<Compact, Stopped> {
    match gram.store(StoreAs::I16, watch)? {
        Stored::Products { operator, rounding } => Ok(Compact { operator, rounding }),
        Stored::Gram(_) => panic!("16 bits have products only"),
    }
}

fn stored(samples: &dyn Resident, kernel: &Kernel) -> Compact {
    compact(&*samples.gram(kernel, Wanted::Exact).unwrap(), &Unwatched).unwrap()
}

/// Numbers of very different sizes: columns are not to disturb each other.
fn rhs(n: usize, outputs: usize) -> Matrix<f64> {
    let entry = |k: usize| (k as f64 * 0.7).sin() * 10f64.powi((k % outputs) as i32 * 3 - 6);
    Matrix::from_entries(n, outputs, (0..n * outputs).map(entry).collect())
}

fn product(matrix: &dyn LinearOperator, rhs: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(rhs.nrows(), rhs.ncols());
    matrix.apply(&mut out, rhs, &Unwatched).unwrap();
    out
}

fn column_norm(matrix: &Matrix<f64>, o: usize) -> f64 {
    (0..matrix.nrows()).map(|i| matrix.row(i)[o].powi(2)).sum::<f64>().sqrt()
}

fn difference(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let entries = a.entries().iter().zip(b.entries()).map(|(a, b)| a - b).collect();
    Matrix::from_entries(a.nrows(), a.ncols(), entries)
}

/// Kernels with values from 0 to 1, of both signs, large, nearly constant, constant and mostly 0.
const KERNELS: [&str; 7] = [
    "rbf(sigma=0.7)",
    "<x,z>",
    "(40*<x,z> + 3)^5",
    "1e-25*laplacian",
    "1000 + 0.001*rbf",
    "3",
    "rbf(sigma=0.01)",
];

#[test]
fn products_are_within_the_rounding_of_those_in_double_precision() {
    for (n, outputs) in [(1, 1), (5, 2), (256, 1), (257, 2), (700, 3), (530, 11)] {
        let samples = loaded(n, 3);
        for kernel in KERNELS {
            let kernel = kernel.parse().unwrap();
            let dense = dense(&*samples, &kernel);
            let compact = stored(&*samples, &kernel);
            let rhs = rhs(n, outputs);
            let (found, expected) = (product(&*compact.operator, &rhs), product(&dense, &rhs));
            let error = difference(&found, &expected);
            let largest = dense.entries().iter().fold(0.0, |m: f64, k| m.max(k.abs()));
            for o in 0..outputs {
                let size = column_norm(&rhs, o);
                // The rounding of codes, and that of 24 bits in values, numbers and sums.
                let bound = (2.0 * compact.rounding + 1e-6 * largest * (n as f64).sqrt()) * size;
                let error = column_norm(&error, o);
                assert!(error <= bound, "{kernel}, n = {n}, column {o}: {error:e} > {bound:e}");
            }
        }
    }
}

#[test]
fn the_rounding_agrees_with_its_bound() {
    let n = 900;
    let samples = loaded(n, 4);
    let kernel = "rbf(sigma=1)".parse().unwrap();
    let dense = dense(&*samples, &kernel);
    let compact = stored(&*samples, &kernel);
    let rhs = rhs(n, 1);
    let error = difference(&product(&*compact.operator, &rhs), &product(&dense, &rhs));
    let ratio = column_norm(&error, 0) / (compact.rounding * column_norm(&rhs, 0));
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
    // Errors of mean 0: along the constant they add up no faster than elsewhere. To the nearest code, they would here.
    let ones = Matrix::from_entries(n, 1, vec![1.0; n]);
    let error = difference(&product(&*compact.operator, &ones), &product(&dense, &ones));
    let ratio = column_norm(&error, 0) / (compact.rounding * column_norm(&ones, 0));
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
}

#[test]
fn the_matrix_is_symmetric() {
    let n = 300;
    let samples = loaded(n, 3);
    let kernel = "rbf(sigma=0.5)".parse().unwrap();
    let compact = stored(&*samples, &kernel);
    let column = |j: usize| {
        let mut unit = Matrix::zeros(n, 1);
        unit.row_mut(j)[0] = 1.0;
        product(&*compact.operator, &unit).into_entries()
    };
    for (i, j) in [(0, 1), (17, 255), (3, 299), (256, 298), (255, 256)] {
        let (a, b) = (column(j)[i], column(i)[j]);
        // A hundredth of a step of 1/65,530: what products in single precision may differ by.
        assert!((a - b).abs() < 1.5e-7, "({i}, {j}): {a} {b}");
    }
}

#[test]
fn zeros_have_no_error() {
    let places: Vec<f64> = (0..300).map(f64::from).collect();
    let samples = AnySamples::F64(Samples::dense(300, 1, places).unwrap());
    let samples = CpuEngine.load(&samples).unwrap();
    let kernel = "rbf(sigma=0.05)".parse().unwrap();
    let compact = stored(&*samples, &kernel);
    let rhs = rhs(300, 1);
    // The matrix is the identity: what is left is the rounding of sums in single precision.
    let error = difference(&product(&*compact.operator, &rhs), &rhs);
    assert!(column_norm(&error, 0) < 0.05 * compact.rounding * column_norm(&rhs, 0));
}

#[test]
fn has_the_same_bits_for_every_number_of_threads() {
    let n = 1500;
    let samples = loaded(n, 3);
    let kernel = "matern(nu=1.5)".parse().unwrap();
    let rhs = rhs(n, 3);
    let run = |threads| {
        pool::with(Some(threads), || {
            let compact = stored(&*samples, &kernel);
            product(&*compact.operator, &rhs)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn values_that_are_not_finite_are_not_hidden() {
    let samples = AnySamples::F64(Samples::dense(3, 1, vec![1.0, 2.0, 1e30]).unwrap());
    let samples = CpuEngine.load(&samples).unwrap();
    let kernel = "<x,z>^8".parse().unwrap();
    let compact = stored(&*samples, &kernel);
    assert!(product(&*compact.operator, &rhs(3, 1)).entries().iter().all(|v| v.is_nan()));
}

#[test]
fn memory_matches_half_the_matrix() {
    assert_eq!(StoreAs::I16.bytes(0), 0);
    let n = 100_000;
    let (found, half) = (StoreAs::I16.bytes(n) as f64, (n * n) as f64);
    assert!(found >= half && found < 1.01 * half);
}

#[test]
fn stops_when_asked() {
    let samples = loaded(300, 2);
    let gram = samples.gram(&"rbf".parse().unwrap(), Wanted::Exact).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert_eq!(compact(&*gram, &stop).err(), Some(Stopped));
    let compact = compact(&*gram, &Unwatched).unwrap();
    let mut out = Matrix::zeros(300, 1);
    assert_eq!(compact.operator.apply(&mut out, &rhs(300, 1), &stop).unwrap_err(), Stopped);
}
