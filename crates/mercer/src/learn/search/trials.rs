//! The trials of a search: a table, from which an interrupted search is resumed.

use serde::{Deserialize, Serialize};

use crate::learn::error::LearnError;
use crate::session::Session;

use super::scorer::Score;
use super::search::Search;

/// One row of the table: hyper-parameters and their score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The hyper-parameters of the kernel, in the order of its text.
    pub values: Vec<f64>,
    /// The hyper-parameter that is searched at each kernel: λ for ridge regression, C for support vector machines.
    pub setting: f64,
    /// The score, smaller is better; `None` if there is no answer, such as a system that is not positive definite.
    pub score: Option<f64>,
    /// The standard error of the score, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
}

/// The trials of a search, in the order they were made.
///
/// Trials can be serialised, and a search that receives them does not repeat them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    /// A digest of the data and of everything else that a score depends on, as hexadecimal digits.
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

    /// The trials that a search of this problem starts from: those in the checkpoint of the session, or none. Without a
    /// digest of the problem none are stored.
    ///
    /// # Errors
    /// If those in the checkpoint are of another problem or damaged.
    pub(crate) fn starting(
        problem: Option<String>,
        search: &Search,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        // A setting without a name means that there is none.
        let names = search.axes.iter().chain([&search.setting]).map(|axis| axis.name.clone());
        let names = names.filter(|name| !name.is_empty()).collect();
        let new = Self { problem: problem.unwrap_or_default(), names, rows: Vec::new() };
        let kept = new.work().zip(session.checkpoint()).and_then(|(work, kept)| kept.load(work));
        let Some(bytes) = kept else { return Ok(new) };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(trials) if trials.problem == new.problem => Ok(trials),
            Ok(_) => Err(LearnError::Unsupported(
                "the trials to resume from are of other data, another kernel or another criterion",
            )),
            Err(_) => Err(LearnError::Unsupported("the checkpoint does not hold the trials of a search")),
        }
    }

    /// Saves the trials in the checkpoint of the session, if that is due or the search has ended.
    pub(super) fn keep(&self, end: bool, session: &Session<'_>) {
        if let Some((work, checkpoint)) = self.work().zip(session.checkpoint())
            && !self.rows.is_empty()
            && (end || checkpoint.due())
            && let Ok(bytes) = serde_json::to_vec(self)
        {
            checkpoint.save(work, bytes);
        }
    }

    /// The number under which a checkpoint stores them.
    fn work(&self) -> Option<u64> {
        u64::from_str_radix(&self.problem, 16).ok()
    }

    /// The scores at these hyper-parameters for each of `settings`, if all of them are known.
    pub(super) fn known(&self, values: &[f64], settings: &[f64]) -> Option<Vec<Option<Score>>> {
        let score = |setting: &f64| {
            let same = |trial: &&Trial| trial.values == values && trial.setting == *setting;
            let trial = self.rows.iter().find(same)?;
            Some(trial.score.map(|loss| Score { error: trial.error, ..loss.into() }))
        };
        settings.iter().map(score).collect()
    }
}
