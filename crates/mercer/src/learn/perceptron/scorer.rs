//! Tuning of the perceptron.

use crate::gram::DenseGram;
use crate::kernel::Kernel;
use crate::learn::class_scorer::{ClassScorer, Fold, FoldTrainer, Trained};
use crate::learn::error::LearnError;
use crate::learn::kernel_check::KernelCheck;
use crate::learn::lift::Lift;
use crate::learn::problem::Problem;
use crate::learn::search::{Criterion, Measure, Scorer, Tunable};
use crate::model::Link;
use crate::session::Session;

use super::Perceptron;

/// One kernel matrix for each kernel: O(n²) memory.
impl Tunable for Perceptron {
    fn open_kernel(&self) -> Option<&Kernel> {
        self.lift.kernel()
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        Self { lift: self.lift.with_kernel(kernel), ..self }
    }

    fn check_of_trials(&self) -> KernelCheck {
        self.kernel_check
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        if !matches!(self.lift, Lift::Kernel(_)) {
            return Err(LearnError::Unsupported("a classifier is tuned on a kernel itself, not on features"));
        }
        Ok(Box::new(ClassScorer::new(self.clone(), problem, criterion, measure, session)?))
    }
}

impl FoldTrainer for Perceptron {
    const LINK: Link = Link::Decisions;

    fn train_fold(
        &self,
        gram: &DenseGram<'_, f64>,
        fold: &Fold,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Trained>>, LearnError> {
        let dual = self.dual(gram, &fold.codes, fold.present.len(), session)?;
        let intercepts = vec![0.0; dual.ncols()];
        Ok(vec![Some((dual, intercepts)); shared.len()])
    }
}
