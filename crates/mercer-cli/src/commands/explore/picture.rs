//! A fit as numbers to draw: values on a grid, their kernel terms, support vectors, and facts about the fit.

use mercer::data::{Dataset, Matrix};
use mercer::learn::{Fitted, Learner};
use mercer::model::{Facts, Method, Model, Score};
use mercer::session::Session;
use mercer::solve::Report;
use serde::Serialize;

use super::points::{Points, Values};
use super::prepared::Prepared;
use super::reproduce::{self, Lines};
use super::state::State;
use crate::commands::plot::pictures::places;
use crate::commands::plot::shown::{Decisions, Shown};
use crate::failure::Failure;
use crate::input::Rows;
use crate::score::line;

/// Places along a curve.
const CURVE: usize = 301;

/// The most kernel terms that are drawn.
const MOST_BUMPS: usize = 60;

/// The number of functions drawn from a posterior.
const DRAWS: usize = 4;

/// The places of a picture's numbers: along one column, or on a grid over two, row after row from the bottom.
#[derive(Debug, Clone, Serialize)]
pub struct Grid {
    /// Places along the first column.
    pub x: Vec<f32>,
    /// Places along the second column.
    pub y: Option<Vec<f32>>,
    /// The places as rows of the model's columns.
    #[serde(skip)]
    pub rows: Vec<f64>,
}

impl Grid {
    /// The grid of a state: its frame, otherwise one that contains the points.
    pub fn new(state: &State, points: &Points, default_cells: usize) -> Result<Self, Failure> {
        let dims = points.names.len();
        let count = if dims == 1 { CURVE } else { state.whole("cells", default_cells, 4, 200)? };
        let column =
            |column: usize| -> Vec<f64> { points.rows.iter().skip(column).step_by(dims).copied().collect() };
        let frame = frame(state)?;
        let side = |at: usize| match &frame {
            Some(ends) => {
                let (low, high) = (ends[2 * at], ends[2 * at + 1]);
                (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64).collect()
            }
            None => places(&column(at), 0.08, count),
        };
        let xs = side(0);
        if dims == 1 {
            return Ok(Self { x: short(&xs), y: None, rows: xs });
        }
        let ys = side(1);
        let rows = ys.iter().flat_map(|y| xs.iter().flat_map(|x| [*x, *y]).collect::<Vec<_>>()).collect();
        Ok(Self { x: short(&xs), y: Some(short(&ys)), rows })
    }
}

impl Grid {
    /// Every output of a model at the places.
    fn outputs(&self, shown: &Shown, session: &Session<'_>) -> Result<Matrix<f64>, Failure> {
        let columns = shown.names.len();
        let fill =
            |place: usize, row: &mut [f64]| row.copy_from_slice(&self.rows[place * columns..][..columns]);
        shown.outputs_of(self.rows.len() / columns, fill, session)
    }

    /// The first output of a model at the places.
    pub fn values(&self, shown: &Shown, session: &Session<'_>) -> Result<Vec<f64>, Failure> {
        Ok(shown.chosen(&self.outputs(shown, session)?))
    }
}

/// The ends of the picture: `x0,x1` or `x0,x1,y0,y1`.
fn frame(state: &State) -> Result<Option<Vec<f64>>, Failure> {
    let Some(text) = state.text("frame") else { return Ok(None) };
    let ends: Option<Vec<f64>> = text.split(',').map(|end| end.parse().ok()).collect();
    let ends = ends.filter(|ends| {
        let ordered =
            |pair: &[f64]| pair.len() == 2 && pair[0] < pair[1] && pair.iter().all(|end| end.abs() < 1e12);
        ends.len() == 4 && ends.chunks(2).all(ordered)
    });
    ends.map(Some).ok_or_else(|| {
        Failure::usage(format!("frame is `{text}`; it must be x0,x1,y0,y1 with x0 < x1 and y0 < y1"))
    })
}

/// Numbers to draw, with the digits that a picture needs.
pub fn short(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// The quantities that decide between classes on the grid.
#[derive(Debug, Serialize)]
pub struct Decision {
    /// `decision`: positive for the second of two classes; `decisions` and `shares`: one list per class, the largest wins.
    kind: &'static str,
    values: Vec<Vec<f32>>,
}

impl Decision {
    /// The decision of a model on a grid.
    pub fn of(shown: &Shown, grid: &Grid, session: &Session<'_>) -> Result<Self, Failure> {
        let lists = |lists: Vec<Vec<f64>>| lists.iter().map(|list| short(list)).collect();
        Ok(match (shown.decisions(&grid.outputs(shown, session)?), shown.model.method) {
            (Decisions::Second(f), Method::Svc | Method::NuSvc) => {
                Self { kind: "decision", values: lists(vec![f]) }
            }
            (Decisions::Second(f), _) => {
                let first = f.iter().map(|f| -f).collect();
                Self { kind: "decisions", values: lists(vec![first, f]) }
            }
            (Decisions::Each(values), _) => Self { kind: "decisions", values: lists(values) },
            (Decisions::Probabilities(values), _) => Self { kind: "shares", values: lists(values) },
        })
    }
}

/// A fit, as the page draws it.
#[derive(Debug, Serialize)]
pub struct Picture {
    method: Method,
    /// The kernel with its numbers; `None` for neighbours.
    kernel: Option<String>,
    grid: Grid,
    /// For a regression, one number for each place.
    values: Option<Vec<f32>>,
    /// For a classifier.
    decision: Option<Decision>,
    /// The classes of the model, in the order of its decisions.
    classes: Vec<String>,
    /// For a regression over one column: the terms aᵢ k(cᵢ, ·), the largest first, and the intercept.
    bumps: Vec<Vec<f32>>,
    intercept: f64,
    /// The total number of terms.
    terms: usize,
    /// The rows that are support vectors, or centres of the perceptron.
    support: Vec<bool>,
    /// Half the width of the tube of support vector regression.
    epsilon: Option<f64>,
    /// For a Gaussian process over one column: the standard deviation at each place, and functions drawn from its
    /// posterior.
    deviations: Option<Vec<f32>>,
    draws: Vec<Vec<f32>>,
    /// The error on the training rows, in words.
    training: String,
    solver: Option<String>,
    warnings: Vec<String>,
    facts: Facts,
    lines: Lines,
}

/// Trains the learner of a state and draws its model.
pub fn fit(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<Picture, Failure> {
    let prepared = Prepared::new(state, file)?;
    let fitted = train(&prepared, session)?;
    let grid = Grid::new(state, &prepared.points, 64)?;
    let training = training(&prepared.rows, &fitted.model, session)?;
    let (report, facts) = (fitted.report, fitted.facts);
    let centres = fitted.centres;
    let shown = shown(fitted.model, &prepared);
    let method = shown.model.method;
    let regression = shown.model.classes.is_none();
    let curve = regression && grid.y.is_none();
    let mut support = shown.support_vectors()?;
    if let (Method::Perceptron, Some(centres)) = (method, &centres) {
        centres.iter().for_each(|&row| support[row] = true);
    }
    let bumps = if curve {
        shown.bumps(&grid.x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>(), MOST_BUMPS, session)?
    } else {
        Vec::new()
    };
    let spread = if curve { shown.spread(0, &grid.rows, DRAWS, session)? } else { None };
    let (deviations, draws) = spread.unzip();
    let epsilon = match method {
        Method::Svr => shown.model.settings.number("epsilon"),
        Method::NuSvr => facts.number("epsilon"),
        _ => None,
    };
    Ok(Picture {
        method,
        kernel: shown.kernel().map(ToString::to_string),
        values: if regression { Some(short(&grid.values(&shown, session)?)) } else { None },
        decision: if regression { None } else { Some(Decision::of(&shown, &grid, session)?) },
        classes: shown.class_names(),
        bumps: bumps.iter().map(|bump| short(bump)).collect(),
        intercept: shown.intercept(),
        terms: shown.nterms(),
        support,
        epsilon,
        deviations: deviations.map(|deviations| short(&deviations)),
        draws: draws.unwrap_or_default().iter().map(|draw| short(draw)).collect(),
        training,
        solver: report.as_ref().map(|report| report.solver.to_string()),
        warnings: report.iter().flat_map(Report::remarks).cloned().collect(),
        facts,
        lines: reproduce::lines(&prepared, method),
        grid,
    })
}

/// Trains the learner.
pub fn train(prepared: &Prepared, session: &Session<'_>) -> Result<Fitted, Failure> {
    let (problem, _) = prepared.rows.problem()?;
    Ok(prepared.learner.train(&problem, session)?)
}

/// The error of a model on its training rows.
pub fn training(rows: &Rows, model: &Model, session: &Session<'_>) -> Result<String, Failure> {
    let outputs = model.predict(&rows.dataset.features, session)?;
    let mut score = Score::of(model);
    let target = rows.dataset.targets.first();
    match (&model.classes, target) {
        (Some(classes), Some(target)) if model.method != Method::OneClass => {
            let known = (0..target.values.len()).map(|row| classes.find(&target.values, row));
            score.add_classes(known.collect::<Vec<_>>(), &outputs);
        }
        (None, Some(target)) => {
            if let Some(numbers) = target.values.numbers() {
                let truth = Matrix::from_entries(numbers.len(), 1, numbers.into_owned());
                score.add_numbers(&truth, &outputs);
            }
        }
        _ => score = Score::of_inliers(&outputs),
    }
    Ok(score.errors(&model.outputs).first().map(line).unwrap_or_default())
}

/// A model with its points, for drawing.
pub fn shown(model: Model, prepared: &Prepared) -> Shown {
    let points = &prepared.points;
    let (observed, classes) = match &points.values {
        Values::Numbers(numbers) => (Some(numbers.clone()), None),
        Values::Classes { codes, names } => {
            // The model's classes are sorted.
            let known = model.classes.as_ref();
            let code = |name: &String| {
                known.and_then(|known| (0..known.len()).find(|&code| known.name(code) == *name))
            };
            let places: Vec<Option<usize>> = names.iter().map(code).collect();
            (None, Some(codes.iter().map(|&code| places[code]).collect()))
        }
    };
    let classes = classes.filter(|_| model.method != Method::OneClass);
    let samples = prepared.rows.dataset.features.clone();
    Shown::of_training(model, points.names.clone(), samples, observed, classes)
}
