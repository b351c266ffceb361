//! The verdict on a formula for the page: the document of `mercer check --json`, with formulas in TeX.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mercer::kernel::Kernel;
use mercer::kernel::check::{Dim, Domain};
use mercer::watch::Watch;
use serde_json::{Value, json};

use super::state::State;
use super::tex::tex;
use super::turns::Job;
use crate::commands::explore::prepared::kernel;
use crate::failure::Failure;

/// The most cached verdicts.
const MOST_KEPT: usize = 500;

/// Decides one formula at a time, and caches the answers.
#[derive(Debug, Default)]
pub struct Verdicts {
    kept: Mutex<HashMap<String, Value>>,
    busy: Mutex<()>,
}

impl Verdicts {
    /// The verdict on the formula of a state. For a formula that cannot be read, the answer is the position of the
    /// error.
    pub fn decide(&self, state: &State, job: &Job) -> Result<Value, Failure> {
        let text = kernel(state);
        let dim: Dim = state.value("dim")?.unwrap_or(Dim::Any);
        let domain: Domain = state.value("domain")?.unwrap_or(Domain::All);
        let kernel: Kernel = match text.parse() {
            Ok(kernel) => kernel,
            Err(error) => {
                let error: mercer::kernel::ParseError = error;
                let document = json!({"message": error.problem().to_string(), "column": error.column()});
                return Ok(json!({"kernel": text, "parse_error": document}));
            }
        };
        let question = format!("{dim}\n{domain}\n{text}");
        let known = |kept: &Mutex<HashMap<String, Value>>| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).get(&question).cloned()
        };
        if let Some(answer) = known(&self.kept) {
            return Ok(answer);
        }
        // Only one search runs at a time: waiting ones are mostly superseded before their turn.
        let busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        job.check()?;
        if let Some(answer) = known(&self.kept) {
            return Ok(answer);
        }
        let findings = kernel.findings(dim, domain).map_err(Failure::work)?;
        drop(busy);
        let mut document = json!(findings.to_json(text, dim, domain));
        typeset(&mut document);
        document["text"] = json!(findings.to_string());
        document["tex"] = json!(tex(kernel.expr()));
        document["canonical"] = json!(kernel.canonical().to_string());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(question, document.clone());
        Ok(document)
    }
}

/// Adds the formula of each step of a proof as TeX, if it can be read.
fn typeset(document: &mut Value) {
    match document {
        Value::Object(entries) => {
            let form =
                entries.get("form").and_then(Value::as_str).and_then(|form| form.parse::<Kernel>().ok());
            entries.values_mut().for_each(typeset);
            if let Some(form) = form {
                entries.insert("tex".to_owned(), json!(tex(form.expr())));
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(typeset),
        _ => {}
    }
}
