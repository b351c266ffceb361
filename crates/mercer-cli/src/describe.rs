//! Descriptions of predictors and approximations.

use mercer::data::counted;
use mercer::design::Approximation;
use mercer::kernel::check::Domain;
use mercer::kernel::name_columns;
use mercer::learn::{Learnt, TargetSizes};
use mercer::model::{Facts, Predictor};

/// Labelled lines about a predictor of these columns.
pub fn lines(predictor: &Predictor, columns: &[String]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some((kernel, domain, _)) = predictor.basis() {
        lines.push(("kernel", name_columns(&kernel.to_string(), columns)));
        let proven = |domain: Domain| format!("proven positive semidefinite on {}", domain.describe());
        lines.extend(domain.map(|domain| ("check", proven(domain))));
    }
    match predictor {
        Predictor::GaussianProcess(process) => {
            let deviations: Vec<String> =
                process.scales.iter().map(|scale| format!("{:.6}", scale * process.noise.sqrt())).collect();
            lines.push(("noise", format!("standard deviation {}", deviations.join(", "))));
            if !process.has_variance() {
                lines.push(("variance", "left out: there are no standard deviations".to_owned()));
            }
        }
        Predictor::Linear(linear) => {
            let (map, count) = (linear.map.to_string(), linear.weights.nrows());
            // The finite map of a polynomial kernel, by its coefficients of 1, ⟨x,z⟩, ⟨x,z⟩², ….
            let degree = map.strip_prefix("series(").map(|rest| rest.matches(',').count());
            let text = match degree {
                Some(1) => format!("the columns themselves: {map}, {}", counted(count, "feature")),
                Some(degree) => {
                    format!("products of at most {degree} columns: {map}, {}", counted(count, "feature"))
                }
                None => format!("{map} ({count} of them)"),
            };
            lines.push(("features", text));
        }
        Predictor::Neighbours(neighbours) => lines.push(("rule", neighbours.rule.to_string())),
        Predictor::Voted(voted) => {
            lines.push(("voters", voted.steps.iter().filter(|step| step.votes > 0).count().to_string()));
        }
        Predictor::Expansion(_) | Predictor::Pairs(_) | Predictor::GaussianClasses(_) => {}
    }
    lines
}

/// Lines about a learnt Gaussian process of `targets`: its likelihood and its hyper-parameters.
pub fn learnt(facts: &Facts, columns: &[String], targets: &str) -> Vec<(&'static str, String)> {
    if !facts.has("parameters") {
        return Vec::new();
    }
    let likelihood = facts.number("log_likelihood").unwrap_or(f64::NAN);
    let error = facts.number("log_likelihood_error").map_or(String::new(), |error| {
        let probes = facts.read::<u64>("probes").unwrap_or_default();
        format!(", estimated from {probes} random probes with a standard error of {error:.2}")
    });
    let likelihood = format!("log-likelihood {likelihood:.4} of the {targets}{error}");
    std::iter::once(("likelihood", likelihood)).chain(parameters(facts, columns)).collect()
}

/// Lines with the hyper-parameters of a Gaussian process from its facts or its report, those of single columns from the most to the
/// least relevant.
pub fn parameters(facts: &Facts, columns: &[String]) -> Vec<(&'static str, String)> {
    let parameters: Vec<Learnt> = facts.read("parameters").unwrap_or_default();
    let names = Learnt::names(&parameters, columns);
    let row = |(learnt, name): (&Learnt, String)| {
        let bound = learnt.at_bound.as_deref().map_or(String::new(), |end| format!("  at its {end} bound"));
        let is_length = ["sigma", "length", "radius"].contains(&learnt.parameter.as_str());
        let (value, count) = (learnt.value.0, learnt.columns.as_ref().map_or(0, Vec::len));
        // A column with a long length scale is hardly relevant; other parameters come before the columns.
        let rank = match (count, is_length, learnt.parameter.as_str()) {
            (1, true, _) => value,
            (1, _, "gamma") => 1.0 / value,
            _ => 0.0,
        };
        let value = if value < 1e-3 { format!("{value:.5e}") } else { format!("{value:.6}") };
        (rank, format!("{name:<24} {value}{bound}"))
    };
    let mut rows: Vec<(f64, String)> = parameters.iter().zip(names).map(row).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let labels = std::iter::once("parameters").chain(std::iter::repeat(""));
    labels.zip(rows).map(|(label, (_, row))| (label, row)).collect()
}

/// Lines about an approximation from the facts of a fit, with the reason for it, if any.
pub fn approximation(
    facts: &Facts,
    approximation: Approximation,
    reason: Option<String>,
) -> Vec<(&'static str, String)> {
    let count = approximation.features();
    let kind = match approximation {
        Approximation::Fourier { .. } => "random features",
        Approximation::Nystrom { .. } => "landmarks",
    };
    let mut lines = vec![("approximation", format!("{count} {kind}"))];
    lines.extend(reason.map(|reason| ("", reason)));
    // A classifier has no such facts.
    if let (Some(error), Some(dimension)) =
        (facts.number("kernel_error"), facts.number("effective_dimension"))
    {
        let text = format!(
            "relative kernel error {error:.1e} on a sample; effective dimension about {dimension:.0} of {count}"
        );
        lines.push(("quality", text));
    }
    let sizes: Vec<TargetSizes> = facts.read("sizes").unwrap_or_default();
    for size in &sizes {
        let name = if sizes.len() > 1 { format!("{}: ", size.target) } else { String::new() };
        lines.push((
            "",
            format!(
                "{name}RMSE {:.6} with half as many, {:.6} with these, about {:.6} with twice as many",
                size.rmse_half.0, size.rmse.0, size.rmse_doubled_about.0
            ),
        ));
    }
    lines
}
