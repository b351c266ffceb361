//! The kernel smoother.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix};
use crate::gram::{TileMut, Wanted};
use crate::kernel::Kernel;
use crate::model::{Facts, Method, Rule, smooth_leaving_out};
use crate::session::Session;
use crate::tile::Program;

use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::knn::{check_features, neighbours, only_leave_one_out};
use super::learner::{Learner, Requires};
use super::problem::Problem;
use super::search::{Criterion, Measure, Score, Scorer, Tally, Tunable};
use super::settings::kept;
use super::targets;

/// Rows whose kernel values are examined if the formula does not show their sign.
const SAMPLE: usize = 256;

/// The kernel smoother: f(x) = Σᵢ k(x,xᵢ)yᵢ / Σᵢ k(x,xᵢ) (Nadaraya, 1964; Watson, 1964).
///
/// The kernel is a weight: it must be a function of distances alone and nowhere negative, but need not be positive
/// semidefinite. For classes the outputs are the share of each class. Training keeps the samples: O(nd).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Smoother {
    /// The kernel; `auto` in it is resolved from the samples.
    #[serde(default = "Kernel::gaussian_auto")]
    pub kernel: Kernel,
}

impl Smoother {
    /// Creates a smoother with this kernel.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self { kernel }
    }

    /// The mean error of predicting each row from all the others. O(n²d) time, no n² memory.
    ///
    /// # Errors
    /// As [`train`](Learner::train), if `auto` is left in the kernel, if there is one row only, and if the session is
    /// stopped.
    pub fn leave_one_out(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<f64, LearnError> {
        let score = self.left_out(samples, targets, measure, session)?;
        Ok(score.map_or(f64::NAN, |score| score.loss))
    }

    fn left_out(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Option<Score>, LearnError> {
        targets::check(samples.nrows(), targets)?;
        check_features(samples)?;
        if samples.nrows() < 2 {
            return Err(LearnError::TooManyNeighbours { k: 1, rows: 0 });
        }
        self.check_kernel(samples, session)?;
        let predicted = smooth_leaving_out(&self.kernel, samples, targets, session)?;
        let mut tally = Tally::of_targets(measure, targets.ncols());
        (0..targets.nrows()).for_each(|row| tally.add_predicted(predicted.row(row), targets.row(row)));
        Ok(Tally::score(&[tally]))
    }

    /// Checks that the kernel is a weight on these samples: by its formula, otherwise by its values at pairs of some of
    /// them.
    ///
    /// # Errors
    /// If it is not, or if it does not fit the samples.
    pub fn check_kernel(&self, samples: &AnySamples<'_>, session: &Session<'_>) -> Result<(), LearnError> {
        let no_weight = |reason: String| LearnError::NotAWeight { kernel: self.kernel.to_string(), reason };
        Program::compile(&self.kernel, samples.ncols())?;
        if !self.kernel.is_radial() {
            let allowed = "a smoother takes rbf, laplacian, matern, rq and formulas of |x-z| and |x-z|_1";
            return Err(no_weight(allowed.into()));
        }
        if self.kernel.is_visibly_nonnegative() {
            return Ok(());
        }
        let n = samples.nrows();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let rows = index::sample(&mut random, n, n.min(SAMPLE)).into_vec();
        let some = session.load(&samples.select(&rows))?;
        let places: Vec<usize> = (0..rows.len()).collect();
        let mut values = vec![0f64; rows.len() * rows.len()];
        some.gram(&self.kernel, Wanted::Exact)?.block(
            &places,
            &places,
            TileMut::new(&mut values, rows.len()),
        );
        match values.iter().position(|value| value.is_nan() || *value < 0.0) {
            None => Ok(()),
            Some(place) => {
                let (i, j) = (rows[place / rows.len()], rows[place % rows.len()]);
                Err(no_weight(format!(
                    "it is {} at rows {i} and {j}; weights must be 0 or more",
                    values[place]
                )))
            }
        }
    }
}

impl Learner for Smoother {
    fn method(&self) -> Method {
        Method::Smoother
    }

    fn requires(&self) -> Requires {
        Requires::NumbersOrClasses
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(self, &[], Some(session.seed()))
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        let samples = problem.samples()?;
        let kernel = self.kernel.resolve_auto(&session.scales(samples))?;
        let neighbours = neighbours(problem, Rule::Smoother { kernel: kernel.clone() })?;
        Self { kernel }.check_kernel(samples, session)?;
        Ok(Fitted::new(self, problem, session, Answer::kept(neighbours)))
    }
}

/// O(n²d) time for each kernel, no n² memory.
impl Tunable for Smoother {
    fn open_kernel(&self) -> Option<&Kernel> {
        Some(&self.kernel)
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel }
    }

    fn identity(&self, _: &str, _: Measure, _: u64) -> Option<String> {
        None
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        only_leave_one_out(problem, criterion, session)?;
        let (samples, targets) = (problem.samples()?, problem.numbers_or_shares()?);
        Ok(Box::new(move |kernel: Option<&Kernel>, shared: &[f64], session: &Session<'_>| {
            let smoother = Self { kernel: kernel.unwrap_or(&self.kernel).clone() };
            let score = smoother.left_out(samples, &targets, measure, &session.part())?;
            Ok(vec![score; shared.len()])
        }))
    }
}
