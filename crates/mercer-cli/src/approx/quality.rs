//! How well the features do, for people and for programs.

use std::collections::BTreeMap;

use mercer::design::Approximation;
use mercer::learn::{ApproxRidge, Quality};
use serde_json::{Value, json};

/// Facts for the report and lines for people.
pub fn told(
    quality: &Quality,
    ridge: &ApproxRidge,
    targets: &[String],
    why: Option<String>,
) -> (BTreeMap<String, Value>, Vec<(&'static str, String)>) {
    let count = ridge.approximation.features();
    let sizes: Vec<Value> = quality
        .sizes
        .iter()
        .zip(targets)
        .map(|(sizes, target)| {
            json!({
                "target": target,
                "rmse_half": sizes.half.sqrt(),
                "rmse": sizes.all.sqrt(),
                "rmse_doubled_about": sizes.doubled.sqrt(),
            })
        })
        .collect();
    let facts = BTreeMap::from([
        ("kernel_error".to_owned(), json!(quality.kernel.relative)),
        ("effective_dimension".to_owned(), json!(quality.effective_dimension)),
        ("sizes".to_owned(), json!(sizes)),
    ]);
    let kind = match ridge.approximation {
        Approximation::Fourier { .. } => "random features",
        Approximation::Nystrom { .. } => "landmarks",
    };
    let mut lines = vec![("approximation", format!("{count} {kind}"))];
    lines.extend(why.map(|why| ("", why)));
    lines.push((
        "quality",
        format!(
            "relative kernel error {:.1e} on a sample; effective dimension about {:.0} of {count}",
            quality.kernel.relative, quality.effective_dimension
        ),
    ));
    for (sizes, target) in quality.sizes.iter().zip(targets) {
        let name = if targets.len() > 1 { format!("{target}: ") } else { String::new() };
        lines.push((
            "",
            format!(
                "{name}RMSE {:.6} with half as many, {:.6} with these, about {:.6} with twice as many",
                sizes.half.sqrt(),
                sizes.all.sqrt(),
                sizes.doubled.sqrt()
            ),
        ));
    }
    (facts, lines)
}
