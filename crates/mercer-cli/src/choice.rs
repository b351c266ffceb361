//! Settings that the command line leaves open and the library chose: as text and as JSON.

use std::collections::BTreeMap;

use mercer::learn::search::Measure;
use mercer::select::Chosen;
use serde::Serialize;

use crate::output::number;

/// The chosen settings, and their score compared with a constant prediction.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// The settings by the names of their flags.
    settings: BTreeMap<&'static str, String>,
    measure: &'static str,
    /// The score on held-out rows, in the units of the measure.
    score: f64,
    /// The score of the best constant prediction.
    baseline: Option<f64>,
    criterion: &'static str,
    /// Rows of the sample for the choice.
    rows: usize,
    /// The command that gives the same model.
    command: String,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    warning: Option<String>,
}

impl Choice {
    /// The choice of a fit with this many targets.
    pub fn new(chosen: &Chosen, targets: usize) -> Self {
        let Chosen { settings, measure, score, baseline, criterion, rows, .. } = chosen;
        let named = |(name, value): &(&str, String)| match *name {
            "kernel" => value.clone(),
            name => format!("{name} {value}"),
        };
        let values: Vec<String> = settings.iter().map(named).collect();
        let kind = if targets > 1 { " of standardised targets" } else { "" };
        let name = measure.figure_name();
        let constant = match measure {
            Measure::SquaredError => "predicting the mean",
            Measure::LogLoss => "predicting the class frequencies",
            _ => "predicting the most frequent class",
        };
        let figure = |score: f64| number(measure.figure(score), 4);
        let judged = match baseline {
            None => format!(
                "the narrowest kernel that rejects few enough of the rows left out ({criterion}, {rows} rows)"
            ),
            Some(baseline) => format!(
                "{criterion} {name}{kind} {} on {rows} rows; {constant}: {}",
                figure(*score),
                figure(*baseline)
            ),
        };
        let warning = chosen.is_no_better_than_baseline().then(|| {
            format!(
                "the best settings found predict no better than {constant}; check the columns and the target"
            )
        });
        Self {
            settings: settings.iter().map(|(name, value)| (*name, value.clone())).collect(),
            measure: measure.figure_name(),
            score: measure.figure(*score),
            baseline: baseline.map(|baseline| measure.figure(baseline)),
            criterion,
            rows: *rows,
            command: command(
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()),
                settings,
            ),
            text: format!("{}: {judged}", values.join(", ")),
            warning,
        }
    }

    /// Whether the kernel is part of the choice.
    pub fn has_kernel(&self) -> bool {
        self.settings.contains_key("kernel")
    }

    /// The lines of the report.
    pub fn lines(&self) -> [(&'static str, String); 2] {
        [("chosen", self.text.clone()), ("same model", self.command.clone())]
    }

    /// The warning that no settings predict better than a constant.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// The command line as typed, with the settings written out.
fn command(typed: impl Iterator<Item = String>, settings: &[(&'static str, String)]) -> String {
    let flags = settings.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
    let words: Vec<String> = typed.chain(flags).map(|word| quoted(&word)).collect();
    format!("mercer {}", words.join(" "))
}

/// A word, quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().all(|c| !"\"$`\\!".contains(c)) {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_what_a_shell_reads() {
        let typed = ["fit", "ridge", "my data.csv", "--target", "it's $y"].map(str::to_owned);
        let settings = [("kernel", "rbf(sigma=2)".to_owned()), ("lambda", "0.01".to_owned())];
        let text =
            r#"mercer fit ridge "my data.csv" --target 'it'\''s $y' --kernel "rbf(sigma=2)" --lambda 0.01"#;
        assert_eq!(command(typed.into_iter(), &settings), text);
    }
}
