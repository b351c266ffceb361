//! `mercer fit`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use mercer::data::{self, AnySamples, Dataset, Matrix, ScaleMethod, Scaling, Schema, TargetValues};
use mercer::gram::SampleScales;
use mercer::kernel::Kernel;
use mercer::learn::{Admission, Bias, Form, Ridge};
use mercer::model::{Expansion, Method, Model};
use mercer::pool;
use mercer::select::Split;
use mercer::solve::{Factor, Report};
use mercer::watch::Watch;
use serde::Serialize;
use serde_json::json;

use crate::args::{Fit, Solver};
use crate::failure::Failure;
use crate::output;
use crate::progress::{self, Progress};
use crate::score::{Errors, Score};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    method: String,
    data: DataSummary,
    kernel: String,
    /// Where the kernel is proven to be one.
    domain: Option<String>,
    lambda: &'a [f64],
    bias: Bias,
    scaling: &'a str,
    holdout: Option<Vec<Errors>>,
    report: &'a Report,
    seconds: Seconds,
    model: String,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct DataSummary {
    source: String,
    rows: usize,
    features: usize,
    targets: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct Seconds {
    read: f64,
    holdout: f64,
    fit: f64,
    total: f64,
}

impl Seconds {
    fn line(&self) -> String {
        let Self { read, holdout, fit, total } = self;
        format!("read {read:.2} s, held-out fit {holdout:.2} s, fit {fit:.2} s, {total:.2} s in all")
    }
}

/// Reads, holds out, fits, saves and reports.
pub fn run(arguments: &Fit) -> Result<(), Failure> {
    progress::listen();
    let began = Instant::now();
    let mut seconds = Seconds::default();
    let kernel: Kernel = arguments.kernel.parse()?;
    if !kernel.tunables()?.is_empty() {
        return Err(Failure::usage(
            "the kernel has `?`, which asks for tuning; `fit` needs numbers or `auto`",
        ));
    }
    check_output(&arguments.output)?;
    let (dataset, schema) = read(arguments)?;
    let targets = numeric_targets(&dataset)?;
    seconds.read = began.elapsed().as_secs_f64();
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let recipe = Recipe { arguments, kernel };
    recipe.ridge(recipe.kernel.clone()).check_memory(dataset.nrows())?;

    let (holdout, fitted) = pool::with(arguments.common.threads(), || {
        let clock = Instant::now();
        let holdout = recipe.hold_out(&dataset, &targets, &watch)?;
        seconds.holdout = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let fitted = recipe.fit(&dataset.features, &targets, &watch)?;
        seconds.fit = clock.elapsed().as_secs_f64();
        Ok::<_, Failure>((holdout, fitted))
    })?;
    watch.finish();

    let notes: Vec<String> = dataset.notes.iter().cloned().chain(fitted.notes(&dataset)).collect();
    let Trained { model, report } = recipe.model(fitted, schema, &dataset);
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
    model.save(&arguments.output)?;
    seconds.total = began.elapsed().as_secs_f64();
    for warning in &report.warnings {
        output::warn(warning);
    }
    let document = Document {
        method: model.method.to_string(),
        data: DataSummary {
            source: dataset.source.clone(),
            rows: dataset.nrows(),
            features: dataset.features.ncols(),
            targets: model.outputs.clone(),
        },
        kernel: model.expansion.kernel.to_string(),
        domain: model.expansion.domain.map(|domain| domain.to_string()),
        lambda: &arguments.lambda,
        bias: arguments.bias,
        scaling: model.scaling.name(),
        holdout,
        report: &report,
        seconds,
        model: arguments.output.display().to_string(),
        notes: &notes,
    };
    let mut lines = lines(&document, &arguments.kernel);
    if arguments.common.verbose {
        lines.push(("time", document.seconds.line()));
        lines.push(("steps", report.iterations.to_string()));
    }
    output::report(&arguments.common, &document, &lines)
}

fn lines(document: &Document<'_>, kernel_text: &str) -> Vec<(&'static str, String)> {
    let data = &document.data;
    let mut lines = vec![(
        "data",
        format!(
            "{}: {} rows, {} features, target {}",
            data.source,
            data.rows,
            data.features,
            data.targets.join(", ")
        ),
    )];
    lines.extend(document.notes.iter().map(|note| ("", note.clone())));
    lines.push(("scaling", document.scaling.to_owned()));
    let from = if kernel_text.contains("auto") { format!("  (from {kernel_text})") } else { String::new() };
    lines.push(("kernel", format!("{}{from}", document.kernel)));
    if let Some(domain) = &document.domain {
        lines.push(("check", format!("proven positive semidefinite on {domain}")));
    }
    for errors in document.holdout.iter().flatten() {
        let name = if data.targets.len() > 1 { format!("{}: ", errors.target) } else { String::new() };
        lines.push(("held out", format!("{name}{}", errors.line())));
    }
    let (report, seconds) = (document.report, &document.seconds);
    lines.push(("fit", format!("{}, residual {:.1e}, {:.2} s", report.solver, report.residual, seconds.fit)));
    lines.push(("model", document.model.clone()));
    lines
}

fn read(arguments: &Fit) -> Result<(Dataset, Schema), Failure> {
    let options = arguments.input.read_options();
    let (dataset, schema) = data::read(&arguments.data, &options)?;
    if dataset.targets.is_empty() {
        let columns =
            dataset.feature_names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!(
            "--target is missing; {} has the columns {columns}",
            dataset.source
        )));
    }
    Ok((dataset, schema))
}

/// One column per target.
fn numeric_targets(dataset: &Dataset) -> Result<Matrix<f64>, Failure> {
    let mut matrix = Matrix::zeros(dataset.nrows(), dataset.targets.len());
    for (column, target) in dataset.targets.iter().enumerate() {
        let TargetValues::Numbers(values) = &target.values else {
            return Err(Failure::usage(format!(
                "{}: the target {} holds text, but ridge regression predicts numbers",
                dataset.source, target.name
            )));
        };
        values.iter().enumerate().for_each(|(row, value)| matrix.row_mut(row)[column] = *value);
    }
    Ok(matrix)
}

/// Finds out before the work, not after it, that the model cannot be written.
fn check_output(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(Failure::usage(format!("cannot write {}: it is a folder", path.display())));
    }
    if !folder.is_dir() {
        return Err(Failure::usage(format!(
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        )));
    }
    tempfile::tempfile_in(folder).map(drop).map_err(|error| Failure::write(path, &error))
}

/// Everything that training needs beside the rows.
struct Recipe<'a> {
    arguments: &'a Fit,
    kernel: Kernel,
}

struct Fitted {
    expansion: Expansion,
    scaling: Scaling,
    /// Columns with one value throughout.
    constant: Vec<usize>,
    report: Report,
}

struct Trained {
    model: Model,
    report: Report,
}

impl Fitted {
    fn notes(&self, dataset: &Dataset) -> Vec<String> {
        let constant = &self.constant;
        if constant.is_empty() {
            return Vec::new();
        }
        let name =
            |&c: &usize| dataset.feature_names.get(c).cloned().unwrap_or_else(|| format!("column {c}"));
        let names: Vec<String> = constant.iter().take(8).map(name).collect();
        let more =
            if constant.len() > 8 { format!(" and {} more", constant.len() - 8) } else { String::new() };
        vec![format!("constant, so not scaled: {}{more}", names.join(", "))]
    }
}

impl Recipe<'_> {
    fn fit(
        &self,
        features: &AnySamples<'_>,
        targets: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Fitted, Failure> {
        let (scaling, constant) =
            Scaling::fit(self.arguments.input.scale.unwrap_or(ScaleMethod::Standard), features)?;
        let scaled = scaling.apply(features.view())?;
        let kernel = self.kernel.resolve_auto(&SampleScales::new(&scaled, self.arguments.common.seed))?;
        let (expansion, report) = self.ridge(kernel).fit(&scaled, targets, None, watch)?;
        Ok(Fitted { expansion, scaling, constant, report })
    }

    fn ridge(&self, kernel: Kernel) -> Ridge {
        Ridge {
            kernel,
            lambda: self.arguments.lambda.clone(),
            bias: self.arguments.bias,
            admission: if self.arguments.assume_psd { Admission::Assume } else { Admission::Check },
            factor: match self.arguments.solver {
                Solver::Auto => Factor::Auto,
                Solver::Cholesky => Factor::Double,
                Solver::Mixed => Factor::Mixed,
            },
            memory: self.arguments.memory,
            form: Form::Auto,
        }
    }

    /// The errors on held-out rows of a model that has not seen them.
    fn hold_out(
        &self,
        dataset: &Dataset,
        targets: &Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Errors>>, Failure> {
        let split = Split::hold_out(dataset.nrows(), self.arguments.holdout, self.arguments.common.seed);
        let Some(Split { train, held_out }) = split.map_err(|e| Failure::usage(format!("--holdout: {e}")))?
        else {
            return Ok(None);
        };
        let rows = |chosen: &[usize]| {
            let entries = chosen.iter().flat_map(|&i| targets.row(i).to_vec()).collect();
            Matrix::from_entries(chosen.len(), targets.ncols(), entries)
        };
        let fitted = self.fit(&dataset.features.select(&train), &rows(&train), watch)?;
        let unseen = fitted.scaling.apply(dataset.features.select(&held_out))?;
        let predicted = fitted.expansion.predict(&unseen, watch)?;
        let mut scores = vec![Score::default(); targets.ncols()];
        for (place, &row) in held_out.iter().enumerate() {
            for (column, score) in scores.iter_mut().enumerate() {
                score.add(targets.row(row)[column], predicted.row(place)[column]);
            }
        }
        Ok(Some(scores.iter().zip(&dataset.targets).filter_map(|(s, t)| s.errors(&t.name)).collect()))
    }

    fn model(&self, fitted: Fitted, schema: Schema, dataset: &Dataset) -> Trained {
        let Fitted { expansion, scaling, report, .. } = fitted;
        let settings = BTreeMap::from([
            ("bias".to_owned(), json!(self.arguments.bias)),
            ("lambda".to_owned(), json!(self.arguments.lambda)),
            ("seed".to_owned(), json!(self.arguments.common.seed)),
        ]);
        let summary = BTreeMap::from([
            ("rows".to_owned(), json!(dataset.nrows())),
            ("solver".to_owned(), json!(report.solver)),
            ("status".to_owned(), json!(report.status)),
            ("residual".to_owned(), json!(report.residual)),
        ]);
        let model = Model {
            method: Method::Ridge,
            settings,
            expansion,
            schema: Some(schema),
            outputs: dataset.targets.iter().map(|target| target.name.clone()).collect(),
            scaling,
            report: summary,
        };
        Trained { model, report }
    }
}
