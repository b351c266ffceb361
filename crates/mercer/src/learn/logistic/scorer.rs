//! Tuning of logistic regression.

use crate::gram::DenseGram;
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::class_scorer::{ClassScorer, Fold, FoldTrainer, Trained};
use crate::learn::error::LearnError;
use crate::learn::lift::Lift;
use crate::learn::problem::{Inputs, Problem, Targets};
use crate::learn::ridge::Coefficients;
use crate::learn::search::{Criterion, Measure, Scorer, Shared, Tunable};
use crate::model::Link;
use crate::session::Session;
use crate::solve::SolveError;

use super::Logistic;

/// One kernel matrix for each kernel, and a path over λ for each fold: O(n²) memory.
impl Tunable for Logistic {
    fn open_kernel(&self) -> Option<&Kernel> {
        self.lift.kernel()
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        Self { lift: self.lift.with_kernel(kernel), ..self }
    }

    fn shared(&self) -> Shared {
        Shared::Lambda
    }

    fn with_shared(self, lambda: f64) -> Self {
        Self { lambda, ..self }
    }

    fn kernel_admission(&self) -> Admission {
        self.admission
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
        let class_weight = self.class_weight.resolved(problem.classes())?;
        let learner = self.clone().class_weight(class_weight);
        Ok(Box::new(ClassScorer::new(learner, problem, criterion, measure, session)?))
    }
}

impl FoldTrainer for Logistic {
    const LINK: Link = Link::Logits;

    fn train_fold(
        &self,
        gram: &DenseGram<'_, f64>,
        fold: &Fold,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Trained>>, LearnError> {
        // From strong to weak penalties each answer is a good start for the next.
        let mut order: Vec<usize> = (0..lambdas.len()).collect();
        order.sort_by(|&a, &b| lambdas[b].total_cmp(&lambdas[a]));
        let descending: Vec<f64> = order.iter().map(|&place| lambdas[place]).collect();
        let logistic = Self { class_weight: self.class_weight.among(&fold.present), ..self.clone() };
        let targets = Targets::codes(&fold.codes, fold.present.len());
        let problem = Problem::new(Inputs::Gram(gram), targets).weighted(fold.weights.as_deref());
        let mut answers = vec![None; lambdas.len()];
        for (place, found) in order.into_iter().zip(path(&logistic, &problem, &descending, session)?) {
            answers[place] = found.map(|found| (found.dual, found.intercepts));
        }
        Ok(answers)
    }
}

/// The path over descending `lambdas`; none for λ = 0 where it has no minimum.
fn path(
    logistic: &Logistic,
    problem: &Problem<'_>,
    lambdas: &[f64],
    session: &Session<'_>,
) -> Result<Vec<Option<Coefficients>>, LearnError> {
    match logistic.path(problem, lambdas, session) {
        Err(LearnError::Solve(SolveError::Separable)) => {
            let penalised = lambdas.partition_point(|lambda| *lambda > 0.0);
            let path = logistic.path(problem, &lambdas[..penalised], session)?;
            let mut found: Vec<_> = path.into_iter().map(Some).collect();
            found.resize_with(lambdas.len(), || None);
            Ok(found)
        }
        path => Ok(path?.into_iter().map(Some).collect()),
    }
}
