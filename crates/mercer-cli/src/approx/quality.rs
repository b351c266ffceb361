//! How well the features do, for people.

use mercer::design::Approximation;
use mercer::learn::Facts;
use serde_json::Value;

/// Lines about an approximation from the facts of a fit, with the reason for it where there is one.
pub fn lines(
    facts: &Facts,
    approximation: Approximation,
    reason: Option<String>,
) -> Vec<(&'static str, String)> {
    let count = approximation.features();
    let kind = match approximation {
        Approximation::Fourier { .. } => "random features",
        Approximation::Nystrom { .. } => "landmarks",
    };
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or(f64::NAN);
    let mut lines = vec![("approximation", format!("{count} {kind}"))];
    lines.extend(reason.map(|reason| ("", reason)));
    lines.push((
        "quality",
        format!(
            "relative kernel error {:.1e} on a sample; effective dimension about {:.0} of {count}",
            number(facts.get("kernel_error")),
            number(facts.get("effective_dimension"))
        ),
    ));
    let sizes = facts.get("sizes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for size in sizes {
        let name = match size["target"].as_str() {
            Some(target) if sizes.len() > 1 => format!("{target}: "),
            _ => String::new(),
        };
        lines.push((
            "",
            format!(
                "{name}RMSE {:.6} with half as many, {:.6} with these, about {:.6} with twice as many",
                number(size.get("rmse_half")),
                number(size.get("rmse")),
                number(size.get("rmse_doubled_about"))
            ),
        ));
    }
    lines
}
