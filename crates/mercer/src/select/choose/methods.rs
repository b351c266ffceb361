//! The searches of each method.

use crate::design::Approximation;
use crate::kernel::{Kernel, SearchSpace};
use crate::learn::search::{Criterion, Measure, Tunable};
use crate::learn::svm::{FEASIBLE, Machine, Svm};
use crate::learn::{
    AnyLearner, Inputs, Intercept, LearnError, Learner, Lift, Logistic, LogisticSolver, Problem, Ridge,
    Targets,
};
use crate::session::Session;

use super::baseline::baseline;
use super::drawn::Drawn;
use super::grid::{Best, COARSE, Grid, Widths, gaussian, kernel_size, rounded, text};
use super::{Choose, Chosen, Open, by_gamma};

/// The most rows for the larger number of folds.
const FEW: usize = 500;

/// The most approximate features for which the search uses the features; with more, the kernel itself is close enough
/// on a sample.
const FEW_FEATURES: usize = 512;

/// The violation of optimality at which a trial of a classification stops, and that of a regression as a fraction of
/// the residuals.
const TRIAL_TOL: (f64, f64) = (1e-2, 0.05);

/// ν of ν-classification, smooth machines first.
const NUS: [f64; 8] = [0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05, 0.02];

impl Choose {
    /// The choice for a fit to `rows` rows, those of the problem and others.
    pub(super) fn methods(
        &self,
        drawn: &Drawn,
        (problem, rows): (&Problem<'_>, usize),
        session: &Session<'_>,
    ) -> Result<Option<Chosen>, LearnError> {
        match &self.learner {
            AnyLearner::Ridge(ridge) => self.ridge(ridge, drawn, rows, session),
            AnyLearner::Logistic(logistic) => self.logistic(logistic, drawn, session).map(Some),
            AnyLearner::Svm(svm) => match svm.machine {
                Machine::Svc { .. } | Machine::NuSvc { .. } => {
                    self.classification(svm, drawn, problem, session).map(Some)
                }
                Machine::Svr { .. } | Machine::NuSvr { .. } => self.regression(svm, drawn, session).map(Some),
                Machine::OneClass { .. } => self.one_class(svm, drawn, session),
            },
            _ => Ok(None),
        }
    }

    /// The widths to try, where the kernel is open.
    fn widths(
        &self,
        by_gamma: bool,
        drawn: &Drawn,
        session: &Session<'_>,
    ) -> Result<Option<Widths>, LearnError> {
        match (self.open, &drawn.problem().inputs) {
            (Open::KernelAndPenalty, Inputs::Samples(_)) => {
                Widths::around_auto(by_gamma, drawn, session).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Scores ridge regression by leave-one-out errors or, with few approximate features, from the sums over held-out
    /// rows.
    fn ridge(
        &self,
        ridge: &Ridge,
        drawn: &Drawn,
        rows: usize,
        session: &Session<'_>,
    ) -> Result<Option<Chosen>, LearnError> {
        let single = matches!(&drawn.problem().targets, Targets::Numbers(numbers) if numbers.ncols() == 1);
        let standardised;
        let drawn = if single {
            drawn
        } else {
            standardised = drawn.with_targets(drawn.standardised()?)?;
            &standardised
        };
        let mut learner = ridge.clone();
        let approximate = match &ridge.lift {
            Lift::Approximate { approx, .. } => {
                approx.features() <= FEW_FEATURES && !is_nearly_all(*approx, drawn)
            }
            Lift::Kernel(_) | Lift::Features(_) | Lift::Auto(_) => false,
        };
        if !approximate {
            learner.lift = exact(&ridge.lift);
        }
        if learner.intercept == Intercept::Column {
            learner.intercept = Intercept::Centred;
        }
        let size = self.size(&learner, drawn, session)?;
        let grid = Grid {
            widths: self.widths(false, drawn, session)?,
            shared: SearchSpace::Between(1e-6 * size, 1e3 * size),
            criterion: if approximate { Criterion::HoldOut(0.25) } else { Criterion::LeaveOneOut },
        };
        let best = grid.search_twice(&learner, drawn, session)?;
        let lambda = rounded(best.shared * rows as f64 / best.rows as f64);
        let kernel = chosen_kernel(&best);
        let chosen = ridge.clone().with_shared(lambda);
        let learner = match &kernel {
            Some(kernel) => chosen.with_kernel(kernel.clone()),
            None => chosen,
        };
        let criterion = if approximate { "held-out" } else { "leave-one-out" };
        let settings = vec![("lambda", text(lambda))];
        Ok(Some(chosen_of(learner.into(), (kernel, settings), &best, criterion, drawn)))
    }

    /// The best width of ridge regression on the shares of the classes and its neighbours, each with a path over λ.
    fn logistic(
        &self,
        logistic: &Logistic,
        drawn: &Drawn,
        session: &Session<'_>,
    ) -> Result<Chosen, LearnError> {
        let drawn = &drawn.first(COARSE)?;
        let class_weight = logistic.class_weight.resolved(drawn.problem().classes())?;
        let learner = logistic.clone().lift(exact(&logistic.lift)).for_trials(drawn.nrows());
        // First-order solvers may take minutes for what Newton's method does in a second.
        let learner = learner.class_weight(class_weight).solver(LogisticSolver::Newton).max_iter(None);
        let size = self.size(&learner, drawn, session)?;
        let screened = self.screened(&learner.lift, drawn, session)?;
        let (criterion, name) = FIVE_FOLDS;
        let grid = Grid {
            widths: screened.width.map(|(_, sigma)| beside(sigma, true)),
            shared: SearchSpace::Between(1e-3 * size, 10.0 * size),
            criterion,
        };
        let best = grid.search(&learner, drawn, session)?;
        let (lambda, kernel) = (rounded(best.shared), chosen_kernel(&best));
        let chosen = logistic.clone().with_shared(lambda);
        let learner = match &kernel {
            Some(kernel) => chosen.with_kernel(kernel.clone()),
            None => chosen,
        };
        let settings = vec![("lambda", text(lambda))];
        Ok(chosen_of(learner.into(), (kernel, settings), &best, name, drawn))
    }

    /// Values of ν are multiplied by a factor where the smallest class makes the larger ones infeasible.
    fn classification(
        &self,
        svm: &Svm,
        drawn: &Drawn,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Chosen, LearnError> {
        let class_weight = svm.class_weight.resolved(drawn.problem().classes())?;
        let mut learner = Svm { lift: exact(&svm.lift), probability: false, class_weight, ..svm.clone() };
        learner.solver.tol = learner.solver.tol.max(TRIAL_TOL.0);
        let size = self.size(&learner, drawn, session)?;
        let (criterion, name) = folds(drawn);
        let shared = match svm.machine {
            Machine::NuSvc { .. } => {
                // Rare classes have a larger share of the sample.
                let largest = svm.largest_nu(problem)?.into_iter().chain(svm.largest_nu(&drawn.problem())?);
                let factor = (FEASIBLE * largest.fold(1.0, f64::min) / NUS[0]).min(1.0);
                SearchSpace::OneOf(NUS.map(|nu| rounded(factor * nu)).to_vec())
            }
            _ => SearchSpace::Between(0.1 / size, 1e3 / size),
        };
        let grid = Grid { widths: self.widths(true, drawn, session)?, shared, criterion };
        let best = grid.search_twice(&learner, drawn, session)?;
        Ok(self.machine(svm, &best, name, drawn))
    }

    /// The best width of ridge regression and its neighbours, each with a path along C; ε from the residuals of ridge
    /// regression.
    fn regression(&self, given: &Svm, drawn: &Drawn, session: &Session<'_>) -> Result<Chosen, LearnError> {
        let screened = self.screened(&given.lift, drawn, session)?;
        let mut svm = Svm { probability: false, ..given.clone() };
        let mut drawn = drawn.first(drawn.nrows())?;
        if let Machine::Svr { c, .. } = svm.machine {
            svm.machine = Machine::Svr { c, epsilon: tube(screened.score.sqrt(), drawn.nrows()) };
        } else {
            // Machines with ν have no path along C.
            drawn = drawn.first(COARSE)?;
        }
        svm.solver.tol = TRIAL_TOL.1 * screened.score.sqrt();
        let deviation = baseline(Measure::SquaredError, &drawn.problem()).unwrap_or(1.0).sqrt();
        let unit = deviation / self.size(&svm, &drawn, session)?;
        let (criterion, name) = FIVE_FOLDS;
        let grid = Grid {
            widths: screened.width.map(|(_, sigma)| beside(sigma, false)),
            shared: SearchSpace::Between(0.1 * unit, 100.0 * unit),
            criterion,
        };
        let best = grid.search(&svm, &drawn, session)?;
        let chosen = Svm { machine: svm.machine, ..given.clone() };
        Ok(self.machine(&chosen, &best, name, &drawn))
    }

    /// ε for the residuals of ridge regression.
    pub(super) fn epsilon(&self, drawn: &Drawn, session: &Session<'_>) -> Result<f64, LearnError> {
        Ok(tube(self.screened(&Lift::default(), drawn, session)?.score.sqrt(), drawn.nrows()))
    }

    /// The width alone.
    fn one_class(
        &self,
        svm: &Svm,
        drawn: &Drawn,
        session: &Session<'_>,
    ) -> Result<Option<Chosen>, LearnError> {
        let widths = self.widths(false, drawn, session)?;
        if widths.is_none() {
            return Ok(None);
        }
        let (criterion, name) = folds(drawn);
        let learner = Svm { probability: false, ..svm.clone() };
        let best = Grid { widths, shared: SearchSpace::OneOf(vec![1.0]), criterion }
            .search_twice(&learner, drawn, session)?;
        Ok(Some(self.machine(svm, &best, name, drawn)))
    }

    /// The best of a search as a machine.
    fn machine(&self, svm: &Svm, best: &Best, criterion: &'static str, drawn: &Drawn) -> Chosen {
        let value = rounded(best.shared);
        let settings = match svm.machine {
            Machine::Svc { .. } | Machine::NuSvr { .. } => vec![("C", text(value))],
            Machine::Svr { epsilon, .. } => vec![("C", text(value)), ("epsilon", text(epsilon))],
            Machine::NuSvc { .. } => vec![("nu", text(value))],
            Machine::OneClass { .. } => Vec::new(),
        };
        let kernel = chosen_kernel(best);
        let chosen = svm.clone().with_shared(value);
        let learner = match &kernel {
            Some(kernel) => chosen.with_kernel(kernel.clone()),
            None => chosen,
        };
        chosen_of(learner.into(), (kernel, settings), best, criterion, drawn)
    }

    /// The best width and λ of ridge regression on the numbers or the shares of the classes, by leaving out one row at a time: one
    /// factorisation for each width, whatever the number of classes.
    fn screened(&self, lift: &Lift, drawn: &Drawn, session: &Session<'_>) -> Result<Best, LearnError> {
        let mut drawn = drawn.first(COARSE)?;
        if by_gamma(self.learner.requires()) {
            drawn = drawn.with_targets(drawn.standardised()?)?;
        }
        let ridge = Ridge::on(exact(lift));
        let size = self.size(&ridge, &drawn, session)?;
        let grid = Grid {
            widths: self.widths(false, &drawn, session)?,
            shared: SearchSpace::Between(1e-5 * size, 1e2 * size),
            criterion: Criterion::LeaveOneOut,
        };
        grid.search(&ridge, &drawn, session)
    }

    /// The unit of penalties: 1 for a Gaussian.
    fn size<L: Tunable>(&self, learner: &L, drawn: &Drawn, session: &Session<'_>) -> Result<f64, LearnError> {
        match self.open {
            Open::KernelAndPenalty => Ok(1.0),
            Open::Penalty => kernel_size(learner, drawn, session),
        }
    }
}

/// The exact kernel: on a sample there is no need to approximate it.
fn exact(lift: &Lift) -> Lift {
    match lift {
        Lift::Approximate { kernel, .. } | Lift::Auto(kernel) => Lift::Kernel(kernel.clone()),
        Lift::Kernel(_) | Lift::Features(_) => lift.clone(),
    }
}

/// Whether there are nearly as many landmarks as rows in a sample.
fn is_nearly_all(approx: Approximation, drawn: &Drawn) -> bool {
    2 * approx.features() > drawn.nrows().min(COARSE)
}

/// Half the width of the tube for residuals of this size: 3τ√(ln n/n) (Cherkassky and Ma 2004).
fn tube(residual: f64, rows: usize) -> f64 {
    rounded(3.0 * residual * ((rows as f64).ln() / rows as f64).sqrt())
}

/// σ and those a factor of 2 either side, written as γ or as σ.
fn beside(sigma: f64, by_gamma: bool) -> Widths {
    let (parameter, middle) = Widths::of_sigma(sigma, by_gamma);
    Widths::beside(parameter, middle, if by_gamma { 4.0 } else { 2.0 })
}

/// Five folds, for methods that are slow to train.
const FIVE_FOLDS: (Criterion, &str) = (Criterion::Folds(5), "5-fold");

/// Folds: more of them for few rows.
fn folds(drawn: &Drawn) -> (Criterion, &'static str) {
    if drawn.nrows() <= FEW { (Criterion::Folds(10), "10-fold") } else { FIVE_FOLDS }
}

/// The kernel with the best width.
fn chosen_kernel(best: &Best) -> Option<Kernel> {
    best.width.map(|(parameter, width)| gaussian(parameter, &text(rounded(width))))
}

fn chosen_of(
    learner: AnyLearner,
    (kernel, penalty): (Option<Kernel>, Vec<(&'static str, String)>),
    best: &Best,
    criterion: &'static str,
    drawn: &Drawn,
) -> Chosen {
    let problem = drawn.problem();
    let measure = best.measure;
    let kernel = kernel.map(|kernel| ("kernel", kernel.to_string()));
    Chosen {
        learner,
        settings: kernel.into_iter().chain(penalty).collect(),
        measure,
        score: best.score,
        baseline: baseline(measure, &problem),
        criterion,
        rows: best.rows,
    }
}
