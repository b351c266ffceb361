//! Plans as text.

use std::fmt;

use crate::memory::human;

use crate::learn::cost::{Algorithm, Task};

use super::Plan;

/// A count with thousands separators: `20,000`.
#[must_use]
pub fn people_count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time in a suitable unit: `38 ms`, `2.2 s`, `14 min`, `3.1 h`, `12 days`.
#[must_use]
pub fn people_seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7_200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3_600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DualDouble => f.write_str("dual, double-precision factor"),
            Self::DualMixed => f.write_str("dual, single-precision factor, refined"),
            Self::Primal { features } => write!(f, "primal, {} features", people_count(*features)),
            Self::ConjugateGradients => f.write_str("conjugate gradients"),
            Self::RandomFeatures { features } => {
                write!(f, "approximate, {} random features", people_count(*features))
            }
            Self::Landmarks { landmarks } => write!(f, "approximate, {} landmarks", people_count(*landmarks)),
            Self::Stored => f.write_str("kernel matrix stored"),
            Self::Tiled => f.write_str("kernel values tile by tile, never stored"),
            Self::Path => f.write_str("one reduction for all values of λ"),
            Self::Grid => f.write_str("a Cholesky factor for every λ"),
            Self::Search => f.write_str("distances tile by tile, the smallest kept"),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: &usize| people_count(*n as u64);
        match self {
            Self::Gram => f.write_str("kernel matrix"),
            Self::Ridge { lambda, .. } => write!(f, "fit ridge, λ = {lambda}"),
            Self::RidgeFeatures { features } => {
                write!(f, "fit ridge on {} features", people_count(*features))
            }
            Self::Lms { epochs, stochastic: false, .. } => write!(f, "fit lms, {} epochs", count(epochs)),
            Self::Lms { epochs, .. } => write!(f, "fit lms one sample at a time, {} epochs", count(epochs)),
            Self::TuneRidge { kernels, lambdas } => {
                write!(f, "tune ridge, {} kernels × {} values of λ", count(kernels), count(lambdas))
            }
            Self::Logistic => f.write_str("fit logistic"),
            Self::Perceptron { epochs } => write!(f, "fit perceptron, {} passes at most", count(epochs)),
            Self::GaussianProcess { evaluations } => {
                write!(f, "fit gp, {} evaluations of the likelihood", count(evaluations))
            }
            Self::SupportVectors => f.write_str("fit support vectors"),
            Self::Predict { queries } => write!(f, "predict {} rows", count(queries)),
            Self::Smoother { queries } => write!(f, "smoother, predicting {} rows", count(queries)),
            Self::Neighbours { queries, k } => {
                write!(f, "{k} nearest neighbours, predicting {} rows", count(queries))
            }
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize| people_count(n as u64);
        let (rows, columns) = (count(self.shape.rows), count(self.shape.columns));
        writeln!(f, "{}: n = {rows}, d = {columns}, {}", self.task, self.kernel)?;
        writeln!(f)?;
        let lines: Vec<[String; 4]> = std::iter::once(&self.chosen)
            .chain(&self.alternatives)
            .map(|c| {
                let note = match (c.possible, c.fits) {
                    (false, _) => "not exact enough",
                    (_, false) => "over the budget",
                    _ => "",
                };
                [c.algorithm.to_string(), people_seconds(c.seconds()), human(c.memory), note.to_owned()]
            })
            .collect();
        let width = |c: usize| lines.iter().map(|line| line[c].chars().count()).max().unwrap_or(0);
        let (name, time, memory) = (width(0), width(1).max(4), width(2).max(6));
        writeln!(f, "  {:<name$}  {:>time$}  {:>memory$}", "", "time", "memory")?;
        for (place, line) in lines.iter().enumerate() {
            let mark = if place == 0 { '>' } else { ' ' };
            let text =
                format!("{mark} {:<name$}  {:>time$}  {:>memory$}  {}", line[0], line[1], line[2], line[3]);
            writeln!(f, "{}", text.trim_end())?;
        }
        writeln!(f)?;
        let parts: Vec<String> = self
            .chosen
            .stages
            .iter()
            .map(|stage| format!("{} {}", stage.name, people_seconds(stage.seconds)))
            .collect();
        if parts.len() > 1 {
            writeln!(f, "of which {}", parts.join(", "))?;
        }
        for reason in &self.reasons {
            writeln!(f, "- {reason}")?;
        }
        write!(f, "measured on this machine in {}", people_seconds(self.calibration_seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(people_count(7), "7");
        assert_eq!(people_count(20_000), "20,000");
        assert_eq!(people_count(123_456_789), "123,456,789");
        assert_eq!(people_seconds(0.000_02), "20 µs");
        assert_eq!(people_seconds(0.038_4), "38 ms");
        assert_eq!(people_seconds(2.2), "2.2 s");
        assert_eq!(people_seconds(840.0), "14 min");
        assert_eq!(people_seconds(1e9), "11574 days");
    }
}
