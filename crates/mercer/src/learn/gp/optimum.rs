//! The search for the hyper-parameters, and what it found.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::session::Session;
use crate::solve::{MinimiseOptions, MinimiseStart, Minimum, SolveError, Status, minimise_in_box};
use crate::watch::{Stopped, Watch};

use super::super::error::LearnError;
use super::Gp;
use super::unknowns::{self, Unknown, add_priors};

/// Random starts to try if the objective has no value at the usual ones.
const OTHER_STARTS: usize = 20;

/// The objective at θ and its gradient; `None` if it has no value.
type Evaluate<'a> = dyn FnMut(&[f64]) -> Result<Option<(f64, Vec<f64>)>, LearnError> + 'a;

impl Gp {
    /// The best θ of all minimisations; `None` if the objective has no value at any start. If it has none at the usual starts,
    /// others are tried.
    pub(super) fn learnt(
        &self,
        options: MinimiseOptions,
        evaluate: &mut Evaluate<'_>,
        unknowns: &[Unknown],
        session: &Session<'_>,
    ) -> Result<Option<Minimum>, LearnError> {
        let label = |restart: usize| match restart {
            0 => String::new(),
            _ if restart > self.restarts => "another start, ".to_owned(),
            _ => format!("restart {restart} of {}, ", self.restarts),
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let mut best: Option<Minimum> = None;
        session.begin("Gaussian process", (self.max_iter * (1 + self.restarts)) as u64);
        for restart in 0..=self.restarts + OTHER_STARTS {
            if restart > self.restarts && best.is_some() {
                break;
            }
            let start: Vec<f64> = match restart {
                0 => unknowns.iter().map(|unknown| unknown.start).collect(),
                _ => unknowns.iter().map(|unknown| unknown.drawn(&mut random)).collect(),
            };
            let found =
                self.minimised(options, evaluate, unknowns, start.into(), &label(restart), session)?;
            if found.value.is_finite() && best.as_ref().is_none_or(|best| found.value < best.value) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// One minimisation; its value is not finite if the objective has none at the start.
    pub(super) fn minimised(
        &self,
        options: MinimiseOptions,
        evaluate: &mut Evaluate<'_>,
        unknowns: &[Unknown],
        start: MinimiseStart,
        label: &str,
        session: &Session<'_>,
    ) -> Result<Minimum, LearnError> {
        let bounds: Vec<(f64, f64)> = unknowns.iter().map(|unknown| unknown.bounds).collect();
        let mut failure = None;
        let mut objective = |theta: &[f64]| match evaluate(theta) {
            Ok(Some((mut value, mut gradient))) => {
                add_priors(unknowns, theta, &mut value, &mut gradient);
                session.note(&format!("{label}log-likelihood {value:.6}"));
                gradient.iter_mut().for_each(|slope| *slope = -*slope);
                Ok((-value, gradient))
            }
            Ok(None) | Err(LearnError::KernelValue { .. }) => Ok((f64::INFINITY, vec![0.0; theta.len()])),
            Err(error) => {
                failure = Some(error);
                Err(SolveError::Stopped(Stopped))
            }
        };
        let found = minimise_in_box(&mut objective, start, &bounds, options, session);
        match failure {
            Some(error) => Err(error),
            None => Ok(found?),
        }
    }

    /// The hyper-parameters that maximise the objective, if they are to be learnt and there are any.
    pub(super) fn optimum(
        &self,
        evaluate: &mut Evaluate<'_>,
        (unknowns, tried): (&[Unknown], bool),
        options: MinimiseOptions,
        session: &Session<'_>,
    ) -> Result<Optimum, LearnError> {
        let found = if tried { self.learnt(options, evaluate, unknowns, session)? } else { None };
        Ok(Optimum::new(found, unknowns, tried))
    }
}

/// The result of learning.
pub(super) struct Optimum {
    pub theta: Vec<f64>,
    /// The best minimum; `None` if nothing was tried or if no start has a value.
    pub found: Option<Minimum>,
    tried: bool,
}

impl Optimum {
    /// The minimum that was found, else the start.
    pub(super) fn new(found: Option<Minimum>, unknowns: &[Unknown], tried: bool) -> Self {
        let start = || unknowns.iter().map(|unknown| unknown.start).collect();
        Self { theta: found.as_ref().map_or_else(start, |found| found.at.clone()), found, tried }
    }

    pub(super) fn steps(&self) -> usize {
        self.found.as_ref().map_or(0, |minimum| minimum.steps)
    }

    pub(super) fn status(&self) -> Status {
        match &self.found {
            Some(minimum) if !minimum.converged => Status::OutOfIterations,
            _ => Status::Converged,
        }
    }

    /// Warnings about the learnt values.
    pub(super) fn warnings(&self, unknowns: &[Unknown], columns: &[String]) -> Vec<String> {
        match self.found {
            None if self.tried => {
                vec!["no start has a likelihood: the hyper-parameters stay where they started".to_owned()]
            }
            None => Vec::new(),
            Some(_) => unknowns::bound_warnings(unknowns, &self.theta, columns),
        }
    }
}
