//! The quadratic programs of one fit.

use crate::learn::class_weight::ClassWeight;
use crate::learn::error::LearnError;
use crate::learn::learner::Requires;
use crate::learn::problem::{Problem, Targets};
use crate::learn::weights::check_weights;
use crate::session::Session;
use crate::solve::SolveError;
use crate::solve::svm::{Solution, SvmSettings};
use crate::watch::Watch;

use super::Svm;
use super::machine::{Decision, Machine, Part};
use super::machines::Machines;
use super::training::Training;

/// The targets and weights of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Labels<'a> {
    /// The class of each row, from 0; empty for other machines than classifiers.
    pub codes: &'a [usize],
    /// Number of classes.
    pub classes: usize,
    /// The target of each row; empty for other machines than regressions.
    pub targets: &'a [f64],
    /// The weight of each row; `None` if every row counts 1.
    pub weights: Option<&'a [f64]>,
}

impl<'a> Labels<'a> {
    /// The parts of a problem that a machine needs.
    ///
    /// # Errors
    /// If the targets are of another kind or out of range.
    pub fn of(problem: &'a Problem<'_>, machine: &Machine) -> Result<Self, LearnError> {
        let weights = problem.weights();
        let none = Self { codes: &[], classes: 0, targets: &[], weights };
        match machine.requires() {
            Requires::Classes => {
                let (codes, classes) = problem.codes()?;
                Ok(Self { codes, classes, ..none })
            }
            Requires::Numbers | Requires::NumbersOrClasses => {
                let targets = problem.numbers()?;
                if targets.ncols() != 1 {
                    return Err(LearnError::parameter(
                        "the number of targets",
                        targets.ncols(),
                        "1: support vector regression has one target",
                    ));
                }
                Ok(Self { targets: targets.entries(), ..none })
            }
            Requires::Nothing => {
                check_weights(problem.nrows(), weights)?;
                match problem.targets {
                    Targets::None => Ok(none),
                    _ => Err(LearnError::Unsupported("one-class estimation has no targets")),
                }
            }
        }
    }

    /// Whether a row has a weight above 0.
    pub fn counts(&self, row: usize) -> bool {
        self.weights.is_none_or(|w| w[row] > 0.0)
    }
}

/// One fit: a machine, the kernel matrix, and the labels and bounds of its rows.
pub(crate) struct Work<'a> {
    pub svm: &'a Svm,
    pub training: &'a Training<'a>,
    pub labels: Labels<'a>,
    pub session: &'a Session<'a>,
    /// The bound of each row's variable.
    bounds: Vec<f64>,
    settings: SvmSettings,
}

impl<'a> Work<'a> {
    /// The fit of `svm`.
    ///
    /// # Errors
    /// If a hyper-parameter is out of range.
    pub fn new(
        svm: &'a Svm,
        training: &'a Training<'_>,
        labels: Labels<'a>,
        session: &'a Session<'_>,
    ) -> Result<Self, LearnError> {
        let bound = svm.machine.bound()?;
        Self::bounded(svm, training, labels, bound, session)
    }

    /// As [`new`](Self::new), with `bound` in place of the machine's bound for a sample of weight 1.
    pub(super) fn bounded(
        svm: &'a Svm,
        training: &'a Training<'_>,
        labels: Labels<'a>,
        bound: f64,
        session: &'a Session<'_>,
    ) -> Result<Self, LearnError> {
        let mut bounds = match labels.weights {
            Some(weights) => weights.iter().map(|w| bound * w).collect(),
            None => vec![bound; training.nrows()],
        };
        if svm.class_weight != ClassWeight::Uniform {
            if !matches!(svm.machine, Machine::Svc { .. }) {
                return Err(LearnError::Unsupported("class weights are for C-classification"));
            }
            let factors = svm.class_weight.by_class(labels.codes, labels.classes, None)?;
            check_weights(labels.classes, Some(&factors))?;
            bounds.iter_mut().zip(labels.codes).for_each(|(bound, &code)| *bound *= factors[code]);
        }
        // The memory budget is divided once, not for every program.
        let cache = Some(svm.solver.cache.unwrap_or(session.memory() / 4));
        Ok(Self { svm, training, labels, session, bounds, settings: SvmSettings { cache, ..svm.solver } })
    }

    /// Solves all programs, and calibrates the machines if requested.
    pub(super) fn machines(&self) -> Result<Machines, LearnError> {
        let mut machines = match self.svm.machine.requires() {
            Requires::Classes => self.classes()?,
            _ => {
                self.session.begin("support vectors", 0);
                let rows = (0..self.training.nrows()).collect();
                Machines::single(self.svm.kernel()?.clone(), self.solve(&Part { rows, positive: 0 })?)
            }
        };
        if self.svm.probability {
            self.calibrate(&mut machines)?;
        }
        Ok(machines)
    }

    /// Solves the program of some rows.
    pub(super) fn solve(&self, part: &Part) -> Result<Decision, LearnError> {
        self.solve_as(self.svm.machine, part)
    }

    /// As [`solve`](Self::solve), by a machine with other hyper-parameters.
    pub(super) fn solve_as(&self, machine: Machine, part: &Part) -> Result<Decision, LearnError> {
        let qp = machine.qp(part, self.labels.targets, &self.bounds)?;
        Ok(machine.scale(self.training.solve(&qp, &self.settings_of(machine, part), self.session)?)?)
    }

    /// The settings of the solver. The decisions of one-class estimation are of the size of νn where that is below 1, so the
    /// tolerance is scaled by it.
    fn settings_of(&self, machine: Machine, part: &Part) -> SvmSettings {
        let Machine::OneClass { nu } = machine else { return self.settings };
        let size = nu * part.rows.iter().map(|&row| self.bounds[row]).sum::<f64>();
        SvmSettings { tol: self.settings.tol * size.min(1.0), ..self.settings }
    }

    /// The decisions with each of `values` in place of the machine's C or ν, where the bounds are those of C = 1;
    /// `None` if ν is infeasible or leaves no margin. C-machines start from the one before.
    pub(super) fn decisions_along(
        &self,
        part: &Part,
        values: &[f64],
    ) -> Result<Vec<Option<Decision>>, LearnError> {
        let machine = self.svm.machine;
        if matches!(machine, Machine::Svc { .. } | Machine::Svr { .. }) {
            let solutions = self.solve_path(part, values)?;
            return solutions.into_iter().map(|solution| Ok(Some(machine.scale(solution)?))).collect();
        }
        let decision = |&value: &f64| {
            let c = if matches!(machine, Machine::NuSvr { .. }) { value } else { 1.0 };
            let bounds: Vec<f64> = self.bounds.iter().map(|bound| c * bound).collect();
            let machine = machine.with_shared(value);
            let qp = match machine.qp(part, self.labels.targets, &bounds) {
                Err(SolveError::InfeasibleNu { .. }) => return Ok(None),
                qp => qp?,
            };
            match machine.scale(self.training.solve(&qp, &self.settings_of(machine, part), self.session)?) {
                Err(SolveError::NoMargin { .. }) => Ok(None),
                decision => Ok(Some(decision?)),
            }
        };
        values.iter().map(decision).collect()
    }

    /// The solutions for bounds multiplied by each of `cs`.
    pub(super) fn solve_path(&self, part: &Part, cs: &[f64]) -> Result<Vec<Solution>, LearnError> {
        let qp = self.svm.machine.qp(part, self.labels.targets, &self.bounds)?;
        self.training.solve_path(&qp, cs, &self.settings, self.session)
    }
}
