//! A formula in words.

use crate::kernel::{Expr, Kernel, ResolveError};

use super::formula::{Base, Formula, Shape};

/// The columns, for the description in words.
#[derive(Debug, Clone)]
pub struct Units {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The unit of each column in the model's data: its standard deviation if columns are standardised.
    pub sizes: Vec<f64>,
    /// The range of each column in the model's data.
    pub spans: Vec<f64>,
}

impl Formula {
    /// Each term in words, with the values that its unknowns have learnt, in the order of the text.
    ///
    /// # Errors
    /// If there is another number of values.
    pub fn words(&self, values: &[f64], units: &Units) -> Result<Vec<String>, ResolveError> {
        let columns = units.names.len();
        let expected = self.unknowns(columns);
        if values.len() < expected {
            return Err(ResolveError::Count { expected, received: values.len() });
        }
        let mut rest = values;
        let mut words = Vec::new();
        for term in &self.terms {
            rest = &rest[1..];
            let mut parts: Vec<(Base, &[f64])> = Vec::new();
            for &base in term {
                let (own, after) = rest.split_at(base.unknowns(columns));
                parts.push((base, own));
                rest = after;
            }
            // The shape of a term comes first, then how it changes.
            parts.sort_by_key(|(base, _)| match base.shape {
                Shape::Cycle => 0,
                Shape::Line => 1,
                _ => 2,
            });
            let mut text = subject(parts[0].0, parts[0].1, units);
            parts[1..].iter().for_each(|(base, own)| text.push_str(&modifier(*base, own, units)));
            words.push(text);
        }
        Ok(words)
    }

    /// The kernels of the terms of a kernel that was learnt with this formula.
    #[must_use]
    pub fn components(&self, kernel: &Kernel) -> Vec<Kernel> {
        match (kernel.expr(), self.terms.len()) {
            (Expr::Sum(terms), count) if terms.len() == count => {
                terms.iter().cloned().map(Kernel::from_expr).collect()
            }
            _ => vec![kernel.clone()],
        }
    }
}

fn number(value: f64) -> String {
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$}")
}

/// ` of NAME`, where there are several columns.
fn of(base: Base, units: &Units) -> String {
    match base.column {
        Some(column) if units.names.len() > 1 => format!(" of {}", units.names[column]),
        None if units.names.len() > 1 => " of all columns".to_owned(),
        _ => String::new(),
    }
}

/// A length in the unit of the column, and whether it is long compared with the data.
fn length(base: Base, value: f64, units: &Units) -> Option<(String, bool)> {
    let column = match (base.column, units.names.len()) {
        (Some(column), _) => column,
        (None, 1) => 0,
        _ => return None,
    };
    let text = format!("{} {}", number(value * units.sizes[column]), units.names[column]);
    Some((text, value > 0.25 * units.spans[column]))
}

fn subject(base: Base, own: &[f64], units: &Units) -> String {
    let of = of(base, units);
    match base.shape {
        Shape::Line => format!(
            "a straight line{}",
            if of.is_empty() { String::new() } else { of.replace(" of ", " in ") }
        ),
        Shape::Cycle => {
            let period = length(base, own[0], units)
                .map_or(String::new(), |(text, _)| format!(" that repeats every {text}"));
            format!("a cycle{of}{period}")
        }
        Shape::Smooth | Shape::Scales | Shape::Rough => {
            let last = own.last().copied().unwrap_or(1.0);
            let kind = match base.shape {
                Shape::Rough => "rough",
                Shape::Scales => "multi-scale",
                _ => "smooth",
            };
            match length(base, last, units) {
                Some((text, true)) => format!("a slow {kind} trend{of} (over about {text})"),
                Some((text, false)) => format!("a {kind} variation{of} over about {text}"),
                None => format!("a {kind} function{of}"),
            }
        }
    }
}

fn modifier(base: Base, own: &[f64], units: &Units) -> String {
    let of = of(base, units);
    match base.shape {
        Shape::Line => format!(", growing in proportion to {}", column_name(base, units)),
        Shape::Cycle => {
            let period =
                length(base, own[0], units).map_or(String::new(), |(text, _)| format!(" every {text}"));
            format!(", repeating{of}{period}")
        }
        Shape::Smooth | Shape::Scales | Shape::Rough => {
            let last = own.last().copied().unwrap_or(1.0);
            match length(base, last, units) {
                Some((text, _)) => format!(", whose shape drifts over {text}"),
                None => ", that varies with all columns".to_owned(),
            }
        }
    }
}

fn column_name(base: Base, units: &Units) -> String {
    match (base.column, units.names.len()) {
        (Some(column), _) => units.names[column].clone(),
        (None, 1) => units.names[0].clone(),
        _ => "the columns".to_owned(),
    }
}
