//! The perceptron and logistic regression, as the command line asks for them.

use mercer::learn::{self, ClassWeight, Logistic, Perceptron, Rule};
use mercer::solve::LogisticSolver;

use super::{Lift, admission};
use crate::approx::Approx;
use crate::args::{Balance, Fit, Multiclass, Solver};
use crate::failure::Failure;

/// The perceptron.
pub fn perceptron(arguments: &Fit, lift: Lift) -> Perceptron {
    let rule = match arguments.multiclass {
        Some(Multiclass::OneVsRest) => Rule::OneVsRest,
        _ => Rule::Direct,
    };
    Perceptron::new(lift)
        .passes(arguments.epochs.unwrap_or(100))
        .averaged(!arguments.last)
        .vote(arguments.vote)
        .budget(arguments.budget)
        .rule(rule)
        .admission(admission(arguments))
}

/// Logistic regression.
pub fn logistic(arguments: &Fit, lift: Lift) -> Result<Logistic, Failure> {
    let Lift::Kernel(kernel) = lift else {
        return Err(Failure::usage("logistic regression works on a kernel").hint(
            "write the features as a kernel: poly(degree=3) has the same predictions as the features of that name",
        ));
    };
    let lambda = match (arguments.c, arguments.lambda.as_slice()) {
        (Some(c), []) if c > 0.0 && c.is_finite() => 1.0 / c,
        (Some(c), []) => {
            return Err(Failure::usage(format!("C is {c}; it must be a finite number above 0")));
        }
        (None, []) => 1.0,
        (None, [lambda]) => *lambda,
        (Some(_), _) => return Err(Failure::usage("--C is 1 over --lambda; give one of them")),
        (None, _) => return Err(Failure::usage("a classifier has one --lambda")),
    };
    let lift: learn::Lift = match arguments.approx {
        None | Some(Approx::Exact) => kernel.into(),
        Some(Approx::Auto) => learn::Lift::Auto(kernel),
        Some(Approx::As(approximation)) => (kernel, approximation).into(),
    };
    let method = match arguments.solver {
        Some(Solver::Gd) => LogisticSolver::Gd,
        Some(Solver::Sgd) => LogisticSolver::Sgd,
        _ => LogisticSolver::Newton,
    };
    Ok(Logistic::new(lift)
        .lambda(lambda)
        .solver(method)
        .class_weight(class_weight(arguments))
        .tol(arguments.tol.unwrap_or(1e-6))
        .max_iter(arguments.epochs)
        .admission(admission(arguments)))
}

/// What each class counts.
pub fn class_weight(arguments: &Fit) -> ClassWeight {
    match &arguments.class_weight {
        None | Some(Balance::Uniform) => ClassWeight::Uniform,
        Some(Balance::Balanced) => ClassWeight::Balanced,
        Some(Balance::Each(weights)) => ClassWeight::Named(weights.clone()),
    }
}
