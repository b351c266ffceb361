//! The rows that are explored: one or two columns and a target.

use std::fmt::Write;

use mercer::data::{Classes, Dataset};
use serde::Serialize;

use super::data_sets;
use super::state::State;
use crate::failure::Failure;

/// The most rows.
pub const MOST_ROWS: usize = 2_000;

/// The most classes.
const MOST_CLASSES: usize = 10;

/// Rows of one or two columns, and their target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Points {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The name of the target.
    pub target: String,
    /// The columns, row after row.
    pub rows: Vec<f64>,
    /// The target of each row.
    pub values: Values,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Values {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Classes, by their index in `names`.
    Classes {
        /// The class of each row.
        codes: Vec<usize>,
        /// The classes, sorted as a classifier sorts them.
        names: Vec<String>,
    },
}

impl Points {
    /// The rows of a state: a built-in set, points of the page, or two columns of the file.
    pub fn of(state: &State, file: Option<&Dataset>) -> Result<Self, Failure> {
        let default = if file.is_some() { "file" } else { "moons" };
        match (state.text("data").unwrap_or(default), file) {
            ("points", _) => Self::drawn(state),
            ("file", Some(dataset)) => Self::of_file(state, dataset),
            ("file", None) => {
                Err(Failure::usage("no file was given: start with `mercer explore DATA.csv --target y`"))
            }
            (name, _) => {
                let n = state.whole("n", 120, 2, MOST_ROWS)?;
                let noise = state.value("noise")?;
                data_sets::generate(name, n, noise, state.value("seed")?.unwrap_or(0))
            }
        }
    }

    /// Points that were drawn or loaded on the page: `x,z,target;…`, or `x,target;…` with one column.
    fn drawn(state: &State) -> Result<Self, Failure> {
        let dims = state.whole("dims", 2, 1, 2)?;
        let mut rows = Vec::new();
        let mut targets = Vec::new();
        for (place, point) in
            state.text("points").unwrap_or_default().split(';').filter(|p| !p.is_empty()).enumerate()
        {
            if place == MOST_ROWS {
                return Err(Failure::usage(format!("there are more than {MOST_ROWS} points")));
            }
            let numbers: Option<Vec<f64>> = point
                .split(',')
                .map(|n| n.parse().ok().filter(|n: &f64| n.is_finite() && n.abs() < 1e12))
                .collect();
            match numbers.as_deref() {
                Some([x @ .., y]) if x.len() == dims => {
                    rows.extend_from_slice(x);
                    targets.push(*y);
                }
                _ => {
                    let wrong = format!("point {}: `{point}` is not {} numbers", place + 1, dims + 1);
                    return Err(Failure::usage(wrong));
                }
            }
        }
        let names: Vec<String> = list(state, "names");
        let named = names.len() == dims + 1 && names.iter().all(|name| !name.is_empty());
        let (names, target) = match names.split_last() {
            Some((target, names)) if named => (names.to_vec(), target.clone()),
            _ => ((0..dims).map(|column| format!("x{column}")).collect(), "y".to_owned()),
        };
        let values = match state.text("kind").unwrap_or("classes") {
            "numbers" => Values::Numbers(targets),
            "classes" => {
                let names = match list(state, "labels") {
                    names if names.is_empty() => ["blue", "orange", "purple"].map(str::to_owned).to_vec(),
                    names => names,
                };
                let code = |y: &f64| {
                    (*y >= 0.0 && y.fract() == 0.0 && *y < names.len() as f64).then_some(*y as usize)
                };
                let codes = targets.iter().map(code).collect::<Option<Vec<usize>>>();
                let codes = codes.ok_or_else(|| {
                    Failure::usage(format!("a class is a whole number from 0 to {}", names.len() - 1))
                })?;
                if names.len() > MOST_CLASSES {
                    return Err(Failure::usage(format!("there are more than {MOST_CLASSES} classes")));
                }
                Values::Classes { codes, names }
            }
            other => return Err(Failure::usage(format!("kind is `{other}`; it must be classes or numbers"))),
        };
        Ok(Self { names, target, rows, values, notes: Vec::new() })
    }

    /// One or two columns of a file, and at most [`MOST_ROWS`] rows, evenly spread.
    fn of_file(state: &State, dataset: &Dataset) -> Result<Self, Failure> {
        let names = feature_names(dataset);
        let column = |key: &str| -> Result<Option<usize>, Failure> {
            let Some(asked) = state.text(key) else { return Ok(None) };
            let place = names.iter().position(|name| name == asked);
            place.map(Some).ok_or_else(|| {
                Failure::usage(format!("{key} is `{asked}`; the file has {}", names.join(", ")))
            })
        };
        let first = column("x")?.unwrap_or(0);
        let second = match state.text("z") {
            Some("-") => None,
            Some(_) => column("z")?,
            None => (0..names.len()).find(|&other| other != first),
        };
        let chosen: Vec<usize> = [Some(first), second].into_iter().flatten().collect();
        let stride = dataset.nrows().div_ceil(MOST_ROWS).max(1);
        let kept: Vec<usize> = (0..dataset.nrows()).step_by(stride).collect();
        let mut notes = dataset.notes.clone();
        if stride > 1 {
            notes.push(format!("{} of {} rows: every {stride}th", kept.len(), dataset.nrows()));
        }
        let mut row = vec![0.0; names.len()];
        let mut rows = Vec::with_capacity(kept.len() * chosen.len());
        for &at in &kept {
            dataset.features.copy_row(at, &mut row);
            rows.extend(chosen.iter().map(|&column| row[column]));
        }
        let Some(target) = dataset.targets.first() else {
            return Err(Failure::usage("the file has no target"));
        };
        let values = target.values.select(&kept);
        let values = match values.numbers() {
            Some(numbers) => Values::Numbers(numbers.into_owned()),
            None => {
                let (classes, codes) = Classes::of(&values);
                if classes.len() > MOST_CLASSES {
                    let found = format!(
                        "the target has {} classes, more than the {MOST_CLASSES} that are shown",
                        classes.len()
                    );
                    return Err(Failure::usage(found));
                }
                Values::Classes { codes, names: (0..classes.len()).map(|code| classes.name(code)).collect() }
            }
        };
        Ok(Self {
            names: chosen.iter().map(|&column| names[column].clone()).collect(),
            target: target.name.clone(),
            rows,
            values,
            notes,
        })
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.rows.len() / self.names.len()
    }

    /// The rows as a file for `mercer fit`. A class that looks like a number remains a class.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        let quoted = |field: &str| {
            if field.contains([',', '"', '\n', '\r', ';', '\t', ' ']) || field.is_empty() {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field.to_owned()
            }
        };
        let header = self.names.iter().chain([&self.target]).map(|name| quoted(name)).collect::<Vec<_>>();
        text.push_str(&header.join(","));
        text.push('\n');
        for (row, x) in self.rows.chunks(self.names.len()).enumerate() {
            x.iter().for_each(|value| {
                let _ = write!(text, "{value},");
            });
            let _ = match &self.values {
                Values::Numbers(y) => writeln!(text, "{}", y[row]),
                Values::Classes { codes, names } => writeln!(text, "{}", quoted(&names[codes[row]])),
            };
        }
        text
    }
}

/// The names of a file's features; numbered if they have none.
pub fn feature_names(dataset: &Dataset) -> Vec<String> {
    if dataset.feature_names.is_empty() {
        return (0..dataset.features.ncols()).map(|column| format!("x{column}")).collect();
    }
    dataset.feature_names.clone()
}

/// A list with commas between its entries.
fn list(state: &State, key: &str) -> Vec<String> {
    let entries = |text: &str| text.split(',').map(|entry| entry.trim().to_owned()).collect();
    state.text(key).map(entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Result<Points, Failure> {
        Points::of(&State::of_link(text).unwrap(), None)
    }

    #[test]
    fn points_of_the_page() {
        let points = drawn("data=points&points=1,2,0;-3.5,0,1").unwrap();
        assert_eq!((points.nrows(), points.names.len()), (2, 2));
        assert_eq!(points.csv(), "x0,x1,y\n1,2,blue\n-3.5,0,orange\n");
        let line = drawn("data=points&dims=1&kind=numbers&points=1,2;3,4&names=speed,dist").unwrap();
        assert_eq!(line.csv(), "speed,dist\n1,2\n3,4\n");
        for bad in [
            "data=points&points=1,2",
            "data=points&points=1,2,x",
            "data=points&points=1,2,7",
            "data=points&points=1,inf,0",
            "data=points&dims=3",
            "data=points&kind=other&points=1,2,0",
            "data=file",
            "data=../../etc/passwd",
            "data=moons&n=3000",
        ] {
            assert!(drawn(bad).is_err(), "{bad}");
        }
    }
}
