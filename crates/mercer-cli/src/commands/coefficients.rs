//! `mercer info --coefficients`: the coefficients of a model as CSV.

use std::io::{self, BufWriter, Write};

use mercer::data::{self, AnySamples, Matrix};
use mercer::design::Features;
use mercer::model::{Expansion, Linear, Model, Pairs, Predictor, pairs_of};

use super::predict::quoted;
use crate::args::Info;
use crate::failure::Failure;
use crate::output;

/// Writes the coefficients of a model to a file or to standard output.
pub fn run(model: &Model, arguments: &Info) -> Result<(), Failure> {
    let table = Table::of(model)?;
    match &arguments.output {
        Some(path) => {
            output::check_output(path, &[&arguments.model])?;
            Ok(data::write_atomically(path, |file| table.write(file))?)
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            table.write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::stdout(&error))
        }
    }
}

/// f(x) = Σᵢ aᵢ·termᵢ(x) + b for each of several outputs.
struct Table<'a> {
    /// The name of each output, empty if there is only one.
    outputs: Vec<String>,
    intercepts: Vec<f64>,
    terms: Vec<String>,
    coefficients: Matrix<f64>,
    /// The rows that the terms are kernels of, and the names of their columns.
    centres: Option<(&'a AnySamples<'static>, Vec<String>)>,
}

impl<'a> Table<'a> {
    fn of(model: &'a Model) -> Result<Self, Failure> {
        match &model.predictor {
            Predictor::Expansion(expansion) => Ok(Self::of_expansion(expansion, model)),
            Predictor::GaussianProcess(process) => Ok(Self::of_expansion(&process.mean, model)),
            Predictor::Linear(linear) => Self::of_linear(linear, model),
            Predictor::Pairs(pairs) => Ok(Self::of_pairs(pairs, model)),
            Predictor::GaussianClasses(classes) => Ok(Self::of_expansion(&classes.latent, model)),
            Predictor::Neighbours(_) | Predictor::Voted(_) => Err(Failure::usage(format!(
                "a {} model has no coefficients: it keeps the training rows",
                model.method
            ))),
        }
    }

    fn of_expansion(expansion: &'a Expansion, model: &Model) -> Self {
        Self {
            outputs: outputs(model, expansion.noutputs()),
            intercepts: expansion.intercepts.clone(),
            terms: (0..expansion.centres.nrows()).map(|row| row.to_string()).collect(),
            coefficients: expansion.coefficients.clone(),
            centres: Some((&expansion.centres, model.column_names())),
        }
    }

    fn of_linear(linear: &'a Linear, model: &Model) -> Result<Self, Failure> {
        let terms = match &linear.map {
            Features::Map(map) => map.names(&model.column_names())?.iter().map(|name| quoted(name)).collect(),
            _ => (0..linear.weights.nrows()).map(|feature| feature.to_string()).collect(),
        };
        Ok(Self {
            outputs: outputs(model, linear.noutputs()),
            intercepts: linear.intercepts.clone(),
            terms,
            coefficients: linear.weights.clone(),
            centres: None,
        })
    }

    /// A column for each pair of classes; of two classes one column, with the sign of `predict --decision`.
    fn of_pairs(pairs: &'a Pairs, model: &Model) -> Self {
        let classes = pairs.nclasses();
        let name =
            |code: usize| model.classes.as_ref().map_or_else(|| code.to_string(), |all| all.name(code));
        let (mut intercepts, mut coefficients) = (pairs.rho.clone(), pairs.by_pair());
        // A pair's decision is positive for the first of two classes; a single decision is written for the second.
        let outputs = if classes == 2 {
            coefficients.entries_mut().iter_mut().for_each(|coefficient| *coefficient = 0.0 - *coefficient);
            vec![String::new()]
        } else {
            intercepts.iter_mut().for_each(|rho| *rho = 0.0 - *rho);
            pairs_of(classes).map(|(i, j)| format!("{}_vs_{}", name(i), name(j))).collect()
        };
        Self {
            outputs,
            intercepts,
            terms: (0..pairs.centres.nrows()).map(|row| row.to_string()).collect(),
            coefficients,
            centres: Some((&pairs.centres, model.column_names())),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let coefficient = |name: &String| match name.as_str() {
            "" => "coefficient".to_owned(),
            name => quoted(&format!("coefficient_{name}")),
        };
        let columns = self.centres.iter().flat_map(|(_, names)| names.iter().map(|name| quoted(name)));
        let header =
            ["term".to_owned()].into_iter().chain(self.outputs.iter().map(coefficient)).chain(columns);
        writeln!(out, "{}", header.collect::<Vec<_>>().join(","))?;
        let width = self.centres.as_ref().map_or(0, |(_, names)| names.len());
        let numbers = self.intercepts.iter().map(f64::to_string);
        let blanks = (0..width).map(|_| String::new());
        let intercept = ["intercept".to_owned()].into_iter().chain(numbers).chain(blanks);
        writeln!(out, "{}", intercept.collect::<Vec<_>>().join(","))?;
        let mut centre = vec![0.0; width];
        for (row, term) in self.terms.iter().enumerate() {
            if let Some((rows, _)) = &self.centres {
                rows.copy_row(row, &mut centre);
            }
            let numbers = self.coefficients.row(row).iter().chain(&centre).map(f64::to_string);
            writeln!(out, "{term},{}", numbers.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}

/// The names of outputs: classes if there is one output for each, otherwise targets; a single output has no name.
fn outputs(model: &Model, count: usize) -> Vec<String> {
    match &model.classes {
        _ if count == 1 => vec![String::new()],
        Some(classes) => (0..count).map(|code| classes.name(code)).collect(),
        None => model.outputs.clone(),
    }
}
