//! Tuning of logistic regression.

use crate::data::Matrix;
use crate::gram::DenseGram;
use crate::kernel::Kernel;
use crate::learn::class_scorer::{ClassScorer, Fold, FoldTrainer, Folds, Trained};
use crate::learn::class_weight::Counted;
use crate::learn::error::LearnError;
use crate::learn::kernel_check::KernelCheck;
use crate::learn::lift::Lift;
use crate::learn::problem::{Inputs, Problem, Targets};
use crate::learn::ridge::Coefficients;
use crate::learn::search::{Criterion, Measure, Scorer, Shared, Tunable};
use crate::model::Link;
use crate::session::Session;
use crate::solve::{Labels, LogisticFolds, LogisticSolver, SolveError};

use super::{Logistic, explain_failure};

/// One kernel matrix for each kernel, and a path over λ for all folds: O(n²) memory.
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
        let (order, descending) = descending(lambdas);
        let logistic = Self { class_weight: self.class_weight.among(&fold.present), ..self.clone() };
        let targets = Targets::codes(&fold.codes, fold.present.len());
        let problem = Problem::new(Inputs::Gram(gram), targets).weighted(fold.weights.as_deref());
        let mut answers = vec![None; lambdas.len()];
        for (place, found) in order.into_iter().zip(path(&logistic, &problem, &descending, session)?) {
            answers[place] = found.map(|found| (found.dual, found.intercepts));
        }
        Ok(answers)
    }

    fn outputs_left_out(
        &self,
        gram: &Matrix<f64>,
        folds: &Folds,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Vec<Option<Matrix<f64>>>>, LearnError> {
        let alike = folds.all.iter().all(|fold| fold.present.len() == folds.classes);
        if self.solver != LogisticSolver::Newton || !alike || lambdas.iter().any(|lambda| *lambda <= 0.0) {
            return folds.all.iter().map(|fold| self.outputs_of_fold(gram, fold, lambdas, session)).collect();
        }
        let (order, descending) = descending(lambdas);
        let mut outputs = vec![vec![None; lambdas.len()]; folds.all.len()];
        for (place, found) in order.into_iter().zip(together(self, gram, folds, &descending, session)?) {
            for ((outputs, fold), logits) in outputs.iter_mut().zip(&folds.all).zip(found) {
                let entries = fold.held_out.iter().flat_map(|&row| logits.row(row)).copied().collect();
                outputs[place] = Some(Matrix::from_entries(fold.held_out.len(), logits.ncols(), entries));
            }
        }
        Ok(outputs)
    }
}

/// The permutation that sorts values of λ in descending order, and the sorted values: from strong to weak penalties
/// each solution is a good start for the next.
fn descending(lambdas: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut order: Vec<usize> = (0..lambdas.len()).collect();
    order.sort_by(|&a, &b| lambdas[b].total_cmp(&lambdas[a]));
    let values = order.iter().map(|&place| lambdas[place]).collect();
    (order, values)
}

/// The path of all folds together over descending `lambdas`, all above 0, each fold with all of the classes.
fn together(
    logistic: &Logistic,
    gram: &Matrix<f64>,
    folds: &Folds,
    lambdas: &[f64],
    session: &Session<'_>,
) -> Result<Vec<Vec<Matrix<f64>>>, LearnError> {
    lambdas.iter().try_for_each(|&lambda| LearnError::check_lambda(lambda))?;
    logistic.validate()?;
    let n = gram.nrows();
    let labels = |fold: &Fold| {
        let weights = fold.weights.as_deref();
        let own = logistic.class_weight.combine(&fold.codes, folds.classes, weights, Counted::Weights)?;
        let mut weights = vec![0.0; n];
        fold.train.iter().zip(own).for_each(|(&row, weight)| weights[row] = weight);
        Ok::<_, LearnError>(Labels::new(&folds.codes, folds.classes, weights))
    };
    let labels = folds.all.iter().map(labels).collect::<Result<Vec<_>, LearnError>>()?;
    let settings = logistic.solver_settings(0.0, session);
    let gram = DenseGram::new(n, gram.entries()).for_products();
    let smallest = lambdas.iter().copied().fold(f64::INFINITY, f64::min);
    let problem = LogisticFolds::new(&gram, &labels, smallest, session.memory(), session)?;
    problem.path(lambdas, &settings, session).map_err(|error| explain_failure(&gram, error))
}

/// The path over descending `lambdas`; `None` for λ = 0 where it has no minimum.
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
