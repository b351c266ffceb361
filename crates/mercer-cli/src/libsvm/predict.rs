//! svm-predict.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use mercer::data::{AnySamples, Classes, Matrix};
use mercer::model::libsvm::general;
use mercer::model::{Calibration, Link, Method, Model};
use mercer::pool;
use mercer::session::Session;

use super::cross_validation::regression_errors;
use super::problem::Problem;
use super::{Refusal, finish, say};
use crate::progress::{self, Progress};

const USAGE: &str = "\
Usage: svm-predict [options] test_file model_file output_file
options:
-b probability_estimates: whether to predict probability estimates, 0 or 1 (default 0)
-q : quiet mode (no outputs)
";

/// Runs svm-predict.
pub fn predict(arguments: &[String]) -> ExitCode {
    finish(run(arguments))
}

struct PredictOptions {
    probability: bool,
    quiet: bool,
    data: String,
    model: String,
    output: String,
}

impl PredictOptions {
    fn parse(arguments: &[String]) -> Result<Self, Refusal> {
        let (mut probability, mut quiet) = (false, false);
        let mut at = 0;
        while let Some(option) = arguments.get(at).and_then(|text| text.strip_prefix('-')) {
            match option.chars().next() {
                Some('q') => quiet = true,
                Some('b') => {
                    at += 1;
                    probability = match arguments.get(at).map(String::as_str) {
                        Some("0") => false,
                        Some("1") => true,
                        _ => return Err(Refusal::usage("-b is 0 or 1", USAGE)),
                    };
                }
                other => {
                    return Err(Refusal::usage(format!("Unknown option: -{}", other.unwrap_or(' ')), USAGE));
                }
            }
            at += 1;
        }
        match &arguments[at.min(arguments.len())..] {
            [data, model, output, ..] => Ok(Self {
                probability,
                quiet,
                data: data.clone(),
                model: model.clone(),
                output: output.clone(),
            }),
            _ => Err(Refusal::usage("", USAGE)),
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Refusal> {
    let options = PredictOptions::parse(arguments)?;
    progress::listen();
    let problem = Problem::read(&options.data)?;
    let model = Model::load(Path::new(&options.model))
        .map_err(|error| Refusal::new(format!("can't open model file {}: {error}", options.model)))?;
    if !matches!(model.method, Method::Svc | Method::NuSvc | Method::OneClass | Method::Svr | Method::NuSvr) {
        return Err(Refusal::new(format!("{} is not a support vector model", options.model)));
    }
    let told = |text: String| {
        if !options.quiet {
            say(format_args!("{text}"));
        }
    };
    match (options.probability, &model.calibration) {
        (true, None) => return Err(Refusal::new("Model does not support probabiliy estimates")),
        (false, Some(_)) => {
            told("Model supports probability estimates, but disabled in prediction.\n".into())
        }
        (true, Some(Calibration::Laplace { scale })) => told(format!(
            "Prob. model for test data: target value = predicted value + z,\n\
             z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={}\n",
            general(*scale, 6)
        )),
        _ => {}
    }
    // Columns that no support vector has still count for the distance.
    let model = model.widened(problem.largest);
    let columns = model.predictor.ncols();
    let samples: AnySamples<'static> = problem.samples(columns)?;
    let watch = Progress::new(true);
    let session = Session::default().with_watch(&watch);
    let outputs = pool::with(None, || model.predict(&samples, &session));
    let outputs = outputs.map_err(|error| match progress::interrupted() {
        true => Refusal::interrupted(),
        false => Refusal::new(error.to_string()),
    })?;
    let (text, predicted) = answers(&model, &outputs, options.probability);
    fs::write(&options.output, text)
        .map_err(|_| Refusal::new(format!("can't open output file {}", options.output)))?;
    let labels = &problem.labels;
    if model.classes.is_none() {
        let (mean, correlation) = regression_errors(labels, &predicted);
        told(format!("Mean squared error = {} (regression)\n", general(mean, 6)));
        told(format!("Squared correlation coefficient = {} (regression)\n", general(correlation, 6)));
    } else {
        let right = labels.iter().zip(&predicted).filter(|(y, p)| y == p).count();
        let share = right as f64 / labels.len() as f64 * 100.0;
        let (share, rows) = (general(share, 6), labels.len());
        told(format!("Accuracy = {share}% ({right}/{rows}) (classification)\n"));
    }
    Ok(())
}

/// The lines of the output file, and the predictions.
fn answers(model: &Model, outputs: &Matrix<f64>, probability: bool) -> (String, Vec<f64>) {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| text.write_fmt(words).expect("a text grows");
    let Some(classes) = &model.classes else {
        let predicted: Vec<f64> = outputs.entries().to_vec();
        predicted.iter().for_each(|value| line(format_args!("{}\n", general(*value, 17))));
        return (text, predicted);
    };
    let shares = probability.then(|| model.probabilities(outputs)).flatten();
    let one_class = model.method == Method::OneClass;
    if shares.is_some() {
        match one_class {
            true => line(format_args!("label normal outlier\n")),
            false => {
                let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
                line(format_args!("labels {}\n", names.join(" ")));
            }
        }
    }
    let mut predicted = Vec::with_capacity(outputs.nrows());
    for row in 0..outputs.nrows() {
        let decided = model.link().class(outputs.row(row));
        // Coupled probabilities may favour another class than the votes; LIBSVM predicts by the probabilities.
        let code = match &shares {
            Some(shares) if !one_class && classes.len() > 1 => Link::Shares.class(shares.row(row)),
            _ => decided,
        };
        let label = label(classes, code);
        predicted.push(label);
        match &shares {
            None => line(format_args!("{}\n", general(label, 17))),
            Some(shares) => {
                let mut values: Vec<String> = shares.row(row).iter().map(|p| general(*p, 6)).collect();
                if one_class {
                    values.reverse();
                }
                line(format_args!("{} {}\n", general(label, 6), values.join(" ")));
            }
        }
    }
    (text, predicted)
}

/// The label as a number; for classes that are texts, their index.
fn label(classes: &Classes, code: usize) -> f64 {
    match classes {
        Classes::Integers(labels) => labels[code] as f64,
        Classes::Numbers(labels) => labels[code],
        Classes::Labels(names) => names[code].parse().unwrap_or(code as f64),
    }
}
