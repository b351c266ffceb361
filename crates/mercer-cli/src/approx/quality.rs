//! How well the features do, for people.

use mercer::design::Approximation;
use mercer::learn::Quality;

/// Lines about an approximation, with the reason for it where there is one.
pub fn lines(
    quality: &Quality,
    approximation: Approximation,
    targets: &[String],
    why: Option<String>,
) -> Vec<(&'static str, String)> {
    let count = approximation.features();
    let kind = match approximation {
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
    lines
}
