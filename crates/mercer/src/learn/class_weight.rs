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
    /// n/(K·n_c) for class c of K, which has n_c of the n rows: the weights of all classes have the same sum.
    Balanced,
    /// These, by the names of classes; 1 for others.
    Named(Vec<(String, f64)>),
    /// These, one per class: finite and not negative.
    #[serde(untagged)]
    Each(Vec<f64>),
}

impl ClassWeight {
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
    ) -> Result<Vec<f64>, LearnError> {
        let by_class = self.by_class(codes, classes)?;
        let own = |i: usize| weights.map_or(1.0, |w| w[i]);
        Ok(codes.iter().enumerate().map(|(i, &code)| by_class[code] * own(i)).collect())
    }

    /// The weight of every class.
    ///
    /// # Errors
    /// As [`combine`](Self::combine).
    pub(in crate::learn) fn by_class(&self, codes: &[usize], classes: usize) -> Result<Vec<f64>, LearnError> {
        match self {
            Self::Uniform => Ok(vec![1.0; classes]),
            Self::Balanced => {
                let mut counts = vec![0usize; classes];
                codes.iter().for_each(|&code| counts[code] += 1);
                let balanced = |&count: &usize| codes.len() as f64 / (classes * count.max(1)) as f64;
                Ok(counts.iter().map(balanced).collect())
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
