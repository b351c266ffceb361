//! Weights of classes.

use serde::{Deserialize, Serialize};

use crate::data::Classes;

use super::error::LearnError;

/// The weight of each class, by which those of its rows are multiplied.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeight {
    /// 1 for every class.
    #[default]
    Uniform,
    /// n/(K·n_c) for class c of K, which has n_c of the n rows. As in scikit-learn, logistic regression counts the weights of
    /// the rows, and support vector machines the rows.
    Balanced,
    /// These, by the names of classes; 1 for others.
    Named(Vec<(String, f64)>),
    /// These, one per class: finite and not negative.
    #[serde(untagged)]
    Each(Vec<f64>),
}

/// What [`ClassWeight::Balanced`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::learn) enum Counted {
    /// Each row once.
    Rows,
    /// Each row by its weight.
    Weights,
}

impl ClassWeight {
    /// The weights of [`Balanced`](Self::Balanced) for classes of which this much was counted; a class without any has n/K.
    #[must_use]
    pub fn balanced(counts: &[f64]) -> Vec<f64> {
        let total: f64 = counts.iter().sum();
        let of = |&count: &f64| total / (counts.len() as f64 * if count > 0.0 { count } else { 1.0 });
        counts.iter().map(of).collect()
    }

    /// The weights of some of the classes only.
    #[must_use]
    pub fn among(&self, classes: &[usize]) -> Self {
        match self {
            Self::Each(all) => {
                Self::Each(classes.iter().filter_map(|&class| all.get(class).copied()).collect())
            }
            other => other.clone(),
        }
    }

    /// Weights by the classes' indices instead of their names. A name that is a number matches the class of that value.
    ///
    /// # Errors
    /// If a name is not that of a class.
    pub fn resolved(&self, classes: Option<&Classes>) -> Result<Self, LearnError> {
        let (Self::Named(weights), Some(classes)) = (self, classes) else { return Ok(self.clone()) };
        let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
        let mut each = vec![1.0; names.len()];
        for (name, weight) in weights {
            let same =
                |known: &String| known == name || known.parse::<f64>().is_ok_and(|k| name.parse() == Ok(k));
            let Some(code) = names.iter().position(same) else {
                return Err(LearnError::UnknownClass { name: name.clone(), classes: names.join(", ") });
            };
            each[code] = *weight;
        }
        Ok(Self::Each(each))
    }

    /// The weight of every row: that of its class times its own.
    ///
    /// # Errors
    /// If there is not a weight for every class, or if one is negative or not finite.
    pub(super) fn combine(
        &self,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
        counted: Counted,
    ) -> Result<Vec<f64>, LearnError> {
        let by_class = self.by_class(codes, classes, weights.filter(|_| counted == Counted::Weights))?;
        let own = |i: usize| weights.map_or(1.0, |w| w[i]);
        Ok(codes.iter().enumerate().map(|(i, &code)| by_class[code] * own(i)).collect())
    }

    /// The weight of every class. Rows count by `weights`; once if there are none.
    ///
    /// # Errors
    /// As [`combine`](Self::combine).
    pub(in crate::learn) fn by_class(
        &self,
        codes: &[usize],
        classes: usize,
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, LearnError> {
        match self {
            Self::Uniform => Ok(vec![1.0; classes]),
            Self::Balanced => {
                let mut counts = vec![0.0; classes];
                codes.iter().enumerate().for_each(|(i, &code)| counts[code] += weights.map_or(1.0, |w| w[i]));
                Ok(Self::balanced(&counts))
            }
            Self::Each(given) => {
                if given.len() != classes {
                    return Err(LearnError::parameter(
                        "class weights",
                        format!("{} numbers", given.len()),
                        "one number per class",
                    ));
                }
                if let Some(weight) = given.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
                    return Err(LearnError::parameter("class weight", weight, "a finite number, 0 or more"));
                }
                Ok(given.clone())
            }
            Self::Named(_) => {
                Err(LearnError::Unsupported("class weights by name need the names of the classes"))
            }
        }
    }
}
