//! The reasons for a choice, in sentences.

use crate::learn::cost::{Algorithm, GP_CG_WEIGHT, GP_PATIENCE, Size, Task};
use crate::memory::human;

use super::Candidate;
use super::show::{people_count, people_seconds};

pub(super) fn reasons(
    task: &Task,
    shape: Size,
    budget: u64,
    chosen: &Candidate,
    others: &[Candidate],
) -> Vec<String> {
    let mut reasons = Vec::new();
    let all = || std::iter::once(chosen).chain(others);
    let rows = people_count(shape.rows as u64);
    // The largest kernel matrix that is looked at says most about the budget.
    let without = |algorithm| {
        is_large(algorithm)
            || matches!(algorithm, Algorithm::Primal { .. } | Algorithm::Tiled | Algorithm::Search)
    };
    let matrix = all().filter(|c| !without(c.algorithm)).max_by_key(|c| c.memory);
    if let Some(largest) = matrix {
        let (needed, allowed) = (human(largest.memory), human(budget));
        let share = if largest.fits { " of" } else { ", more than" };
        reasons.push(format!(
            "n = {rows}: with the kernel matrix it takes {needed}{share} the {allowed} allowed"
        ));
    }
    for each in all() {
        if let Algorithm::Primal { features } = each.algorithm
            && let Some(sentence) = primal_against_dual(features, shape.rows as u64, each, all())
        {
            reasons.push(sentence);
        }
        // Methods without a kernel matrix are compared only if the matrix exceeds the memory or the time.
        let large = is_large(each.algorithm);
        if !large || is_large(chosen.algorithm) || !chosen.fits {
            reasons.extend(each.remark.clone());
        }
    }
    if let Some(exact) = all()
        .find(|c| c.possible && c.fits && matches!(c.algorithm, Algorithm::DualDouble | Algorithm::DualMixed))
        && is_large(chosen.algorithm)
    {
        reasons.push(format!("the exact solution would take {}", people_seconds(exact.seconds())));
    }
    if let Task::GaussianProcess { evaluations } = task {
        let operations = *evaluations as f64 * (shape.rows as f64).powi(3);
        reasons.push(format!(
            "a Cholesky factor is used if all likelihoods take at most {GP_PATIENCE:.0e} multiply-adds (here {operations:.0e}) and \
             it fits into memory, then conjugate gradients, whose multiply-adds take {GP_CG_WEIGHT} times as long, then inducing points"
        ));
    }
    if let (Task::Lms { .. }, Algorithm::Tiled) = (task, chosen.algorithm) {
        reasons.push("every epoch recomputes the kernel values, since they do not fit into memory".into());
    }
    if let Task::Perceptron { .. } = task {
        reasons.push("this is an upper bound: a perceptron stops after a pass without mistakes".into());
    }
    if !chosen.fits {
        reasons.push(format!(
            "nothing fits into memory: it needs {}; use a larger --memory, fewer rows, or features or an approximation instead of \
             the kernel matrix",
            human(chosen.memory)
        ));
    }
    reasons
}

/// Whether the algorithm is one for problems too large for a kernel matrix.
fn is_large(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::ConjugateGradients | Algorithm::RandomFeatures { .. } | Algorithm::Landmarks { .. }
    )
}

/// "features 165 < rows 20,000: primal is 900× cheaper".
fn primal_against_dual<'a>(
    features: u64,
    rows: u64,
    primal: &Candidate,
    all: impl Iterator<Item = &'a Candidate>,
) -> Option<String> {
    let dual = all
        .filter(|c| c.possible && matches!(c.algorithm, Algorithm::DualDouble | Algorithm::DualMixed))
        .map(Candidate::seconds)
        .min_by(f64::total_cmp)?;
    let (cheaper, dearer, ratio) = if primal.seconds() < dual {
        ("primal", "dual", dual / primal.seconds())
    } else {
        ("dual", "primal", primal.seconds() / dual)
    };
    let sign = match features.cmp(&rows) {
        std::cmp::Ordering::Less => '<',
        std::cmp::Ordering::Equal => '=',
        std::cmp::Ordering::Greater => '>',
    };
    Some(format!(
        "features {} {sign} rows {}: {cheaper} is {} times cheaper than {dearer}",
        people_count(features),
        people_count(rows),
        if ratio < 10.0 { format!("{ratio:.1}") } else { people_count(two_digits(ratio)) }
    ))
}

/// Rounded to two digits.
fn two_digits(value: f64) -> u64 {
    let unit = 10f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / unit).round() * unit) as u64
}
