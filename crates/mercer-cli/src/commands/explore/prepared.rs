//! Converts a state to a learner and its rows, through the equivalent command line.

use clap::Parser;
use mercer::data::{self, Dataset, Source};
use mercer::learn::AnyLearner;
use mercer::model::Method;

use super::points::{Points, Values};
use super::state::State;
use crate::args::{Arguments, Command, Fit};
use crate::failure::Failure;
use crate::input::Rows;
use crate::settings;

/// The file that the command line names.
pub const FILE: &str = "points.csv";

/// The most epochs of a fit.
const MOST_EPOCHS: usize = 20_000;

/// A learner, its rows, and the equivalent command line.
pub struct Prepared {
    /// The points.
    pub points: Points,
    /// The words of the command line after `mercer`.
    pub words: Vec<String>,
    /// The learner.
    pub learner: AnyLearner,
    /// The rows, as read from a file of the points.
    pub rows: Rows,
}

impl Prepared {
    /// The fit of a state.
    pub fn new(state: &State, file: Option<&Dataset>) -> Result<Self, Failure> {
        Self::with(state, file, &[])
    }

    /// The same fit with more flags.
    pub fn with(state: &State, file: Option<&Dataset>, more: &[String]) -> Result<Self, Failure> {
        let points = Points::of(state, file)?;
        if points.nrows() < 2 {
            return Err(Failure::usage("there are fewer than two points; click on the picture to add some"));
        }
        let mut words = words(state, &points, file.is_some())?;
        words.extend_from_slice(more);
        let fit = parse(&words)?;
        let learner = settings::learner(&fit)?;
        let source = Source::bytes(FILE, points.csv().into_bytes());
        let read = data::read_source(&source, &fit.input.read_options())?;
        let learner = settings::bound(learner, &fit, &read.0.feature_names)?;
        let rows = Rows::new(read, &learner, fit.input.scale)?;
        let learner = rows.in_units(learner, fit.tol);
        Ok(Self { points, words, learner, rows })
    }
}

fn parse(words: &[String]) -> Result<Fit, Failure> {
    let all = ["mercer"].into_iter().chain(words.iter().map(String::as_str));
    match Arguments::try_parse_from(all) {
        Ok(Arguments { command: Command::Fit(fit) }) => Ok(fit),
        Ok(_) => Err(Failure::usage("only fits are explored")),
        Err(error) => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(Failure::usage(first.trim_start_matches("error: ")))
        }
    }
}

/// The scaling of the points: columns of a file are standardised, since their units differ.
fn scale(state: &State, has_file: bool) -> &str {
    let of_file = has_file && matches!(state.text("data"), None | Some("file"));
    state.text("scale").unwrap_or(if of_file { "standard" } else { "none" })
}

/// The method: the requested one, otherwise one that suits the target.
pub fn method<'a>(state: &'a State, points: &Points) -> &'a str {
    let default = if matches!(points.values, Values::Classes { .. }) { "svc" } else { "ridge" };
    state.text("method").unwrap_or(default)
}

/// The kernel text of a state.
pub fn kernel(state: &State) -> &str {
    state.text("kernel").unwrap_or("rbf(sigma=0.5)")
}

/// The words of the command line after `mercer`. Settings that the state lacks take the defaults of the page.
fn words(state: &State, points: &Points, has_file: bool) -> Result<Vec<String>, Failure> {
    let method = method(state, points);
    let kind: Method = serde_json::from_value(serde_json::Value::String(method.to_owned()))
        .map_err(|_| Failure::usage(format!("there is no method `{method}`")))?;
    let mut words: Vec<String> = ["fit", method, FILE].map(str::to_owned).to_vec();
    let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
    flag(if kind == Method::OneClass { "--drop" } else { "--target" }, points.target.clone());
    if kind != Method::Knn {
        flag("--kernel", kernel(state).to_owned());
    }
    let number = |key: &str, default: f64| state.number(key, default).map(|value| value.to_string());
    match kind {
        Method::Ridge | Method::Logistic => flag("--lambda", number("lambda", 0.1)?),
        Method::Lms => {
            flag("--epochs", state.whole("epochs", 100, 1, MOST_EPOCHS)?.to_string());
            if let Some(step) = state.text("step") {
                flag("--step", step.to_owned());
            }
        }
        Method::Perceptron => flag("--epochs", state.whole("epochs", 100, 1, MOST_EPOCHS)?.to_string()),
        Method::Knn => flag("-k", state.whole("k", 5, 1, super::points::MOST_ROWS)?.to_string()),
        Method::Svc => flag("--C", number("C", 1.0)?),
        Method::Svr => {
            flag("--C", number("C", 1.0)?);
            flag("--epsilon", number("epsilon", 0.1)?);
        }
        Method::NuSvr => {
            flag("--C", number("C", 1.0)?);
            flag("--nu", number("nu", 0.5)?);
        }
        Method::NuSvc | Method::OneClass => flag("--nu", number("nu", 0.2)?),
        Method::Gp => flag("--noise", number("gpnoise", 0.1)?),
        _ => {}
    }
    if let (Method::Ridge | Method::Lms, Some(bias)) = (kind, state.text("bias")) {
        flag("--bias", bias.to_owned());
    }
    flag("--scale", scale(state, has_file).to_owned());
    flag("--holdout", "0".to_owned());
    if state.text("assume").is_some() && !matches!(kind, Method::Smoother | Method::Knn) {
        words.push("--assume-psd".to_owned());
    }
    words.extend(["-o".to_owned(), "model.mercer".to_owned()]);
    Ok(words)
}
