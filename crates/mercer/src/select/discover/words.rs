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
    /// The mean distance of neighbouring values of each column in the model's data.
    pub gaps: Vec<f64>,
    /// What 0 in the model's data is in the columns: `its mean` if columns are standardised.
    pub zero: &'static str,
}

/// Units of time, which have a plural.
const TIMES: [&str; 8] = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"];

/// A term whose length is below this fraction of the mean distance of neighbouring values is noise.
const NOISE: f64 = 0.5;

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
            if parts.iter().any(|(base, own)| is_noise(*base, own, units)) {
                words.push("noise that differs from row to row".to_owned());
                continue;
            }
            let (lines, mut others): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|(base, _)| base.shape == Shape::Line);
            let lines: Vec<Base> = lines.into_iter().map(|(base, _)| base).collect();
            // The shape of a term comes first, then how it changes.
            others.sort_by_key(|(base, _)| base.shape != Shape::Cycle);
            let mut text = match others.first() {
                Some((base, own)) => subject(*base, own, units),
                None => polynomial(&lines, units),
            };
            others.iter().skip(1).for_each(|(base, own)| text.push_str(&modifier(*base, own, units)));
            if !others.is_empty() {
                text.push_str(&growth(&lines, units));
            }
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

/// A number to three digits, without zeros at its end.
fn number(value: f64) -> String {
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
    let (amount, name) = (number(value * units.sizes[column]), &units.names[column]);
    let text = match TIMES.contains(&name.as_str()) {
        true if amount == "1" => format!("{amount} {name}"),
        true => format!("{amount} {name}s"),
        false => format!("{amount} in {name}"),
    };
    Some((text, value > 0.25 * units.spans[column]))
}

/// Whether the values of a base at neighbouring rows have hardly anything in common.
fn is_noise(base: Base, own: &[f64], units: &Units) -> bool {
    let column = base.column.unwrap_or(0);
    let single = base.column.is_some() || units.names.len() == 1;
    let smooth = matches!(base.shape, Shape::Smooth | Shape::Rough);
    smooth && single && own.last().is_some_and(|length| *length < NOISE * units.gaps[column])
}

fn subject(base: Base, own: &[f64], units: &Units) -> String {
    let of = of(base, units);
    match base.shape {
        Shape::Line => polynomial(&[base], units),
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

/// A product of lines.
fn polynomial(lines: &[Base], units: &Units) -> String {
    let kind = match lines.len() {
        1 => "a straight line".to_owned(),
        2 => "a parabola".to_owned(),
        degree => format!("a polynomial of degree {degree}"),
    };
    let of = of(lines[0], units).replace(" of ", " in ");
    match lines.iter().all(|line| line.column == lines[0].column) {
        true => format!("{kind}{of}"),
        false => {
            let each: Vec<String> = lines.iter().map(|line| column_name(*line, units)).collect();
            format!("a product of straight lines in {}", each.join(", "))
        }
    }
}

/// What lines do to the other parts of a term: they multiply them.
fn growth(lines: &[Base], units: &Units) -> String {
    let mut text = String::new();
    let mut rest = lines.to_vec();
    while let Some(&line) = rest.first() {
        let (same, others): (Vec<Base>, Vec<Base>) =
            rest.into_iter().partition(|other| other.column == line.column);
        let power = match same.len() {
            1 => String::new(),
            2 => "the square of ".to_owned(),
            power => format!("the power {power} of "),
        };
        let (column, zero) = (column_name(line, units), units.zero);
        text.push_str(&format!(", in proportion to {power}the distance of {column} from {zero}"));
        rest = others;
    }
    text
}

fn modifier(base: Base, own: &[f64], units: &Units) -> String {
    let of = of(base, units);
    match base.shape {
        Shape::Line => growth(&[base], units),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(terms: &[&[Shape]], values: &[f64], name: &str) -> Vec<String> {
        let base = |&shape: &Shape| Base { shape, column: None };
        let formula = Formula { terms: terms.iter().map(|term| term.iter().map(base).collect()).collect() };
        let units = Units {
            names: vec![name.to_owned()],
            sizes: vec![10.0],
            spans: vec![3.0],
            gaps: vec![0.02],
            zero: "its mean",
        };
        formula.words(values, &units).unwrap()
    }

    #[test]
    fn terms_are_described_in_the_units_of_the_columns() {
        use Shape::{Cycle, Line, Rough, Smooth};
        let found = words(&[&[Cycle, Smooth], &[Smooth]], &[1.0, 0.1, 1.0, 2.38, 1.0, 0.25], "year");
        let expected = "a cycle that repeats every 1 year, whose shape drifts over 23.8 years";
        assert_eq!(found, [expected, "a smooth variation over about 2.5 years"]);
        assert_eq!(words(&[&[Cycle]], &[1.0, 0.25, 1.0], "dose"), ["a cycle that repeats every 2.5 in dose"]);
        // Standardised columns are 0 at their mean.
        let expected = "a smooth variation over about 2 years, in proportion to the square of the distance of year from its mean";
        assert_eq!(words(&[&[Line, Smooth, Line]], &[1.0, 0.2], "year"), [expected]);
        assert_eq!(words(&[&[Line, Line], &[Line]], &[1.0, 1.0], "x"), ["a parabola", "a straight line"]);
        let noise = words(&[&[Smooth], &[Rough, Line]], &[1.0, 0.002, 1.0, 0.006], "year");
        assert_eq!(noise, ["noise that differs from row to row"; 2]);
    }
}
