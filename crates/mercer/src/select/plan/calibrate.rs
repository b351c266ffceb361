//! Rates of this machine, measured.
//!
//! Every rate comes from the routine that the work itself would use. Sizes double until a run takes clearly longer than
//! timing noise; if one size does not show how the rate grows, the last two are used.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::data::{AnySamples, Matrix, Samples};
use crate::design::{DesignError, RandomSpec, RowFeatures};
use crate::gram::{
    DenseGram, Gram, GramError, LinearOperator, Metric, Penalty, Resident, TileMut, Values, Wanted,
};
use crate::kernel::{Kernel, ResolveError, Spectrum};
use crate::learn::cost::{Operation, Size};
use crate::learn::search::Axis;
use crate::linalg::{CholeskyError, HostMatrix, SymmetricMatrix, zeroed};
use crate::model::{ModelError, Neighbours, Rule};
use crate::real::{Precision, Real};
use crate::session::Session;
use crate::solve::{PathProblem, RidgePath};
use crate::watch::{Stopped, Watch};

/// A run of this many seconds is distinguishable from noise.
const LONG: f64 = 0.01;

/// A run of this many seconds is not repeated.
const VERY_LONG: f64 = 0.05;

/// The most rows of the samples to measure on.
const ROWS: usize = 4_096;

/// The same on an engine with its own memory: there a call takes milliseconds even for few rows.
const ROWS_ON_DEVICE: usize = 131_072;

/// The most rows of a matrix stored on such an engine.
const STORED_ON_DEVICE: usize = 32_768;

/// The most entries of the samples to measure on, provided that this leaves [`FEW`] rows.
const ENTRIES: usize = 1 << 22;

/// The fewest rows of the samples to measure on.
const FEW: usize = 256;

/// The most columns of generated samples; beyond, the work per entry is extrapolated in proportion.
const COLUMNS: usize = 1 << 14;

/// Order of the first Cholesky factor that is timed.
const SMALL_FACTOR: usize = 512;

/// A Cholesky factor that takes this many seconds shows the rate of larger ones.
const LONG_FACTOR: f64 = 0.02;

/// The smallest λ to time, as a fraction of the largest kᵢᵢ.
const TUNED: f64 = 1e-6;

/// Order of the matrix for measuring memory bandwidth: larger than the caches.
const STREAM: usize = 4_096;

/// Measures the rates of operations, each at its first request.
pub(super) struct Calibration<'a> {
    /// The kernel with a number for every `auto` and `?`.
    kernel: Kernel,
    sample: AnySamples<'a>,
    /// The number of columns of the samples relative to those measured on.
    wider: f64,
    session: &'a Session<'a>,
    /// The seconds of measured operations.
    known: Vec<(Operation, f64)>,
    /// Of Cholesky factors in single and in double precision.
    factors: [Option<Growth>; 2],
    /// Of a reduction and of one λ on it.
    path: Option<[Growth; 2]>,
}

/// Seconds for an order n: cubic·n³ + square·n².
#[derive(Debug, Clone, Copy)]
struct Growth {
    cubic: f64,
    square: f64,
}

impl Growth {
    fn at(self, n: f64) -> f64 {
        (self.cubic * n + self.square) * n * n
    }

    /// Fits two measurements; coefficients are never negative, and one measurement alone gives a cubic term only. This fraction of the
    /// larger measurement is cubic at least.
    fn through(least: f64, before: Option<(usize, f64)>, (m, s): (usize, f64)) -> Self {
        let m = m as f64;
        let large = s / (m * m);
        let cubic = before.map_or(large / m, |(n, t)| {
            let n = n as f64;
            ((large - t / (n * n)) / (m - n)).clamp(least * large / m, large / m)
        });
        Self { cubic, square: large - cubic * m }
    }
}

impl<'a> Calibration<'a> {
    /// Measures on some of `samples`, or on normally distributed ones.
    pub fn new(
        kernel: &Kernel,
        shape: Size,
        samples: Option<&'a AnySamples<'a>>,
        session: &'a Session<'a>,
    ) -> Result<Self, ResolveError> {
        let columns = match samples {
            Some(_) => shape.columns,
            None => shape.columns.min(COLUMNS.max(kernel.required_columns())),
        };
        let there = samples.map_or(shape.rows, AnySamples::nrows);
        let most = if session.engine().memory().is_some() { ROWS_ON_DEVICE } else { ROWS };
        let rows = there.min((ENTRIES / columns).clamp(FEW, most));
        let sample = match samples {
            Some(samples) => samples.select(&(0..rows).map(|i| i * there / rows).collect::<Vec<_>>()),
            None => normal(rows, columns, shape.dtype),
        };
        let kernel = Axis::middle_of(kernel, &session.scales(&sample))?;
        let wider = shape.columns as f64 / columns as f64;
        Ok(Self { kernel, sample, wider, session, known: Vec::new(), factors: [None; 2], path: None })
    }

    /// Whether the kernel has random features.
    pub fn has_random_features(&self) -> bool {
        Spectrum::of(&self.kernel, self.sample.ncols()).is_ok()
    }

    /// Seconds of one operation.
    pub fn seconds(&mut self, operation: Operation) -> Result<f64, GramError> {
        if let Some((_, seconds)) = self.known.iter().find(|(known, _)| *known == operation) {
            return Ok(*seconds);
        }
        let seconds = match operation {
            Operation::Fill(precision) => self.fill(precision)?,
            Operation::Apply(outputs) => self.apply(outputs)?,
            Operation::Cross(outputs) => self.cross(outputs)?,
            Operation::Factor(dtype, order) => self.factor(dtype)?.at(order),
            // Half of the multiply-adds, at the rate of the n³/6 of a factor.
            Operation::Product(dtype) => 3.0 * self.factor(dtype)?.cubic,
            Operation::Reduce(order) => self.reduction()?[0].at(order),
            Operation::Reduced(order) => self.reduction()?[1].at(order),
            Operation::Wave(count) => self.waves(count)?,
            Operation::Nearest(k) => self.nearest(k)?,
            Operation::Smooth(targets) => self.smooth(targets)?,
            // One matrix shows both.
            Operation::Touch | Operation::Read => {
                let (touch, read) = self.memory()?;
                self.known.extend([(Operation::Touch, touch), (Operation::Read, read)]);
                return self.seconds(operation);
            }
        };
        self.known.push((operation, seconds));
        Ok(seconds)
    }

    fn factor(&mut self, dtype: Precision) -> Result<Growth, GramError> {
        let place = usize::from(dtype == Precision::Double);
        if let Some(growth) = self.factors[place] {
            return Ok(growth);
        }
        let growth = self.cholesky(dtype)?;
        Ok(*self.factors[place].insert(growth))
    }

    fn reduction(&mut self) -> Result<[Growth; 2], GramError> {
        match self.path {
            Some(path) => Ok(path),
            None => {
                let path = self.path()?;
                Ok(*self.path.insert(path))
            }
        }
    }

    /// Seconds to compute one entry of the kernel matrix and store it, with those above the diagonal left out.
    fn fill(&self, precision: Precision) -> Result<f64, GramError> {
        self.per_entry_of(STORED_ON_DEVICE, |rows| {
            let resident = self.session.load(rows)?;
            let gram = resident.gram(&self.kernel, Wanted::Exact)?;
            let n = gram.nrows();
            let fill = || Ok(gram.regularised(Penalty::uniform(1.0), precision, self.session).map(drop)?);
            self.best(fill, (n * (n + 1) / 2) as f64)
        })
    }

    /// Seconds for one entry below the diagonal while the matrix is applied to `outputs` columns without being stored.
    fn apply(&self, outputs: usize) -> Result<f64, GramError> {
        self.per_entry(|resident| {
            let gram = resident.gram(&self.kernel, Wanted::Exact)?;
            let n = gram.nrows();
            let rhs = Matrix::from_entries(n, outputs, vec![1.0; n * outputs]);
            let mut out = Matrix::zeros(n, outputs);
            self.best(|| Ok(gram.apply(&mut out, &rhs, self.session)?), (n * (n + 1) / 2) as f64)
        })
    }

    /// Seconds for one entry while the kernel matrix of two sets of samples is applied.
    fn cross(&self, outputs: usize) -> Result<f64, GramError> {
        self.per_entry(|resident| {
            let n = resident.nrows();
            let other = resident.select(&(0..n).collect::<Vec<_>>());
            let cross = resident.cross(&self.kernel, &*other)?;
            let rhs = Matrix::from_entries(n, outputs, vec![1.0; n * outputs]);
            let mut out = Matrix::zeros(n, outputs);
            self.best(|| Ok(cross.apply(&mut out, &rhs, self.session)?), (n * n) as f64)
        })
    }

    /// Seconds for one of `count` random features of one row; 0 where the kernel has none, and where the engine computes them in a small
    /// part of the time that it takes to add them up.
    fn waves(&self, count: usize) -> Result<f64, GramError> {
        if self.session.engine().wave_sums().is_some() {
            return Ok(0.0);
        }
        let Ok(features) = RandomSpec::new(self.kernel.clone(), count, 0).draw(self.sample.ncols()) else {
            return Ok(0.0);
        };
        let rows = self.sample.nrows().min(2 * FEW);
        let features = RowFeatures::from(&features);
        let precision = features.precision(&self.sample);
        let fill = || match features.fill(
            &self.sample,
            0..rows,
            Values::zeros(precision, rows, count).entries_mut(),
            self.session,
        ) {
            Err(DesignError::Stopped(stopped)) => Err(GramError::from(stopped)),
            _ => Ok(()),
        };
        Ok(self.best(fill, (rows * count) as f64)?.0 * self.wider)
    }

    /// Seconds for one pair of a query and a row while the `k` nearest rows are looked for.
    fn nearest(&self, k: usize) -> Result<f64, GramError> {
        self.per_entry_of(ROWS, |queries| {
            let pairs = (queries.nrows() * self.sample.nrows()) as f64;
            let search = || {
                let (rows, queries) = (self.session.load(&self.sample)?, self.session.load(queries)?);
                rows.nearest(&*queries, k, Metric::Euclidean, self.session).map(drop)
            };
            self.best(search, pairs)
        })
    }

    /// Seconds for one pair of a query and a row while weighted means of the targets are taken.
    fn smooth(&self, targets: usize) -> Result<f64, GramError> {
        let rule = Rule::Smoother { kernel: self.kernel.clone() };
        let n = self.sample.nrows();
        let rows = self.sample.view().into_owned();
        let model = Neighbours { rows, targets: Matrix::zeros(n, targets), rule };
        self.per_entry_of(ROWS, |queries| {
            let predict = || match model.predict(queries, self.session) {
                Err(ModelError::Gram(error)) => Err(error),
                _ => Ok(()),
            };
            self.best(predict, (queries.nrows() * n) as f64)
        })
    }

    /// ‖K‖_F for `rows` rows, from a part of the matrix.
    pub fn frobenius(&self, rows: usize) -> Result<f64, GramError> {
        let part: Vec<usize> = (0..self.sample.nrows().min(FEW)).collect();
        let resident = self.session.load(&self.sample.select(&part))?;
        let gram = resident.gram(&self.kernel, Wanted::Exact)?;
        let (n, s) = (rows as f64, part.len() as f64);
        let mut values = vec![0.0; part.len() * part.len()];
        gram.block(&part, &part, TileMut::new(&mut values, part.len()));
        let all: f64 = values.iter().map(|k| k * k).sum();
        let diagonal: f64 = gram.diagonal().iter().map(|k| k * k).sum();
        let beside = if s > 1.0 { (all - diagonal).max(0.0) / (s * (s - 1.0)) } else { 0.0 };
        Ok((n * diagonal / s + n * (n - 1.0) * beside).sqrt())
    }

    /// Seconds to factor a matrix in this precision.
    fn cholesky(&self, precision: Precision) -> Result<Growth, GramError> {
        let on_device = self.session.engine().memory().is_some();
        let most = if on_device { STORED_ON_DEVICE.min(self.sample.nrows()) } else { ROWS };
        // If the smaller factor was disturbed, larger ones must not seem to cost nothing.
        let [growth] = growth(most, 0.5, |order| {
            let some = self.sample.select(&(0..order.min(self.sample.nrows())).collect::<Vec<_>>());
            let resident = on_device.then(|| self.session.load(&some)).transpose()?;
            let gram =
                resident.as_ref().map(|resident| resident.gram(&self.kernel, Wanted::Exact)).transpose()?;
            let mut best = f64::INFINITY;
            for _ in 0..2 {
                // The matrix that is cheapest to write where the factor will be.
                let matrix: Box<dyn SymmetricMatrix> = match (&gram, precision) {
                    (Some(gram), _) => {
                        gram.regularised(Penalty::uniform(order as f64), precision, self.session)?
                    }
                    (None, Precision::Single) => {
                        Box::new(HostMatrix::new(order, diagonally_dominant::<f32>(order)))
                    }
                    (None, Precision::Double) => {
                        Box::new(HostMatrix::new(order, diagonally_dominant::<f64>(order)))
                    }
                };
                let clock = Instant::now();
                if let Err(CholeskyError::Stopped(stopped)) = matrix.factor(self.session) {
                    return Err(GramError::from(stopped));
                }
                best = best.min(clock.elapsed().as_secs_f64());
            }
            Ok([best])
        })?;
        Ok(growth)
    }

    /// Seconds to factor this kernel's matrix for every λ, including the leave-one-out terms, and then seconds for each
    /// λ.
    fn path(&self) -> Result<[Growth; 2], GramError> {
        growth(ROWS.min(self.sample.nrows()), 0.0, |order| {
            let some = self.sample.select(&(0..order).collect::<Vec<_>>());
            let gram = DenseGram::<f64>::compute(&*self.session.load(&some)?, &self.kernel, self.session)?;
            let least = TUNED * gram.diagonal().iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
            let gram = Matrix::from_entries(order, order, gram.into_entries());
            let targets = Matrix::zeros(order, 1);
            let problem =
                PathProblem { targets: &targets, root_weights: None, intercept: true, lambdas: &[least] };
            let clock = Instant::now();
            let mut path = RidgePath::factor(gram, problem, self.session)?;
            path.leave_one_out(self.session)?;
            let with_one = clock.elapsed().as_secs_f64();
            // The second call repeats only the work for λ.
            let clock = Instant::now();
            path.leave_one_out(self.session)?;
            let one = clock.elapsed().as_secs_f64();
            Ok([(with_one - one).max(0.0), one])
        })
    }

    /// Seconds per byte to allocate fresh memory, and to read a stored matrix while it is applied.
    fn memory(&self) -> Result<(f64, f64), GramError> {
        let mut entries = zeroed::<f64>(STREAM * STREAM);
        let bytes = (STREAM * STREAM * 8) as f64;
        let clock = Instant::now();
        entries.par_chunks_mut(1 << 16).for_each(|chunk| chunk.fill(1.0));
        let touch = clock.elapsed().as_secs_f64() / bytes;
        let gram = DenseGram::new(STREAM, entries);
        let rhs = Matrix::from_entries(STREAM, 1, vec![1.0; STREAM]);
        let mut out = Matrix::zeros(STREAM, 1);
        let (read, _) = self.best(|| gram.apply(&mut out, &rhs, self.session), bytes)?;
        Ok((touch, read))
    }

    /// Doubles the number of rows until `work`, which gives seconds per entry and in all, is long enough.
    fn per_entry(
        &self,
        work: impl Fn(&dyn Resident) -> Result<(f64, f64), GramError>,
    ) -> Result<f64, GramError> {
        self.per_entry_of(ROWS_ON_DEVICE, |rows| work(&*self.session.load(rows)?))
    }

    /// The same with `most` rows at most.
    fn per_entry_of(
        &self,
        most: usize,
        work: impl Fn(&AnySamples<'_>) -> Result<(f64, f64), GramError>,
    ) -> Result<f64, GramError> {
        let most = most.min(self.sample.nrows());
        let mut rows = (2 * FEW).min(most);
        loop {
            let (entry, seconds) = work(&self.sample.select(&(0..rows).collect::<Vec<_>>()))?;
            if seconds >= LONG || rows == most {
                return Ok(entry * self.wider);
            }
            rows = (2 * rows).min(most);
        }
    }

    /// The quickest of three runs, or one that is long in any case: its seconds per unit, and its seconds.
    fn best<E: From<Stopped>>(
        &self,
        mut work: impl FnMut() -> Result<(), E>,
        units: f64,
    ) -> Result<(f64, f64), E> {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            self.session.check()?;
            let clock = Instant::now();
            work()?;
            let seconds = clock.elapsed().as_secs_f64();
            best = best.min(seconds);
            if seconds > VERY_LONG {
                break;
            }
        }
        Ok((best / units, best))
    }
}

/// Doubles the order until the first of the times that `work` returns is long enough, or `most` is reached.
fn growth<E, const N: usize>(
    most: usize,
    least: f64,
    mut work: impl FnMut(usize) -> Result<[f64; N], E>,
) -> Result<[Growth; N], E> {
    let mut order = SMALL_FACTOR.min(most);
    let mut before: Option<(usize, [f64; N])> = None;
    loop {
        let seconds = work(order)?;
        if order == most || before.is_some() && seconds[0] >= LONG_FACTOR {
            let through =
                |k: usize| Growth::through(least, before.map(|(n, t)| (n, t[k])), (order, seconds[k]));
            return Ok(std::array::from_fn(through));
        }
        before = Some((order, seconds));
        order = (2 * order).min(most);
    }
}

/// A positive definite matrix that is cheap to write.
fn diagonally_dominant<T: Real>(order: usize) -> Vec<T> {
    let mut matrix = vec![T::from_f64(0.5); order * order];
    (0..order).for_each(|i| matrix[i * order + i] = T::from_f64(order as f64));
    matrix
}

/// Normally distributed samples, by Box and Muller's transform.
fn normal(rows: usize, columns: usize, dtype: Precision) -> AnySamples<'static> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let entries = (0..rows * columns).map(|_| {
        let (radius, angle): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    });
    let filled = "as many entries as rows and columns say";
    match dtype {
        Precision::Single => {
            let entries: Vec<f32> = entries.map(|v| v as f32).collect();
            AnySamples::F32(Samples::dense(rows, columns, entries).expect(filled))
        }
        Precision::Double => {
            let entries: Vec<f64> = entries.collect();
            AnySamples::F64(Samples::dense(rows, columns, entries).expect(filled))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pause during the smaller measurement.
    #[test]
    fn large_factors_never_cost_nothing() {
        let growth = Growth::through(0.5, Some((512, 0.1)), (1_024, 0.02));
        assert!((growth.at(1_024.0) - 0.02).abs() < 1e-12, "{growth:?}");
        assert!(growth.at(8_192.0) > 0.25 * 0.02 * 8f64.powi(3), "{growth:?}");
    }
}
