//! Features of rows: a map, random features or landmarks.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::data::{AnySamples, Matrix, Passes};
use crate::gram::{Values, ValuesMut};
use crate::kernel::Kernel;
use crate::linalg::NormalEquations;
use crate::real::Precision;
use crate::session::Session;
use crate::watch::Watch;

use super::Design;
use super::error::{DesignError, check_columns};
use super::feature_map::FeatureMap;
use super::fourier::{Fourier, RandomFeatures};
use super::held::{Held, filled};
use super::landmarks::Landmarks;
use super::passes::Parts;
use super::recomputed::{Recomputed, fill_in_slices};
use super::streamed::Streamed;
use super::text::FeatureTextError;
use super::transform::Transform;

/// Features of samples. The features of a row do not depend on other rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// A finite map, with every column by its index.
    Map(FeatureMap),
    /// Random Fourier features, ⟨φ(x),φ(z)⟩ ≈ k(x,z).
    Fourier(Box<Fourier>),
    /// Whitened kernel values with landmarks, ⟨φ(x),φ(z)⟩ ≈ k(x,z).
    Landmarks(Box<Landmarks>),
}

impl Features {
    /// The kernel that the features approximate; `None` for a map.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Map(_) => None,
            Self::Fourier(fourier) => Some(&fourier.spec.kernel),
            Self::Landmarks(landmarks) => Some(landmarks.kernel()),
        }
    }

    /// The number of features of samples with this many columns.
    ///
    /// # Errors
    /// [`DesignError::TooMany`] if it does not fit the address space.
    pub fn count(&self, columns: usize) -> Result<usize, DesignError> {
        match self {
            Self::Map(map) => {
                let count = map.count(columns)?;
                usize::try_from(count).map_err(|_| DesignError::TooMany {
                    map: map.to_string(),
                    columns,
                    count: count.to_string(),
                })
            }
            Self::Fourier(fourier) => Ok(fourier.features.count()),
            Self::Landmarks(landmarks) => Ok(landmarks.count()),
        }
    }

    /// The features prepared for samples with this many columns, from which `shift` is subtracted first.
    ///
    /// # Errors
    /// If the features are of another number of columns, as [`FeatureMap::over`], and [`DesignError::Shifted`] if
    /// others than those of a map are to be shifted.
    pub fn ready<'a>(
        &'a self,
        columns: usize,
        shift: Option<&[f64]>,
        session: &'a Session<'a>,
    ) -> Result<RowFeatures<'a>, DesignError> {
        let ready = match self {
            Self::Map(map) => {
                let transform = map.over(columns, session.memory())?;
                return Ok(RowFeatures::Map(transform.shifted(shift.map(<[f64]>::to_vec))));
            }
            Self::Fourier(fourier) => RowFeatures::Fourier(&fourier.features),
            Self::Landmarks(landmarks) => RowFeatures::Landmarks(landmarks, session),
        };
        if ready.columns() != columns {
            return Err(DesignError::Columns { found: columns, expected: ready.columns() });
        }
        if shift.is_some() { Err(DesignError::Shifted) } else { Ok(ready) }
    }

    /// The features of all samples as a design: stored in the precision of the samples if they fit the memory of the
    /// session, otherwise recomputed for each pass.
    ///
    /// # Errors
    /// As [`ready`](Self::ready), if features are not finite, and if the session is stopped.
    pub fn design<'a>(
        &'a self,
        samples: &'a AnySamples<'a>,
        session: &'a Session<'a>,
    ) -> Result<Box<dyn Design + 'a>, DesignError> {
        let recomputed = Recomputed::new(self.ready(samples.ncols(), None, session)?, samples)?;
        if bytes_needed(&recomputed) > session.memory() {
            return Ok(Box::new(recomputed));
        }
        Ok(Box::new(Held::of(&recomputed, session)?))
    }

    /// The features of all rows of a stream as a design: stored, after one pass, if they fit the memory of the session
    /// beside the rows that the stream holds, otherwise recomputed for each pass.
    ///
    /// # Errors
    /// As [`design`](Self::design), and if the rows cannot be read.
    pub fn design_of_stream<'a>(
        &'a self,
        passes: &'a dyn Passes,
        session: &'a Session<'a>,
    ) -> Result<Box<dyn Design + 'a>, DesignError> {
        let streamed = Streamed::new(self, passes, session)?;
        if bytes_needed(&streamed).saturating_add(passes.bytes_held()) > session.memory() {
            return Ok(Box::new(streamed));
        }
        Ok(Box::new(streamed.held(session)?))
    }

    /// Whether the engine of the session sums over these features faster than passes over them do.
    #[must_use]
    pub fn engine_adds(&self, session: &Session<'_>) -> bool {
        matches!(self, Self::Fourier(_)) && session.engine().wave_sums().is_some()
    }

    /// Adds the features of each row, its targets and its weight to the sums of its part, on the engine of the session
    /// if it supports that.
    ///
    /// O(nDd + nD²/2) time for n rows of d columns and D features.
    ///
    /// # Errors
    /// If the rows, targets and weights do not match in number or hold a value that is not finite, or if the session is
    /// stopped.
    pub fn add_sums(
        &self,
        samples: &AnySamples<'_>,
        (targets, weights): (&Matrix<f64>, Option<&[f64]>),
        parts: &Parts<'_>,
        into: &mut [NormalEquations],
        session: &Session<'_>,
    ) -> Result<(), DesignError> {
        let ready = self.ready(samples.ncols(), None, session)?;
        let (RowFeatures::Fourier(features), Some(engine)) = (&ready, session.engine().wave_sums()) else {
            let design = Recomputed::new(ready, samples)?;
            return design.normal_equations(targets, weights, parts, into, session);
        };
        match parts {
            Parts::All => features.add_sums(samples, (targets, weights), engine, &mut into[0], session),
            Parts::Table(table) => {
                for (part, into) in into.iter_mut().enumerate() {
                    let rows: Vec<usize> = (0..table.len()).filter(|&row| table[row] == Some(part)).collect();
                    let weights: Option<Vec<f64>> = weights.map(|w| rows.iter().map(|&row| w[row]).collect());
                    let labels = (&targets.select(&rows), weights.as_deref());
                    features.add_sums(&samples.select(&rows), labels, engine, into, session)?;
                }
                Ok(())
            }
        }
    }

    /// Features that are, up to a common factor c, a half-size approximation of the same kind, and c²: every other
    /// frequency, or the first half of the landmarks. `None` if there is only one, and for a map.
    ///
    /// The fit with half of the features follows from sums over all of them.
    #[must_use]
    pub fn half(&self) -> Option<(Vec<usize>, f64)> {
        match self {
            Self::Map(_) => None,
            Self::Fourier(fourier) => {
                let features = &fourier.features;
                let count = features.frequencies().nrows();
                let pairs = features.shifts().is_none();
                let cosines = (0..count).step_by(2);
                let sines = cosines.clone().filter(|_| pairs).map(|k| k + count);
                (count > 1).then(|| {
                    let kept: Vec<usize> = cosines.clone().chain(sines).collect();
                    let share = count as f64 / cosines.len() as f64;
                    (kept, share)
                })
            }
            // The factor of the first landmarks is a corner of the factor of all.
            Self::Landmarks(landmarks) => {
                let count = landmarks.count();
                (count > 1).then(|| ((0..count / 2).collect(), 1.0))
            }
        }
    }
}

/// The bytes of all rows of a design.
fn bytes_needed(design: &dyn Design) -> u64 {
    let entries = (design.nrows() as u64).saturating_mul(design.ncols() as u64);
    entries.saturating_mul(design.precision().bytes())
}

impl From<FeatureMap> for Features {
    fn from(map: FeatureMap) -> Self {
        Self::Map(map)
    }
}

impl From<Fourier> for Features {
    fn from(fourier: Fourier) -> Self {
        Self::Fourier(Box::new(fourier))
    }
}

impl From<Landmarks> for Features {
    fn from(landmarks: Landmarks) -> Self {
        Self::Landmarks(Box::new(landmarks))
    }
}

/// Reads a finite map; a text does not hold random features or landmarks.
impl FromStr for Features {
    type Err = FeatureTextError;

    fn from_str(text: &str) -> Result<Self, FeatureTextError> {
        text.parse().map(Self::Map)
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(map) => map.fmt(f),
            Self::Fourier(fourier) => {
                write!(f, "fourier:{} of {}", fourier.features.count(), fourier.spec.kernel)
            }
            Self::Landmarks(landmarks) => {
                write!(f, "nystrom:{} of {}", landmarks.count(), landmarks.kernel())
            }
        }
    }
}

/// Features prepared for samples with a fixed number of columns.
#[derive(Debug)]
pub enum RowFeatures<'a> {
    /// A map over these columns.
    Map(Transform),
    /// Random features.
    Fourier(&'a RandomFeatures),
    /// Whitened kernel values with landmarks.
    Landmarks(&'a Landmarks, &'a Session<'a>),
}

impl<'a> From<&'a RandomFeatures> for RowFeatures<'a> {
    fn from(features: &'a RandomFeatures) -> Self {
        Self::Fourier(features)
    }
}

impl RowFeatures<'_> {
    /// Columns of the samples.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Self::Map(transform) => transform.ncols(),
            Self::Fourier(features) => features.columns(),
            Self::Landmarks(landmarks, _) => landmarks.columns(),
        }
    }

    /// The number of features.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Map(transform) => transform.count(),
            Self::Fourier(features) => features.count(),
            Self::Landmarks(landmarks, _) => landmarks.count(),
        }
    }

    /// The precision in which features of these samples are computed: that of the samples, and double for a map.
    #[must_use]
    pub fn precision(&self, samples: &AnySamples<'_>) -> Precision {
        match (self, samples) {
            (Self::Fourier(_) | Self::Landmarks(..), AnySamples::F32(_)) => Precision::Single,
            _ => Precision::Double,
        }
    }

    /// Writes the features of some rows of `samples` to `out`, row after row, computed in the precision of `out`; those of a map
    /// in double precision.
    ///
    /// # Errors
    /// If the samples have another number of columns, if a feature of a map is not finite, or if `watch` asks to stop.
    ///
    /// # Panics
    /// If `out` does not have an entry for each row and feature.
    pub fn fill(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: ValuesMut<'_>,
        watch: &dyn Watch,
    ) -> Result<(), DesignError> {
        match (self, out) {
            (Self::Map(transform), ValuesMut::F64(out)) => {
                fill_in_slices(rows, transform.count(), out, watch, |rows, out| {
                    transform.fill(samples, rows, out)
                })
            }
            (Self::Map(_), ValuesMut::F32(out)) => {
                let mut wide = vec![0.0; out.len()];
                self.fill(samples, rows, (&mut wide).into(), watch)?;
                out.iter_mut().zip(wide).for_each(|(out, wide)| *out = wide as f32);
                Ok(())
            }
            (Self::Fourier(features), out) => features.fill(samples, rows, out, watch),
            (Self::Landmarks(landmarks, session), out) => {
                landmarks.fill(samples, rows, out, &session.with_watch(watch))
            }
        }
    }

    /// The features of all samples in this precision.
    ///
    /// # Errors
    /// As [`fill`](Self::fill), and if they do not fit the memory of the session.
    pub fn transform(
        &self,
        samples: &AnySamples<'_>,
        precision: Precision,
        session: &Session<'_>,
    ) -> Result<Values, DesignError> {
        check_columns(samples, self.columns())?;
        let (rows, budget) = (samples.nrows(), session.memory());
        let needed = (rows as u64).saturating_mul(self.count() as u64).saturating_mul(precision.bytes());
        match self {
            _ if needed <= budget => {}
            Self::Map(transform) => {
                return Err(transform.too_large(format!("those of {rows} rows"), needed, budget));
            }
            _ => return Err(DesignError::Memory { what: "the features", needed, budget }),
        }
        filled(precision, rows, self.count(), session, |rows, out| self.fill(samples, rows, out, session))
    }
}
