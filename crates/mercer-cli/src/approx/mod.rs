//! `--approx` of ridge regression: a file of any size through sums over features.
//!
//! Two passes: the first finds the scaling and a sample of rows, from which `auto`, landmarks and the quality follow;
//! the second adds every row to the sums (`tune` has one such pass for every kernel it tries). Nothing else is kept of the
//! rows, so the file may be larger than memory.

mod choice;
mod quality;

use std::path::Path;
use std::time::Instant;

use mercer::data::{DataError, FilePasses, Passes, ScaleMethod, Source, SurveyOptions, TrainingChunks};
use mercer::design::Approximation;
use mercer::learn::search::Split;
use mercer::learn::{self, Intercept, Learner, Problem, Ridge};
use mercer::pool;
use mercer::session::Session;

pub use choice::{Approx, parse};
pub use quality::lines;

use crate::args::{Fit, Input, Solver};
use crate::commands::fit::{Outcome, Seconds};
use crate::failure::Failure;
use crate::learner::{Lift, admission};
use crate::score::Errors;
use crate::training::{constant_columns, missing_target};

/// Refuses what does not go with an approximation, whatever the data is.
pub fn check_text(arguments: &Fit) -> Result<(), Failure> {
    if !arguments.approx.is_some_and(Approx::is_asked) {
        return Ok(());
    }
    if arguments.features.is_some() {
        return Err(Failure::usage("--approx stands in for a kernel, but --features are features already"));
    }
    if arguments.bias == Some(Intercept::Column) {
        return Err(Failure::usage("--approx has --bias centred or none"));
    }
    if arguments.method == crate::args::Method::Ridge
        && arguments.solver.is_some_and(|solver| solver != Solver::Auto)
    {
        return Err(Failure::usage("with --approx the problem is solved in the features")
            .hint("leave --solver out, or leave --approx out: --solver cg solves the problem without an approximation"));
    }
    Ok(())
}

/// A fit in chunks; none where `auto` finds that no approximation is needed.
pub fn fit(arguments: &Fit, session: &Session<'_>) -> Result<Option<Outcome>, Failure> {
    pool::with(arguments.common.threads(), || in_chunks(arguments, session))
}

fn in_chunks(arguments: &Fit, session: &Session<'_>) -> Result<Option<Outcome>, Failure> {
    let began = Instant::now();
    let fraction = arguments.holdout;
    // The check of the fraction; which rows are held out is up to a hash of their number here.
    Split::hold_out(10, fraction, session.seed())
        .map_err(|error| Failure::usage(format!("--holdout: {error}")))?;
    let Lift::Kernel(kernel) = Lift::parse(arguments)? else {
        return Err(Failure::usage("--approx stands in for a kernel"));
    };
    let lift = match arguments.approx {
        Some(Approx::As(approximation)) => (kernel, approximation).into(),
        _ => learn::Lift::Auto(kernel),
    };
    let passes = passes(&arguments.data, &arguments.input, &lift, fraction, session)?;
    let problem = Problem::stream(&passes);
    let seconds_reading = began.elapsed().as_secs_f64();

    let clock = Instant::now();
    let (lift, reason) = lift.resolved(&problem, session)?;
    let learn::Lift::Approximate { approx, .. } = lift else { return Ok(None) };
    let lambda = if arguments.lambda.is_empty() { vec![1.0] } else { arguments.lambda.clone() };
    let fitted = Ridge::new(lift)
        .lambdas(lambda)
        .intercept(arguments.bias.unwrap_or_default())
        .admission(admission(arguments))
        .train(&problem, session)?;
    let survey = passes.survey();
    let seconds =
        Seconds { read: seconds_reading, holdout: 0.0, fit: clock.elapsed().as_secs_f64(), total: 0.0 };
    Ok(Some(Outcome {
        lines: lines(&fitted.facts, approx, reason),
        model: fitted.model,
        report: fitted.report,
        facts: fitted.facts,
        notes: notes(&passes),
        holdout: fitted.held_out.map(|errors| Errors::of_sums(&errors, &survey.targets)),
        rows: problem.nrows(),
        features: survey.sample.ncols(),
        source: arguments.data.display().to_string(),
        seconds,
    }))
}

/// A file for as many passes as it takes.
pub fn passes(
    data: &Path,
    input: &Input,
    lift: &learn::Lift,
    held_out: f64,
    session: &Session<'_>,
) -> Result<FilePasses, Failure> {
    let source = Source::path(data);
    if !source.is_restartable() {
        return Err(DataError::NotRestartable { file: source.name().to_owned() }.into());
    }
    let chunks = TrainingChunks::open(source, &input.read_options(), session)?;
    let schema = chunks.schema();
    if schema.targets.is_empty() {
        return Err(missing_target(&data.display().to_string(), &schema.feature_names()));
    }
    let (scale, sample) = (input.scale.unwrap_or(ScaleMethod::Standard), lift.sample_rows());
    let options = SurveyOptions { scale, sample, seed: session.seed(), held_out };
    let passes = FilePasses::new(chunks, &options, session)?;
    let rows = passes.survey().rows;
    match lift {
        learn::Lift::Approximate { approx: Approximation::Nystrom { landmarks, .. }, .. }
            if *landmarks as u64 > rows =>
        {
            Err(Failure::usage(format!(
                "--approx nystrom:{landmarks} asks for more landmarks than there are rows, {rows}"
            )))
        }
        _ => Ok(passes),
    }
}

/// What a user should know about the rows of a file.
pub fn notes(passes: &FilePasses) -> Vec<String> {
    let names = passes.schema().map(|schema| schema.feature_names()).unwrap_or_default();
    passes.notes().iter().cloned().chain(constant_columns(&passes.survey().constant, &names)).collect()
}
