//! A predictor described for people.

use mercer::model::Predictor;

/// Labelled lines on a predictor.
pub fn lines(predictor: &Predictor) -> Vec<(&'static str, String)> {
    match predictor {
        Predictor::Expansion(expansion) => {
            let mut lines = vec![("kernel", expansion.kernel.to_string())];
            if let Some(domain) = expansion.domain {
                lines.push(("check", format!("proven positive semidefinite on {domain}")));
            }
            lines
        }
        Predictor::Pairs(pairs) => {
            let mut lines = vec![("kernel", pairs.kernel.to_string())];
            if let Some(domain) = pairs.domain {
                lines.push(("check", format!("proven positive semidefinite on {domain}")));
            }
            lines
        }
        Predictor::Linear(linear) => {
            vec![("features", format!("{} ({} of them)", linear.map, linear.weights.nrows()))]
        }
        Predictor::Neighbours(neighbours) => vec![("rule", neighbours.rule.to_string())],
    }
}
