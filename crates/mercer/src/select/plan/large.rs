//! Ridge regression where the kernel matrix is too large: conjugate gradients, landmarks, random features.

use crate::data::Dtype;
use crate::gram::{GramError, StoreAs};
use crate::learn::{STEPS_ON_TILES, cost};

use super::Shape;
use super::calibrate::{Calibration, Growth, Streams};
use super::ways::{Candidate, Way};

/// Rows from which such ways are looked at.
pub(super) const FROM: usize = 5_000;

/// Steps of conjugate gradients at λ = 1, and for every tenth of it, with the default preconditioner and residual.
const STEPS: (f64, f64) = (25.0, 25.0);

/// What was measured already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// Seconds for an entry below the diagonal of a matrix that is applied and not stored.
    pub apply: f64,
    /// Of memory.
    pub streams: Streams,
}

/// The ways, in the order in which they would be tried, beside samples of so many bytes in all the bytes there are.
pub(super) fn ways(
    shape: Shape,
    lambda: f64,
    [samples_bytes, budget]: [f64; 2],
    rates: Rates,
    calibration: &Calibration<'_>,
) -> Result<Vec<Candidate>, GramError> {
    let n = shape.rows as f64;
    let factor = match shape.dtype {
        Dtype::F32 => calibration.cholesky::<f32>()?,
        Dtype::F64 => calibration.cholesky::<f64>()?,
    };
    let value = calibration.cross(1)?;
    let mut ways = Vec::new();
    if lambda > 0.0 {
        let rank = cost::preconditioner_rank(shape.rows);
        let k = rank as f64;
        let steps = STEPS.0 + STEPS.1 * (-lambda.log10()).max(0.0);
        let memory = cost::cg_bytes(shape.rows, rank, shape.targets) as f64 + samples_bytes;
        let matrix = StoreAs::I16.bytes(shape.rows) as f64;
        let stores = memory + matrix <= budget;
        let on_tiles = if stores { steps.min(STEPS_ON_TILES as f64) } else { steps };
        let tiles = n * (n + 1.0) / 2.0 * rates.apply;
        let stages = [
            // A triangular half of nk² multiply-adds, at the rate of the n³/6 of a factor.
            ("preconditioner", n * k * value + 3.0 * factor.cubic * n * k * k),
            ("kernel matrix in 16 bits", if stores { tiles + matrix * rates.streams.touch } else { 0.0 }),
            ("about so many steps", on_tiles * tiles + (steps - on_tiles) * matrix * rates.streams.read),
        ];
        let stages = if stores { &stages[..] } else { &[stages[0], stages[2]] };
        let memory = if stores { memory + matrix } else { memory };
        let mut cg = Candidate::new(Way::ConjugateGradients, memory, stages);
        cg.remark = Some(format!(
            "conjugate gradients (--solver cg) solve the same problem {}, in about {steps:.0} steps",
            if stores { "with its matrix in 16 bits" } else { "without its matrix" }
        ));
        ways.push(cg);
    }
    let size = cost::suggested_features(shape.rows as u64);
    let memory = 3.0 * cost::sums_bytes(size, shape.targets) as f64;
    ways.extend(features(shape, size, memory, factor, calibration)?);
    let (m, landmarks) = (size as f64, size as u64);
    let stages = [
        ("kernel values with landmarks", n * m * value),
        // A triangular solve of nM² multiply-adds in all, and as many in the sums.
        ("whitening", 3.0 * factor.cubic * n * m * m),
        ("sums", 3.0 * factor.cubic * n * m * m),
        ("Cholesky factor", factor.at(m)),
    ];
    let mut nystrom = Candidate::new(Way::Landmarks { landmarks }, memory, &stages);
    nystrom.remark = Some(format!(
        "{size} landmarks (--approx nystrom:{size}) suit every kernel, smooth ones and few columns best"
    ));
    ways.push(nystrom);
    Ok(ways)
}

/// Random features; none where the kernel has no spectral density that is known.
fn features(
    shape: Shape,
    size: usize,
    memory: f64,
    factor: Growth,
    calibration: &Calibration<'_>,
) -> Result<Option<Candidate>, GramError> {
    let Some(wave) = calibration.waves(size)? else { return Ok(None) };
    let (n, d) = (shape.rows as f64, size as f64);
    let stages = [
        ("features", n * d * wave),
        ("sums", 3.0 * factor.cubic * n * d * d),
        ("Cholesky factor", factor.at(d)),
    ];
    let way = Way::RandomFeatures { features: size as u64 };
    let mut random = Candidate::new(way, memory, &stages);
    random.remark = Some(format!(
        "{size} random features (--approx fourier:{size}) hold no rows: the file may be larger than memory"
    ));
    Ok(Some(random))
}
