//! A predictor described for people.

use mercer::kernel::Kernel;
use mercer::kernel::check::Domain;
use mercer::model::Predictor;

/// Labelled lines on a predictor.
pub fn lines(predictor: &Predictor) -> Vec<(&'static str, String)> {
    match predictor {
        Predictor::Expansion(expansion) => kernel(&expansion.kernel, expansion.domain),
        Predictor::Pairs(pairs) => kernel(&pairs.kernel, pairs.domain),
        Predictor::Linear(linear) => {
            vec![("features", format!("{} ({} of them)", linear.map, linear.weights.nrows()))]
        }
        Predictor::Neighbours(neighbours) => vec![("rule", neighbours.rule.to_string())],
        Predictor::Voted(voted) => {
            let mut lines = kernel(&voted.kernel, voted.domain);
            lines.push(("voters", voted.steps.iter().filter(|step| step.votes > 0).count().to_string()));
            lines
        }
    }
}

fn kernel(kernel: &Kernel, domain: Option<Domain>) -> Vec<(&'static str, String)> {
    let mut lines = vec![("kernel", kernel.to_string())];
    lines.extend(domain.map(|domain| ("check", format!("proven positive semidefinite on {domain}"))));
    lines
}
