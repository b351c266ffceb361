//! Pictures that refit the model, to fewer rows or with fewer iterations.

use mercer::data::{AnySamples, Matrix};
use mercer::learn::search::Split;
use mercer::learn::{AnyLearner, Fitted, Learner, LogisticSolver, Problem, RidgeSolver, Targets};
use mercer::model::libsvm::PRECOMPUTED;
use mercer::model::{Method, Model, Neighbours, Predictor, Rule};
use mercer::session::Session;
use mercer::solve::Status;
use mercer::solve::descent::CurvePoint;

use super::Kind;
use super::pictures::{about, needs_target};
use super::shown::Shown;
use crate::failure::Failure;
use crate::plot::{Figure, LinePlot, NamedLine, Scale};

/// Sizes of the training set in a learning curve, and the fraction of the rows that is held out.
const SIZES: usize = 8;
const HELD_OUT: f64 = 0.2;

/// The smallest training set.
const FEWEST: usize = 10;

/// The labelled rows of the data, scaled as the model scales them, and a learner with its settings.
struct Refit {
    learner: AnyLearner,
    samples: AnySamples<'static>,
    targets: Targets<'static>,
}

impl Refit {
    fn new(shown: &Shown, kind: Kind) -> Result<Self, Failure> {
        let (rows, targets): (Vec<usize>, Targets<'static>) = match &shown.model.classes {
            // The solver of a one-class machine converges, but there are no errors to measure.
            _ if shown.model.method == Method::OneClass && kind == Kind::Convergence => {
                ((0..shown.nrows()).collect(), Targets::None)
            }
            _ if shown.model.method == Method::OneClass => {
                let name = kind.name();
                let message =
                    format!("--kind {name} measures errors, which one-class estimation does not have");
                return Err(Failure::usage(message));
            }
            Some(classes) => {
                let (rows, codes): (Vec<usize>, Vec<usize>) = shown.labelled().into_iter().unzip();
                (rows, Targets::Classes { codes: codes.into(), classes: classes.clone() })
            }
            None => {
                let (rows, numbers): (Vec<usize>, Vec<f64>) = shown.observed().unzip();
                (rows.clone(), Matrix::from_entries(rows.len(), 1, numbers).into())
            }
        };
        if rows.is_empty() {
            return Err(needs_target(shown, kind));
        }
        let samples = shown.model.scaling.apply(shown.samples.select(&rows))?;
        Ok(Self { learner: learner(&shown.model, shown.output)?, samples, targets })
    }

    fn fit(&self, learner: &AnyLearner, rows: &[usize], session: &Session<'_>) -> Result<Fitted, Failure> {
        let problem = Problem::new(self.samples.select(rows), self.targets.select(rows));
        Ok(learner.train(&problem, session)?)
    }

    /// The root mean squared error, or the share of wrong classes, on some rows.
    fn error(&self, model: &Model, rows: &[usize], session: &Session<'_>) -> Result<f64, Failure> {
        let outputs = model.predict(&self.samples.select(rows), session)?;
        let count = rows.len() as f64;
        Ok(match self.targets.select(rows) {
            Targets::Numbers(numbers) => {
                let pairs = numbers.entries().iter().zip(outputs.entries());
                (pairs.map(|(y, f)| (y - f).powi(2)).sum::<f64>() / count).sqrt()
            }
            Targets::Classes { codes, .. } => {
                let link = model.link();
                let wrong = (0..rows.len()).filter(|&row| link.class(outputs.row(row)) != codes[row]);
                wrong.count() as f64 / count
            }
            Targets::None => 0.0,
        })
    }
}

/// A learner with the settings of a model.
fn learner(model: &Model, output: usize) -> Result<AnyLearner, Failure> {
    if model.settings.has(PRECOMPUTED) {
        return Err(Failure::usage("a model of a precomputed kernel matrix cannot be fitted again here"));
    }
    // The kernel was checked when the model was fitted.
    let mut settings = model.settings.clone().with("method", model.method).with("kernel_check", "assume");
    if let Some(lambda) = settings.number_of("lambda", output) {
        settings.set("lambda", lambda);
    }
    match &model.predictor {
        Predictor::Neighbours(Neighbours { rule: Rule::Nearest { k, weights, metric }, .. }) => {
            let classify = model.classes.is_some();
            settings = settings.with("k", k).with("weights", weights).with("metric", metric);
            settings.set("classify", classify);
        }
        Predictor::Linear(linear) if linear.map.kernel().is_none() => {
            settings.set("features", linear.map.to_string());
        }
        other => {
            settings.set("kernel", other.kernel());
        }
    }
    serde_json::to_value(settings)
        .and_then(serde_json::from_value)
        .map_err(|error| Failure::work(format!("the model's settings cannot be used again: {error}")))
}

/// Rows in an order that the seed determines.
fn shuffled(mut rows: Vec<usize>, seed: u64) -> Vec<usize> {
    // Steele, Lea and Flood (2014): SplitMix64.
    let mixed = |row: usize| {
        let mut z = (row as u64).wrapping_add(seed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    rows.sort_by_key(|&row| (mixed(row), row));
    rows
}

/// Whole numbers from `first` to `last`, evenly spaced in their logarithm.
fn geometric(first: usize, last: usize, count: usize) -> Vec<usize> {
    let (from, to) = (first as f64, last as f64);
    let at = |i: usize| (from * (to / from).powf(i as f64 / (count - 1) as f64)).round() as usize;
    let mut sizes: Vec<usize> = (0..count).map(at).collect();
    sizes.dedup();
    sizes
}

/// Training and held-out error against the number of training rows.
pub fn learning_curve(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let refit = Refit::new(shown, Kind::LearningCurve)?;
    let all = refit.samples.nrows();
    let split = Split::hold_out(all, HELD_OUT, session.seed()).map_err(Failure::usage)?;
    let Some(Split { train, held_out }) = split.filter(|split| split.train.len() >= 2 * FEWEST) else {
        let least = (2.0 * FEWEST as f64 / (1.0 - HELD_OUT)).ceil();
        return Err(Failure::usage(format!(
            "--kind learning-curve needs {least} rows or more; there are {all}"
        )));
    };
    let order = shuffled(train, session.seed());
    let (mut training, mut validation) = (Vec::new(), Vec::new());
    for size in geometric(FEWEST, order.len(), SIZES) {
        let mut rows = order[..size].to_vec();
        rows.sort_unstable();
        let fitted = match refit.fit(&refit.learner, &rows, session) {
            // Few rows may have only one class, or be fewer than the neighbours.
            Err(failure) if !failure.is_interrupt() && size < order.len() => continue,
            fitted => fitted?,
        };
        training.push((size as f64, refit.error(&fitted.model, &rows, session)?));
        validation.push((size as f64, refit.error(&fitted.model, &held_out, session)?));
    }
    let count = held_out.len();
    let lines = vec![
        NamedLine { name: format!("{count} held-out rows"), points: validation, marked: true },
        NamedLine { name: "training rows".into(), points: training, marked: true },
    ];
    let error = match shown.model.classes {
        Some(_) => "share of wrong classes".to_owned(),
        None => format!("RMSE of {}", shown.output_name),
    };
    let title = format!("Learning curve of {}", shown.output_name);
    let figure = LinePlot {
        subtitle: format!("fitted again with the same settings · {}", about(shown)),
        ..LinePlot::new(title, [Scale::log("training rows"), Scale::linear(error)], lines)
    };
    Ok(figure.figure()?)
}

/// Error against the number of iterations.
pub fn convergence(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let (points, x, y) = match recorded(&shown.model) {
        Some(points) => (points, Scale::linear("epochs"), "training RMSE"),
        None => repeated(shown, session).map(|(points, x, y)| (points, Scale::log(x), y))?,
    };
    // The mistakes of a perceptron often fall to 0, which cannot be drawn on a logarithmic axis.
    let counts = shown.model.method == Method::Perceptron;
    let points: Vec<(f64, f64)> = points.into_iter().filter(|(_, error)| counts || *error > 0.0).collect();
    let y_scale = if counts { Scale::linear(y) } else { Scale::log(y) };
    if points.is_empty() {
        return Err(Failure::usage("the error is 0 after the first iteration: there is nothing to draw"));
    }
    let marked = points.len() <= 60;
    let lines = vec![NamedLine { name: y.into(), points, marked }];
    let figure = LinePlot {
        subtitle: about(shown),
        ..LinePlot::new(format!("Convergence of {}", shown.model.method), [x, y_scale], lines)
    };
    Ok(figure.figure()?)
}

/// The curve recorded by least mean squares.
fn recorded(model: &Model) -> Option<Vec<(f64, f64)>> {
    let curve: Vec<CurvePoint> = model.report.read("curve")?;
    Some(curve.iter().map(|at| (at.epoch as f64, at.mse.sqrt())).collect())
}

/// A curve with the names of its axes.
type Course = (Vec<(f64, f64)>, &'static str, &'static str);

/// The model after 1, 2, 4, … iterations, up to their number in the fit.
fn repeated(shown: &Shown, session: &Session<'_>) -> Result<Course, Failure> {
    let solver = shown.model.report.text("solver").unwrap_or_default();
    let is_cg = shown.model.method == Method::Ridge && solver.contains("conjugate gradients");
    let (x, y) = match shown.model.method {
        Method::Logistic => ("iterations", "norm of the gradient"),
        Method::Perceptron => ("passes over the training rows", "fraction of training rows misclassified"),
        Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => {
            ("iterations", "violation of optimality")
        }
        Method::Ridge if is_cg => ("iterations", "relative residual"),
        method => {
            let hint =
                if method == Method::Ridge { "refit with --solver cg" } else { "fit lms, logistic or svc" };
            return Err(Failure::usage(format!(
                "--kind convergence needs an iterative solver; this {method} model was fitted without one"
            ))
            .hint(hint));
        }
    };
    let refit = Refit::new(shown, Kind::Convergence)?;
    let rows: Vec<usize> = (0..refit.samples.nrows()).collect();
    let mut points = Vec::new();
    for limit in (0..40).map(|power| 1usize << power) {
        let fitted = refit.fit(&limited(&refit.learner, limit, &shown.model), &rows, session)?;
        let Some(report) = &fitted.report else { break };
        let done = report.status != Status::OutOfIterations || report.iterations < limit;
        let steps = if done { report.iterations.min(limit) } else { limit } as f64;
        let error = match shown.model.method {
            Method::Perceptron => refit.error(&fitted.model, &rows, session)?,
            _ => report.residual,
        };
        points.push((steps, error));
        let most = shown.model.settings.read::<u64>("epochs");
        if done || most.is_some_and(|most| limit as u64 >= most) {
            break;
        }
    }
    Ok((points, x, y))
}

/// The learner with at most this many iterations, and the settings that only the report of a model contains.
fn limited(learner: &AnyLearner, limit: usize, model: &Model) -> AnyLearner {
    let solver = model.report.text("solver").unwrap_or_default();
    match learner.clone() {
        AnyLearner::Ridge(mut ridge) => {
            (ridge.solver, ridge.max_iter) = (RidgeSolver::Cg, limit as u64);
            if let Some(residual) = model.report.number("residual") {
                ridge.tol = residual.max(f64::EPSILON);
            }
            ridge.into()
        }
        AnyLearner::Logistic(mut logistic) => {
            logistic.max_iter = Some(limit);
            if solver.starts_with("gradient") {
                logistic.solver = LogisticSolver::Gd;
            } else if solver.starts_with("stochastic") {
                logistic.solver = LogisticSolver::Sgd;
            }
            logistic.into()
        }
        AnyLearner::Perceptron(mut perceptron) => {
            perceptron.passes = limit;
            perceptron.into()
        }
        AnyLearner::Svm(mut svm) => {
            svm.probability = false;
            svm.solver.max_iter = Some(limit as u64);
            svm.into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rise_from_the_first_to_the_last() {
        assert_eq!(geometric(10, 80, 4), [10, 20, 40, 80]);
        assert_eq!(geometric(10, 12, 8), [10, 11, 12]);
    }

    #[test]
    fn an_order_has_every_row_and_follows_the_seed() {
        let order = shuffled((0..50).collect(), 3);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        assert_eq!(order, shuffled((0..50).rev().collect(), 3));
        assert_ne!(order, shuffled((0..50).collect(), 4));
    }
}
