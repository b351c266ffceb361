//! Scaling: an affine map of each column, fitted on the training rows and stored in the model.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::finite::check_features;
use super::{AnySamples, DataError, Samples, Storage};
use crate::real::Real;
use crate::with_samples;

/// The kind of scaling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleMethod {
    /// Mean 0 and standard deviation 1.
    #[default]
    Standard,
    /// The range [0, 1].
    MinMax,
    /// No scaling.
    None,
}

/// A fitted scaling: column j becomes (xⱼ − shiftⱼ) / scaleⱼ.
///
/// Sparse data are scaled without a shift, which would fill in their zeros: `Standard` divides by the standard deviation
/// and `MinMax` by the largest absolute value. A constant column has scale 1: it becomes 0, or is unchanged without a
/// shift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub enum Scaling {
    /// The identity.
    None,
    /// Mean 0 and standard deviation 1 (over n, as scikit-learn's `StandardScaler`).
    Standard {
        /// Mean of each column; 0 for sparse data.
        means: Vec<f64>,
        /// Standard deviation of each column, 1 where it is 0.
        scales: Vec<f64>,
    },
    /// The range [0, 1]; [−1, 1] for sparse data.
    MinMax {
        /// Smallest value of each column; 0 for sparse data.
        mins: Vec<f64>,
        /// Largest value less the smallest, 1 where they are equal.
        ranges: Vec<f64>,
    },
}

/// Mean, standard deviation, smallest and largest value of a column.
#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    deviation: f64,
    min: f64,
    max: f64,
}

impl Scaling {
    /// The scaling of the columns of `samples`; also returns the indices of constant columns.
    ///
    /// Two passes over the data in `f64`: the first computes the means, the second the squared deviations, corrected for the
    /// rounding error of the means (Chan, Golub & LeVeque 1983, "Algorithms for computing the sample
    /// variance", eq. 1.7). Accurate for columns whose mean is much larger than their spread. O(nd) time, O(d) memory.
    ///
    /// # Errors
    /// If an entry is not finite.
    pub fn of(method: ScaleMethod, samples: &AnySamples<'_>) -> Result<(Self, Vec<usize>), DataError> {
        check_features(samples)?;
        if method == ScaleMethod::None {
            return Ok((Self::None, Vec::new()));
        }
        let sparse = samples.is_sparse();
        let moments = with_samples!(samples, s => column_moments(s));
        Ok(Self::of_moments(method, &moments, sparse))
    }

    fn of_moments(method: ScaleMethod, moments: &[Moments], sparse: bool) -> (Self, Vec<usize>) {
        let constant: Vec<usize> = (0..moments.len()).filter(|&j| moments[j].min == moments[j].max).collect();
        let positive = |scale: f64| if scale > 0.0 { scale } else { 1.0 };
        let scaling = match method {
            ScaleMethod::Standard => Self::Standard {
                means: moments.iter().map(|m| if sparse { 0.0 } else { m.mean }).collect(),
                scales: moments
                    .iter()
                    .map(|m| if m.min == m.max { 1.0 } else { positive(m.deviation) })
                    .collect(),
            },
            _ if sparse => Self::MinMax {
                mins: vec![0.0; moments.len()],
                ranges: moments.iter().map(|m| positive(m.max.abs().max(m.min.abs()))).collect(),
            },
            _ => Self::MinMax {
                mins: moments.iter().map(|m| m.min).collect(),
                // The range overflows only for values near both ±1e308; then the column spans [0, 2].
                ranges: moments.iter().map(|m| positive((m.max - m.min).min(f64::MAX))).collect(),
            },
        };
        (scaling, constant)
    }

    /// A short description.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            // Sparse data are not shifted.
            Self::Standard { means, .. } if means.iter().all(|mean| *mean == 0.0) => {
                "scaled to unit variance"
            }
            Self::Standard { .. } => "standardised",
            Self::MinMax { mins, .. } if mins.iter().all(|min| *min == 0.0) => {
                "divided by the largest magnitude of each column"
            }
            Self::MinMax { .. } => "to [0, 1]",
        }
    }

    /// Whether it applies to samples of this many columns.
    #[must_use]
    pub fn fits(&self, ncols: usize) -> bool {
        match self {
            Self::None => true,
            Self::Standard { means: shifts, scales } | Self::MinMax { mins: shifts, ranges: scales } => {
                shifts.len() == ncols && scales.len() == ncols
            }
        }
    }

    /// The scaled samples, in the same precision.
    ///
    /// # Errors
    /// If the samples have another number of columns than the scaling, or a scaled value leaves the range of their
    /// precision.
    pub fn apply(&self, samples: AnySamples<'_>) -> Result<AnySamples<'static>, DataError> {
        Ok(self.apply_from(samples, f64::NEG_INFINITY)?.0)
    }

    /// The scaled samples with entries below `lowest` raised to it, and the number of rows with such an entry.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_from(
        &self,
        samples: AnySamples<'_>,
        lowest: f64,
    ) -> Result<(AnySamples<'static>, usize), DataError> {
        let mut raised = BTreeSet::new();
        let scaled: AnySamples<'static> =
            with_samples!(samples, samples => self.apply_to(samples, lowest, &mut raised)?.into());
        Ok((scaled, raised.len()))
    }

    fn apply_to<T: Real>(
        &self,
        samples: Samples<'_, T>,
        lowest: f64,
        raised: &mut BTreeSet<usize>,
    ) -> Result<Samples<'static, T>, DataError> {
        let (shifts, scales) = match self {
            Self::None => return Ok(samples.into_owned()),
            Self::Standard { means, scales } => (means, scales),
            Self::MinMax { mins, ranges } => (mins, ranges),
        };
        let ncols = samples.ncols();
        if shifts.len() != ncols || scales.len() != ncols {
            let expected = scales.len().to_string();
            return Err(DataError::ColumnCount { file: "scaling".to_owned(), found: ncols, expected });
        }
        let mut scaled = |row: usize, column: usize, value: T| {
            let (x, shift, scale) = (value.to_f64(), shifts[column], scales[column]);
            let difference = x - shift;
            // The difference of two huge numbers may overflow although that of their quotients does not.
            let scaled = if difference.is_finite() { difference / scale } else { x / scale - shift / scale };
            if scaled < lowest {
                raised.insert(row);
                return Ok(T::from_f64(lowest));
            }
            let rounded = T::from_f64(scaled);
            if rounded.to_f64().is_finite() {
                return Ok(rounded);
            }
            let what = "scaled features".to_owned();
            Err(DataError::NonFiniteEntry { what, row, column, value: scaled })
        };
        match samples.into_storage() {
            Storage::Dense(entries) => {
                let mut entries = entries.into_owned();
                for (row, entries) in entries.chunks_exact_mut(ncols.max(1)).enumerate() {
                    for (column, entry) in entries.iter_mut().enumerate() {
                        *entry = scaled(row, column, *entry)?;
                    }
                }
                let nrows = entries.len() / ncols.max(1);
                Ok(Samples::dense(nrows, ncols, entries)?)
            }
            Storage::Sparse { indptr, indices, values } => {
                if shifts.iter().any(|&shift| shift != 0.0) {
                    let problem =
                        "a scaling fitted on dense rows would fill in the zeros of sparse ones".to_owned();
                    return Err(DataError::WrongKind { file: "scaling".to_owned(), problem });
                }
                let mut values = values.into_owned();
                for row in 0..indptr.len().saturating_sub(1) {
                    for k in indptr[row]..indptr[row + 1] {
                        values[k] = scaled(row, indices[k] as usize, values[k])?;
                    }
                }
                Ok(Samples::sparse(ncols, indptr.into_owned(), indices.into_owned(), values)?)
            }
        }
    }
}

/// The statistics for fitting a scaling to rows in chunks.
#[derive(Debug, Clone)]
pub struct ScalingSums {
    method: ScaleMethod,
    rows: f64,
    sparse: bool,
    columns: Vec<Moments>,
}

impl ScalingSums {
    /// Empty statistics.
    #[must_use]
    pub fn new(method: ScaleMethod) -> Self {
        Self { method, rows: 0.0, sparse: false, columns: Vec::new() }
    }

    /// Adds rows: means and squared deviations of both parts are combined (Chan, Golub & LeVeque 1983, eq. 2.1).
    ///
    /// # Errors
    /// If an entry is not finite.
    pub fn add(&mut self, samples: &AnySamples<'_>) -> Result<(), DataError> {
        check_features(samples)?;
        if self.method == ScaleMethod::None || samples.nrows() == 0 {
            return Ok(());
        }
        let (added, rows) = (with_samples!(samples, s => column_moments(s)), samples.nrows() as f64);
        if self.rows == 0.0 {
            (self.columns, self.rows, self.sparse) = (added, rows, samples.is_sparse());
            return Ok(());
        }
        let total = self.rows + rows;
        for (to, from) in self.columns.iter_mut().zip(added) {
            let (share, step) = (rows / total, from.mean - to.mean);
            let apart = step * (share * (1.0 - share)).sqrt();
            let squares = [to.deviation * (1.0 - share).sqrt(), from.deviation * share.sqrt(), apart];
            // As lengths, not squares: these overflow later.
            to.deviation = squares[0].hypot(squares[1]).hypot(squares[2]);
            to.mean += step * share;
            (to.min, to.max) = (to.min.min(from.min), to.max.max(from.max));
        }
        self.rows = total;
        Ok(())
    }

    /// The scaling, and the indices of constant columns.
    #[must_use]
    pub fn finish(&self) -> (Scaling, Vec<usize>) {
        match self.method {
            ScaleMethod::None => (Scaling::None, Vec::new()),
            method => Scaling::of_moments(method, &self.columns, self.sparse),
        }
    }
}

/// The largest power of two that is not above `largest`: squares and sums of values divided by it neither overflow nor
/// underflow, and the division is exact.
fn unit_of(largest: f64) -> f64 {
    let exponent_bits = largest.to_bits() & f64::INFINITY.to_bits();
    f64::from_bits(exponent_bits).max(f64::MIN_POSITIVE)
}

fn column_moments<T: Real>(samples: &Samples<'_, T>) -> Vec<Moments> {
    let (nrows, ncols) = (samples.nrows(), samples.ncols());
    let n = nrows as f64;
    // Entries that are not stored contribute as zeros, counted for each column.
    let mut unstored = vec![nrows; ncols];
    let (mut mins, mut maxs) = (vec![f64::INFINITY; ncols], vec![f64::NEG_INFINITY; ncols]);
    for_each_stored(samples, |column, value| {
        unstored[column] -= 1;
        mins[column] = mins[column].min(value);
        maxs[column] = maxs[column].max(value);
    });
    for column in (0..ncols).filter(|&column| unstored[column] > 0) {
        mins[column] = mins[column].min(0.0);
        maxs[column] = maxs[column].max(0.0);
    }
    let units: Vec<f64> =
        mins.iter().zip(&maxs).map(|(min, max)| unit_of(min.abs().max(max.abs()))).collect();

    let mut means = vec![0.0; ncols];
    for_each_stored(samples, |column, value| means[column] += value / units[column]);
    means.iter_mut().for_each(|sum| *sum /= n);

    // Sums of the deviations from that mean, zero except for rounding, and of their squares.
    let (mut sums, mut squares) = (vec![0.0; ncols], vec![0.0; ncols]);
    for column in 0..ncols {
        sums[column] = -means[column] * unstored[column] as f64;
        squares[column] = means[column] * means[column] * unstored[column] as f64;
    }
    for_each_stored(samples, |column, value| {
        let deviation = value / units[column] - means[column];
        sums[column] += deviation;
        squares[column] += deviation * deviation;
    });
    (0..ncols)
        .map(|column| {
            let correction = sums[column] / n;
            let variance = squares[column] / n - correction * correction;
            Moments {
                mean: (means[column] + correction) * units[column],
                deviation: variance.max(0.0).sqrt() * units[column],
                min: mins[column],
                max: maxs[column],
            }
        })
        .collect()
}

fn for_each_stored<T: Real>(samples: &Samples<'_, T>, mut visit: impl FnMut(usize, f64)) {
    match samples.storage() {
        Storage::Dense(entries) => {
            for row in entries.chunks_exact(samples.ncols().max(1)) {
                row.iter().enumerate().for_each(|(column, value)| visit(column, value.to_f64()));
            }
        }
        Storage::Sparse { indices, values, .. } => {
            indices
                .iter()
                .zip(values.iter())
                .for_each(|(&column, value)| visit(column as usize, value.to_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(ncols: usize, entries: &[f64]) -> AnySamples<'static> {
        AnySamples::F64(Samples::dense(entries.len() / ncols, ncols, entries.to_vec()).unwrap())
    }

    fn scaled(method: ScaleMethod, samples: &AnySamples<'static>) -> Vec<f64> {
        let (scaling, _) = Scaling::of(method, samples).unwrap();
        let AnySamples::F64(samples) = scaling.apply(samples.clone()).unwrap() else { panic!("stays f64") };
        samples.stored_values().to_vec()
    }

    #[test]
    fn standard_and_minmax_have_their_closed_forms() {
        let samples = dense(2, &[1.0, 10.0, 3.0, 30.0]);
        assert_eq!(scaled(ScaleMethod::Standard, &samples), [-1.0, -1.0, 1.0, 1.0]);
        assert_eq!(scaled(ScaleMethod::MinMax, &samples), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(scaled(ScaleMethod::None, &samples), [1.0, 10.0, 3.0, 30.0]);
    }

    #[test]
    fn chunks_give_the_scaling_of_the_whole() {
        let entries: Vec<f64> =
            (0..600).map(|k| 1e6 + (k as f64 * 0.37).sin() * (1 + k % 3) as f64).collect();
        for method in [ScaleMethod::Standard, ScaleMethod::MinMax, ScaleMethod::None] {
            let (whole, _) = Scaling::of(method, &dense(3, &entries)).unwrap();
            let mut sums = ScalingSums::new(method);
            for part in [&entries[..3], &entries[3..210], &entries[210..]] {
                sums.add(&dense(3, part)).unwrap();
            }
            let (found, constant) = sums.finish();
            assert!(constant.is_empty());
            let numbers = |scaling: &Scaling| match scaling {
                Scaling::None => Vec::new(),
                Scaling::Standard { means: a, scales: b } | Scaling::MinMax { mins: a, ranges: b } => {
                    [a.clone(), b.clone()].concat()
                }
            };
            for (a, b) in numbers(&whole).iter().zip(numbers(&found)) {
                assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");
            }
        }
    }

    #[test]
    fn a_mean_that_dwarfs_the_spread_costs_no_accuracy() {
        // 1e9 + {1, …, 1000}: the sum of squares alone would lose every digit of the variance.
        let entries: Vec<f64> = (1..=1000).map(|i| 1e9 + f64::from(i)).collect();
        let (scaling, constant) = Scaling::of(ScaleMethod::Standard, &dense(1, &entries)).unwrap();
        let Scaling::Standard { means, scales } = scaling else { panic!("standard") };
        assert_eq!(means, [1e9 + 500.5]);
        let expected = ((1000.0f64 * 1000.0 - 1.0) / 12.0).sqrt();
        assert!((scales[0] - expected).abs() < 1e-12 * expected, "{} {expected}", scales[0]);
        assert!(constant.is_empty());
    }

    #[test]
    fn huge_and_tiny_values_neither_overflow_nor_vanish() {
        for size in [1e300, 1.7e308, 1e-300] {
            let values = scaled(ScaleMethod::Standard, &dense(1, &[size, -size]));
            assert_eq!(values, [1.0, -1.0], "{size}");
            let values = scaled(ScaleMethod::MinMax, &dense(1, &[size, 0.0]));
            assert_eq!(values, [1.0, 0.0], "{size}");
        }
        let values = scaled(ScaleMethod::MinMax, &dense(1, &[1.7e308, -1.7e308]));
        assert!(values.iter().all(|v| v.is_finite()), "{values:?}");
    }

    #[test]
    fn constant_columns_are_named_and_become_zero() {
        let samples = dense(2, &[0.1, 1.0, 0.1, 2.0, 0.1, 3.0]);
        for method in [ScaleMethod::Standard, ScaleMethod::MinMax] {
            let (scaling, constant) = Scaling::of(method, &samples).unwrap();
            assert_eq!(constant, [0]);
            let AnySamples::F64(samples) = scaling.apply(samples.clone()).unwrap() else {
                panic!("stays f64")
            };
            for row in 0..3 {
                assert!(samples.stored_values()[2 * row].abs() < 1e-16);
            }
        }
    }

    #[test]
    fn sparse_columns_are_divided_and_never_shifted() {
        // Columns (0, 3, 0, 3), (−4, 0, 0, 0) and one of zeros.
        let rows = Samples::sparse(3, vec![0, 1, 2, 2, 3], vec![1, 0, 0], vec![-4.0, 3.0, 3.0]).unwrap();
        let samples = AnySamples::F64(rows);
        let (scaling, constant) = Scaling::of(ScaleMethod::Standard, &samples).unwrap();
        let expected = vec![1.5, 3.0f64.sqrt(), 1.0];
        assert_eq!(scaling, Scaling::Standard { means: vec![0.0; 3], scales: expected });
        assert_eq!(constant, [2]);
        let (scaling, _) = Scaling::of(ScaleMethod::MinMax, &samples).unwrap();
        let scaled = scaling.apply(samples.clone()).unwrap();
        assert!(scaled.is_sparse());
        let AnySamples::F64(scaled) = scaled else { panic!("stays f64") };
        assert_eq!(scaled.stored_values(), [-1.0, 1.0, 1.0]);
    }

    #[test]
    fn sparse_and_dense_deviations_agree() {
        let entries = [0.0, 2.5, 0.0, -1.0, 7.0, 0.0];
        let (Scaling::Standard { scales: full, .. }, _) =
            Scaling::of(ScaleMethod::Standard, &dense(1, &entries)).unwrap()
        else {
            panic!("standard")
        };
        let rows = Samples::sparse(1, vec![0, 0, 1, 1, 2, 3, 3], vec![0; 3], vec![2.5, -1.0, 7.0]).unwrap();
        let (Scaling::Standard { scales, .. }, _) =
            Scaling::of(ScaleMethod::Standard, &AnySamples::F64(rows)).unwrap()
        else {
            panic!("standard")
        };
        assert!((scales[0] - full[0]).abs() < 1e-14);
    }

    #[test]
    fn single_precision_stays_single() {
        let samples = AnySamples::F32(Samples::dense(2, 1, vec![1.0f32, 3.0]).unwrap());
        let (scaling, _) = Scaling::of(ScaleMethod::Standard, &samples).unwrap();
        let AnySamples::F32(scaled) = scaling.apply(samples).unwrap() else { panic!("stays f32") };
        assert_eq!(scaled.stored_values(), [-1.0, 1.0]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let (scaling, _) = Scaling::of(ScaleMethod::Standard, &dense(1, &[1.0, 3.0])).unwrap();
        let error = scaling.apply(dense(2, &[1.0, 2.0])).unwrap_err().to_string();
        assert!(error.contains("found 2 columns"), "{error}");
        let rows = Samples::sparse(1, vec![0, 1], vec![0], vec![1.0]).unwrap();
        assert!(scaling.apply(AnySamples::F64(rows)).is_err());
        assert!(Scaling::of(ScaleMethod::Standard, &dense(1, &[f64::NAN])).is_err());
        let narrow = Scaling::Standard { means: vec![0.0], scales: vec![1e-300] };
        let error = narrow.apply(dense(1, &[1e300])).unwrap_err().to_string();
        assert!(error.contains("row 0, column 0"), "{error}");
    }

    #[test]
    fn a_scaling_survives_the_model_file() {
        let (scaling, _) = Scaling::of(ScaleMethod::Standard, &dense(1, &[0.1, 0.2, 0.7])).unwrap();
        let text = serde_json::to_string(&scaling).unwrap();
        assert!(text.contains(r#""method":"standard""#), "{text}");
        assert_eq!(serde_json::from_str::<Scaling>(&text).unwrap(), scaling);
    }
}
