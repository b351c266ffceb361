//! `--approx` of ridge regression: a file of any size through sums over features.
//!
//! Two passes: the first finds the scaling and a sample of rows, from which `auto`, landmarks and the quality follow;
//! the second adds every row to the sums (`tune` has one such pass for every kernel it tries). Nothing else is kept of the
//! rows, so the file may be larger than memory.

mod choice;
mod quality;
mod sums;
mod survey;

use std::path::Path;
use std::time::Instant;

use mercer::data::{Chunks, Source, TrainingChunks};
use mercer::learn::search::Split;
use mercer::learn::{Bias, Fitted, Origin, Ridge, SolvedSums};
use mercer::pool;
use mercer::session::Session;

pub use choice::{Approx, choose, parse};
pub use quality::lines;
use sums::Sums;
pub use sums::targets;
pub use survey::Survey;

use crate::args::{Fit, Input, Solver};
use crate::commands::fit::{Outcome, Seconds};
use crate::failure::Failure;
use crate::learner::{Lift, admission};
use crate::score::Errors;
use crate::training::missing_target;

/// Bytes of rows in a chunk, about.
const CHUNK: usize = 4 << 20;

/// Refuses what does not go with an approximation, whatever the data is.
pub fn check_text(arguments: &Fit) -> Result<(), Failure> {
    if !arguments.approx.is_some_and(Approx::is_asked) {
        return Ok(());
    }
    if arguments.features.is_some() {
        return Err(Failure::usage("--approx stands in for a kernel, but --features are features already"));
    }
    if arguments.bias == Some(Bias::Column) {
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
    let (seed, fraction) = (arguments.common.seed, arguments.holdout);
    // The check of the fraction; which rows are held out is up to a hash of their number here.
    Split::hold_out(10, fraction, seed).map_err(|error| Failure::usage(format!("--holdout: {error}")))?;
    let Lift::Kernel(kernel) = Lift::parse(arguments)? else {
        return Err(Failure::usage("--approx stands in for a kernel"));
    };
    let mut chunks = open(&arguments.data, &arguments.input, session)?;
    let schema = chunks.schema().clone();
    let survey = Survey::of(&mut chunks, arguments.input.scale, arguments.approx, seed, session)?;
    let notes: Vec<String> = chunks.notes().into_iter().chain(survey.note(&schema)).collect();
    let seconds_reading = began.elapsed().as_secs_f64();

    let kernel = kernel.resolve_auto(&session.scales(&survey.sample))?;
    let Some((approximation, why)) = choose(arguments.approx, &kernel, &survey, session)? else {
        return Ok(None);
    };
    let lambda = if arguments.lambda.is_empty() { vec![1.0] } else { arguments.lambda.clone() };
    let ridge = Ridge::new((kernel, approximation), 1.0)
        .with_lambda(lambda)
        .with_bias(arguments.bias.unwrap_or_default())
        .with_admission(admission(arguments));
    let prepared = ridge.prepare((&survey.sample, survey.rows), session)?;
    let clock = Instant::now();
    chunks.rewind()?;
    let sums = Sums::new(&ridge, &prepared, schema.targets.len(), fraction, session)?;
    let sums = sums.over(&mut chunks, &survey, session)?;

    let names: Vec<String> = schema.targets.iter().map(|target| target.name.clone()).collect();
    let solution = ridge.solve(&sums.rest, session)?;
    let holdout = match &sums.held_out {
        Some(held) => Some(Errors::of_sums(&solution.errors_on(held)?, &names)),
        None => None,
    };
    let summed = SolvedSums { sums: &sums.rest, solution: &solution, held_out: sums.held_out.as_ref() };
    let quality = ridge.quality(&prepared, summed, &survey.sample, session)?;
    let of_all = match &sums.held_out {
        None => solution,
        Some(held_out) => {
            let mut all = sums.rest.clone();
            all.merge(held_out)?;
            ridge.solve(&all, session)?
        }
    };
    let lines = lines(&quality, approximation, &names, why);
    let facts = quality.facts(&names);
    let features = schema.nfeatures();
    let origin = Origin { schema: Some(schema), outputs: names, scaling: survey.scaling.clone() };
    let Fitted { model, report, facts, .. } =
        ridge.fitted(&prepared, &of_all, (survey.rows, origin), facts, session)?;
    let seconds =
        Seconds { read: seconds_reading, holdout: 0.0, fit: clock.elapsed().as_secs_f64(), total: 0.0 };
    Ok(Some(Outcome {
        model,
        report,
        facts,
        notes,
        holdout,
        rows: survey.rows as usize,
        features,
        source: arguments.data.display().to_string(),
        seconds,
        lines,
    }))
}

/// The rows of a file in chunks, for as many passes as it takes.
pub fn open(data: &Path, input: &Input, session: &Session<'_>) -> Result<TrainingChunks, Failure> {
    let source = Source::path(data);
    if !source.is_restartable() {
        return Err(Failure::usage("--approx goes through the data twice, which standard input cannot")
            .hint("write the data to a file first"));
    }
    let chunks = TrainingChunks::open(source, &input.read_options(), 1, session)?;
    let schema = chunks.schema();
    if schema.targets.is_empty() {
        return Err(missing_target(&data.display().to_string(), &schema.feature_names()));
    }
    let width = schema.nfeatures().max(1);
    Ok(chunks.with_rows_per_chunk((CHUNK / (8 * width)).clamp(1_024, 16_384)))
}
