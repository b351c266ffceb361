//! The requests of the page: each has a state and gets a document.

use mercer::data::{self, Dataset};
use mercer::pool;
use mercer::session::Session;
use mercer::watch::Watch;
use serde::Serialize;
use serde_json::json;

use super::points::{Points, feature_names};
use super::prepared::Prepared;
use super::state::State;
use super::turns::Job;
use super::verdict::Verdicts;
use super::{compare, data_sets, export, gram, lift, picture, spectral, steps, tuning};
use crate::args::Explore;
use crate::commands::plot::pictures;
use crate::failure::Failure;

/// The shared state of requests: the file, and the cached verdicts.
pub struct Explorer<'a> {
    arguments: &'a Explore,
    file: Option<Dataset>,
    verdicts: Verdicts,
}

/// A document, or a file to save.
pub enum Answer {
    /// JSON.
    Json(Vec<u8>),
    /// Bytes of a media type.
    File(&'static str, Vec<u8>),
}

/// The known requests: first those whose answers make up a picture, in the order of an export.
pub const REQUESTS: [&str; 15] = [
    "start",
    "check",
    "data",
    "fit",
    "gram",
    "spectrum",
    "distances",
    "lift",
    "compare",
    "steps",
    "tune",
    "points.csv",
    "model.mercer",
    "picture.svg",
    "picture.html",
];

impl<'a> Explorer<'a> {
    /// Reads the file.
    pub fn new(arguments: &'a Explore) -> Result<Self, Failure> {
        let options = arguments.input.read_options();
        let file = match &arguments.data {
            None if !options.target.is_empty() => {
                return Err(Failure::usage("--target is for DATA, which is missing"));
            }
            None => None,
            Some(path) => {
                let (dataset, _) = data::read(path, &options)?;
                let columns = feature_names(&dataset);
                if dataset.targets.len() != 1 {
                    return Err(Failure::usage(format!(
                        "one --target is needed; {} has the columns {}",
                        path.display(),
                        columns.join(", ")
                    )));
                }
                if dataset.nrows() < 2 || columns.is_empty() {
                    return Err(Failure::usage(format!("{} has too few rows or columns", path.display())));
                }
                Some(dataset)
            }
        };
        Ok(Self { arguments, file, verdicts: Verdicts::default() })
    }

    /// Answers a request.
    pub fn answer(&self, request: &str, state: &State, job: &Job) -> Result<Answer, Failure> {
        let session = self.arguments.common.session(None, job)?;
        let (file, session) = (self.file.as_ref(), &session);
        let on_pool = |work: &(dyn Fn() -> Result<Answer, Failure> + Sync)| {
            pool::with(self.arguments.common.threads(), work)
        };
        job.check()?;
        match request {
            "start" => json(&self.start()),
            "check" => json(&self.verdicts.decide(state, job)?),
            "data" => json(&Points::of(state, file)?),
            "fit" => on_pool(&|| json(&picture::fit(state, file, session)?)),
            "steps" => on_pool(&|| json(&steps::film(state, file, session)?)),
            "gram" => on_pool(&|| json(&gram::gram(state, file, session)?)),
            "distances" => on_pool(&|| json(&gram::distances(state, file, session)?)),
            "spectrum" => on_pool(&|| json(&spectral::spectrum(state, file, session)?)),
            "lift" => on_pool(&|| json(&lift::lift(state, file, session)?)),
            "compare" => on_pool(&|| json(&compare::compare(state, file, session)?)),
            "tune" => on_pool(&|| json(&tuning::tune(state, file, session)?)),
            "points.csv" => {
                Ok(Answer::File("text/csv; charset=utf-8", Points::of(state, file)?.csv().into_bytes()))
            }
            "model.mercer" => on_pool(&|| {
                let fitted = picture::train(&Prepared::new(state, file)?, session)?;
                Ok(Answer::File("application/octet-stream", fitted.model.to_bytes().map_err(Failure::work)?))
            }),
            "picture.svg" => {
                on_pool(&|| Ok(Answer::File("image/svg+xml", svg(state, file, session)?.into_bytes())))
            }
            "picture.html" => {
                Ok(Answer::File("text/html; charset=utf-8", export::page(self, state, job)?.into_bytes()))
            }
            _ => Err(Failure::usage("there is no such request")),
        }
    }

    /// The data that the page requests once.
    fn start(&self) -> impl Serialize {
        let sets: Vec<_> =
            data_sets::DATA_SETS.iter().map(|(name, about, noise)| json!([name, about, noise])).collect();
        let file = self.file.as_ref().map(|dataset| {
            json!({
                "name": dataset.source,
                "rows": dataset.nrows(),
                "columns": feature_names(dataset),
                "target": dataset.targets[0].name,
            })
        });
        json!({"version": env!("CARGO_PKG_VERSION"), "sets": sets, "file": file})
    }
}

fn json(document: &impl Serialize) -> Result<Answer, Failure> {
    serde_json::to_vec(document).map(Answer::Json).map_err(Failure::work)
}

/// The picture drawn by `mercer plot`.
fn svg(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<String, Failure> {
    let prepared = Prepared::new(state, file)?;
    let shown = picture::shown(picture::train(&prepared, session)?.model, &prepared);
    Ok(pictures::draw(&shown, shown.default_kind(0), &[], session)?.to_svg())
}
