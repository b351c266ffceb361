//! A feature map prepared for samples with a fixed number of columns.

use std::ops::Range;

use crate::data::AnySamples;
use crate::kernel::Shortest;

use super::FeatureMap;
use super::error::DesignError;
use super::formula::Formula;
use super::monomials::{Monomials, Scratch, product_name};

/// Numbers computed at a time: few enough to stay in the cache.
const BLOCK: usize = 1 << 16;

/// A feature map over a fixed number of columns: it computes the features of rows. [`FeatureMap::over`] makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    map: FeatureMap,
    ncols: usize,
    lift: Lift,
    shift: Option<Vec<f64>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Lift {
    /// Monomials of x, or of x/σ times e^{−‖x‖²/(2σ²)}.
    Monomials { monomials: Monomials, sigma: Option<f64> },
    /// One formula per feature.
    Formulas(Vec<Formula>),
}

impl Transform {
    pub(super) fn new(map: &FeatureMap, ncols: usize, budget: u64) -> Result<Self, DesignError> {
        map.check_columns(ncols)?;
        let count = map.count(ncols)?;
        // Three numbers for each monomial up to the degree, including those that are left out.
        let kept = map.squares().map_or(count, |(_, squares)| {
            u64::try_from(map.big_count(ncols, |_| true, squares.len())).unwrap_or(u64::MAX)
        });
        let needed = kept.saturating_mul(24);
        if needed > budget {
            let what = "one row of them".into();
            return Err(DesignError::TooLarge {
                map: map.to_string(),
                columns: ncols,
                count,
                what,
                needed,
                budget,
            });
        }
        let sigma = if let FeatureMap::Taylor { sigma, .. } = map { Some(*sigma) } else { None };
        let lift = match map.squares() {
            Some((weight, squares)) => {
                Lift::Monomials { monomials: Monomials::new(ncols, weight, &squares), sigma }
            }
            None => Lift::Formulas(map.formulas().expand(ncols)),
        };
        Ok(Self { map: map.clone(), ncols, lift, shift: None })
    }

    /// The same transform of samples from which `shift` is subtracted first.
    ///
    /// # Panics
    /// If `shift` has another length than there are columns.
    #[must_use]
    pub fn shifted(self, shift: Option<Vec<f64>>) -> Self {
        assert!(shift.as_ref().is_none_or(|s| s.len() == self.ncols), "one number per column");
        Self { shift, ..self }
    }

    /// The map.
    #[must_use]
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// Columns of the samples.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Number of features.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.lift {
            Lift::Monomials { monomials, .. } => monomials.count(),
            Lift::Formulas(formulas) => formulas.len(),
        }
    }

    /// The features that are the same for every sample.
    #[must_use]
    pub fn constants(&self) -> Vec<usize> {
        match &self.lift {
            Lift::Monomials { monomials, sigma: None } if monomials.has_constant() => vec![0],
            Lift::Monomials { .. } => Vec::new(),
            Lift::Formulas(formulas) => {
                (0..formulas.len()).filter(|&i| formulas[i].columns().is_empty()).collect()
            }
        }
    }

    /// The name of one feature, from those of the columns.
    pub(super) fn name(&self, index: usize, columns: &[String]) -> String {
        match &self.lift {
            Lift::Monomials { monomials, .. } => product_name(&monomials.factors(index), columns),
            Lift::Formulas(formulas) => formulas[index].text(&|column| columns[column].clone()),
        }
    }

    /// Writes the features of a range of samples into `out`, row after row. O(1) time for each feature.
    ///
    /// # Errors
    /// If the samples have another number of columns, or if a feature is not a finite number.
    ///
    /// # Panics
    /// If `out` does not have as many entries as there are rows times features, or a row is not there.
    pub fn fill(
        &self,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), DesignError> {
        let count = self.count();
        assert_eq!(out.len(), rows.len() * count, "one row of {count} features per sample");
        if samples.ncols() != self.ncols {
            return Err(DesignError::Columns { found: samples.ncols(), expected: self.ncols });
        }
        if out.is_empty() {
            return Ok(());
        }
        match &self.lift {
            Lift::Monomials { monomials, sigma } => {
                let (mut x, mut scratch) = (vec![0.0; self.ncols], Scratch::default());
                for (row, out) in rows.clone().zip(out.chunks_exact_mut(count)) {
                    self.copy_row(samples, row, &mut x);
                    let mut scale = 1.0;
                    if let Some(sigma) = sigma {
                        x.iter_mut().for_each(|x| *x /= sigma);
                        // Scaling comes before the monomials, so that no product of large and small numbers overflows
                        // or underflows.
                        scale = (-0.5 * x.iter().map(|x| x * x).sum::<f64>()).exp();
                    }
                    monomials.fill(&x, scale, &mut scratch, out);
                }
            }
            Lift::Formulas(formulas) => self.fill_formulas(formulas, samples, rows.clone(), out),
        }
        match out.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(self.not_finite(samples, rows.start + at / count, at % count, out[at])),
            None => Ok(()),
        }
    }

    /// Blocks of columns, each formula over a whole block at a time.
    fn fill_formulas(
        &self,
        formulas: &[Formula],
        samples: &AnySamples<'_>,
        rows: Range<usize>,
        out: &mut [f64],
    ) {
        let height = (BLOCK / self.ncols.max(1)).clamp(1, 256);
        let mut x = vec![0.0; self.ncols];
        for (block, out) in out.chunks_mut(height * formulas.len()).enumerate() {
            let (first, height) = (rows.start + block * height, out.len() / formulas.len());
            let mut columns = vec![0.0; self.ncols * height];
            for i in 0..height {
                self.copy_row(samples, first + i, &mut x);
                x.iter().enumerate().for_each(|(j, x)| columns[j * height + i] = *x);
            }
            for (f, formula) in formulas.iter().enumerate() {
                for (i, value) in formula.values(&columns, height).iter().enumerate() {
                    out[i * formulas.len() + f] = *value;
                }
            }
        }
    }

    fn copy_row(&self, samples: &AnySamples<'_>, row: usize, x: &mut [f64]) {
        samples.copy_row(row, x);
        if let Some(shift) = &self.shift {
            x.iter_mut().zip(shift).for_each(|(x, s)| *x -= s);
        }
    }

    fn not_finite(&self, samples: &AnySamples<'_>, row: usize, index: usize, value: f64) -> DesignError {
        let names: Vec<String> = (0..self.ncols).map(|column| format!("x{column}")).collect();
        let columns = match &self.lift {
            Lift::Monomials { monomials, .. } => {
                let mut factors = monomials.factors(index);
                factors.dedup();
                factors
            }
            Lift::Formulas(formulas) => formulas[index].columns(),
        };
        let mut x = vec![0.0; self.ncols];
        self.copy_row(samples, row, &mut x);
        let at = columns.iter().map(|&column| format!("{} = {}", names[column], Shortest(x[column])));
        let at = if columns.is_empty() { "it is constant".into() } else { at.collect::<Vec<_>>().join(", ") };
        DesignError::NonFinite { feature: self.name(index, &names), row, value, at }
    }

    /// The error for an allocation for these features that does not fit the memory budget.
    #[must_use]
    pub(crate) fn too_large(&self, what: String, needed: u64, budget: u64) -> DesignError {
        let (map, columns, count) = (self.map.to_string(), self.ncols, self.count() as u64);
        DesignError::TooLarge { map, columns, count, what, needed, budget }
    }
}
