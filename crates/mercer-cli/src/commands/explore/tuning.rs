//! The error on held-out rows, over a grid of a kernel's hyper-parameter and a penalty.

use mercer::data::Dataset;
use mercer::kernel::Kernel;
use mercer::learn::search::{Axis, Measure, Tunable};
use mercer::learn::{AnyLearner, Problem};
use mercer::select::Tune;
use mercer::session::Session;
use serde::Serialize;

use super::prepared::{Prepared, kernel};
use super::state::State;
use crate::failure::Failure;

/// Values along each side of the grid.
const SIDE: usize = 13;

/// The factor around its value in which a width is searched.
const AROUND: f64 = 16.0;

/// The most rows of a search, which must answer while the user waits.
const MOST_ROWS: usize = 600;

/// The errors of a grid.
#[derive(Debug, Serialize)]
pub struct TuningPicture {
    /// The hyper-parameter of the kernel and its values.
    parameter: String,
    values: Vec<f64>,
    /// The penalty and its values.
    setting: &'static str,
    settings: Vec<f64>,
    /// The measure.
    measure: &'static str,
    /// One row for each value of the kernel's hyper-parameter; `None` if there is no solution.
    scores: Vec<Vec<Option<f64>>>,
    /// The position of the best.
    best: (usize, usize),
    /// The kernel text of each row.
    kernels: Vec<String>,
}

/// The errors of a state's learner: `search` is its kernel with one `?lo..hi`; without it the first width of the kernel is
/// searched.
pub fn tune(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<TuningPicture, Failure> {
    let prepared = Prepared::new(state, file)?;
    if prepared.points.nrows() > MOST_ROWS {
        let found = format!("a search takes at most {MOST_ROWS} rows here; `mercer tune` has no such limit");
        return Err(Failure::usage(found));
    }
    let (problem, _) = prepared.rows.problem()?;
    match prepared.learner.clone() {
        AnyLearner::Ridge(learner) => grid(learner, state, &problem, session),
        AnyLearner::Logistic(learner) => grid(learner, state, &problem, session),
        AnyLearner::Svm(learner) => grid(learner, state, &problem, session),
        AnyLearner::Smoother(learner) => grid(learner, state, &problem, session),
        AnyLearner::Perceptron(learner) => grid(learner, state, &problem, session),
        AnyLearner::Knn(learner) => grid(learner, state, &problem, session),
        AnyLearner::Gp(_) => Err(Failure::usage(
            "a Gaussian process learns by its marginal likelihood: `mercer fit gp` with `?` in the kernel",
        )),
        _ => Err(Failure::usage("lms has no penalty to tune: the number of epochs plays its part")),
    }
}

fn grid<L: Tunable>(
    learner: L,
    state: &State,
    problem: &Problem<'_>,
    session: &Session<'_>,
) -> Result<TuningPicture, Failure> {
    let samples = problem.samples()?;
    let scales = session.scales(samples);
    let has_kernel = learner.open_kernel().is_some();
    let open: Kernel = state.text("search").unwrap_or(kernel(state)).parse()?;
    let mut open = open.resolve_auto(&scales)?;
    if open.tunables()?.is_empty()
        && let Some(text) = opened(&open.to_string())
    {
        open = text.parse()?;
    }
    let (parameter, values, kernels) = match Axis::of_kernel(&open, &scales)?.as_slice() {
        _ if !has_kernel => (String::new(), vec![0.0], vec![Kernel::gaussian_auto()]),
        [] => (String::new(), vec![0.0], vec![open]),
        [axis] => {
            let values = axis.grid(SIDE);
            let kernels =
                values.iter().map(|value| open.with_values(&[*value])).collect::<Result<Vec<_>, _>>()?;
            (axis.name.clone(), values, kernels)
        }
        _ => return Err(Failure::usage("only one `?` is searched at a time")),
    };
    let shared = learner.shared();
    let settings = match shared.name() {
        "" => vec![1.0],
        "k" => (1..=problem.nrows().saturating_sub(1).min(25)).map(|k| k as f64).collect(),
        name => Axis::new(name, shared.read("?").map_err(Failure::usage)?).grid(SIDE),
    };
    let measure = Measure::of(&learner, &problem.targets);
    let found = Tune::new(learner).grid(&kernels, &settings, problem, session)?;
    let score = |loss: f64| Some(measure.readable(loss)).filter(|score| score.is_finite());
    Ok(TuningPicture {
        parameter,
        values,
        setting: shared.name(),
        settings,
        measure: measure.name(),
        scores: found
            .scores
            .iter()
            .map(|row| row.iter().map(|entry| entry.as_ref().and_then(|entry| score(entry.loss))).collect())
            .collect(),
        best: found.best,
        kernels: if has_kernel { kernels.iter().map(ToString::to_string).collect() } else { Vec::new() },
    })
}

/// A kernel text with `?lo..hi` for its first width; `None` if it has none.
fn opened(text: &str) -> Option<String> {
    ["sigma=", "length=", "radius=", "gamma=", "period=", "alpha="].into_iter().find_map(|name| {
        let start = text.find(name)? + name.len();
        let end = text[start..].find([',', ')']).map_or(text.len(), |length| start + length);
        let value: f64 = text[start..end].trim().parse().ok().filter(|value| *value > 0.0)?;
        let (low, high) = (value / AROUND, value * AROUND);
        Some(format!("{}?{low:e}..{high:e}{}", &text[..start], &text[end..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_width_is_opened() {
        assert_eq!(
            opened("0.5*rbf(sigma=2) + linear").as_deref(),
            Some("0.5*rbf(sigma=?1.25e-1..3.2e1) + linear")
        );
        assert_eq!(opened("rq(alpha=1, length=1)").as_deref(), Some("rq(alpha=1, length=?6.25e-2..1.6e1)"));
        assert_eq!(opened("rbf(sigma=[1, 2])"), None);
        assert_eq!(opened("<x,z> + 1"), None);
        let kernel: Kernel = opened("rbf(sigma=0.5)").unwrap().parse().unwrap();
        assert_eq!(kernel.tunables().unwrap().len(), 1);
    }
}
