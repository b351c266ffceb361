//! Formulas of the textbooks with their correct verdicts: few may be undecided, and no verdict may be wrong.
//!
//! Rasmussen and Williams 2006, Gaussian Processes for Machine Learning; Schölkopf and Smola 2002, Learning with Kernels; Genton 2001;
//! Gneiting 2002 and 2013; Wendland 2005; Berg, Christensen, Ressel 1984; Wackernagel 2003.

use mercer_kernel::Kernel;
use mercer_kernel::check::{Checked, Dim, Domain, MOST_STEPS, Verdict};

/// A verdict in the words of the table.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proven(_) => "yes",
        Verdict::Undefined(_) => "undefined",
        Verdict::Refuted(_) => "no",
        _ => "undecided",
    }
}

/// Checks the table's lines that contain the text in `MERCER_TEXTBOOK`, or all of them.
#[test]
fn few_are_undecided_and_none_is_wrong() {
    let only = std::env::var("MERCER_TEXTBOOK").unwrap_or_default();
    let (mut undecided, mut wrong, mut count) = (Vec::new(), Vec::new(), 0);
    for line in include_str!("../check_formulas/textbook.txt").lines().filter(|l| l.contains(&only)) {
        let parts: Vec<&str> = line.split(';').map(str::trim).collect();
        let [text, dim, domain, truth] = parts[..] else { panic!("{line}") };
        let kernel: Kernel = text.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        let (dim, domain): (Dim, Domain) = (dim.parse().unwrap(), domain.parse().unwrap());
        let checked = kernel.check_within(dim, domain, MOST_STEPS / 4);
        let Checked { verdict, .. } = checked.unwrap_or_else(|e| panic!("{line}: {e}"));
        count += 1;
        match word(&verdict) {
            "undecided" => undecided.push(line),
            said if said != truth => wrong.push(format!("{line}: {verdict}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let few = undecided.len() * 100 <= 5 * count;
    assert!(few, "{} of {count} are undecided:\n{}", undecided.len(), undecided.join("\n"));
}
