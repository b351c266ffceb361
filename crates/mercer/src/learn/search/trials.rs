//! What a search has tried: its table, and what it is resumed from.

use serde::{Deserialize, Serialize};

use crate::learn::LearnError;

use super::search::Search;

/// One row of the table: hyper-parameters and their score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The hyper-parameters of the kernel, in the order of its text.
    pub values: Vec<f64>,
    /// The hyper-parameter that is searched at each kernel: λ for ridge regression, C for support vector machines.
    pub setting: f64,
    /// The score, smaller is better; none where there is no answer, such as a system that is not positive definite.
    pub score: Option<f64>,
}

/// The trials of a search, in the order they were made.
///
/// Serialised and given back, they are not made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    /// A digest of the data and of all that a score depends on, as hexadecimal digits.
    pub problem: String,
    /// The names of the hyper-parameters: those of the kernel, then the setting.
    pub names: Vec<String>,
    /// The table.
    pub rows: Vec<Trial>,
}

impl Trials {
    /// The trial with the smallest score, the first of equals.
    #[must_use]
    pub fn best(&self) -> Option<&Trial> {
        let scored = self.rows.iter().filter_map(|trial| Some((trial, trial.score?)));
        scored.reduce(|best, next| if next.1 < best.1 { next } else { best }).map(|(trial, _)| trial)
    }

    /// The trials that a search starts from: those to resume, or none.
    ///
    /// # Errors
    /// Where those to resume are of another problem.
    pub(super) fn starting(
        problem: String,
        search: &Search,
        resume: Option<Self>,
    ) -> Result<Self, LearnError> {
        // A setting without a name is none.
        let names = search.axes.iter().chain([&search.setting]).map(|axis| axis.name.clone());
        let names = names.filter(|name| !name.is_empty()).collect();
        match resume {
            Some(trials) if trials.problem != problem => Err(LearnError::Unsupported(
                "the trials to resume from are of other data, another kernel or another criterion",
            )),
            Some(trials) => Ok(trials),
            None => Ok(Self { problem, names, rows: Vec::new() }),
        }
    }

    /// The scores at these hyper-parameters for each of `settings`, where all of them are known.
    pub(super) fn known(&self, values: &[f64], settings: &[f64]) -> Option<Vec<Option<f64>>> {
        let score = |setting: &f64| {
            let same = |trial: &&Trial| trial.values == values && trial.setting == *setting;
            self.rows.iter().find(same).map(|trial| trial.score)
        };
        settings.iter().map(score).collect()
    }
}
