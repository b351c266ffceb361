//! The formulas of a search: sums of products of base kernels, each term with its own factor.

use std::fmt::Write as _;

/// A base kernel, on all columns or on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Base {
    /// Its shape.
    pub shape: Shape,
    /// Its column; `None` for all of them.
    pub column: Option<usize>,
}

/// The shape of a base kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `rbf(sigma=?)`, on all columns `rbf(sigma=[?])`: smooth.
    Smooth,
    /// `rq(alpha=?, length=?)`: smooth on several scales.
    Scales,
    /// `matern(nu=1.5, length=?)`: rougher, with one derivative.
    Rough,
    /// `periodic(period=?, length=?)`: repeats.
    Cycle,
    /// `linear`.
    Line,
}

impl Base {
    /// The text, for data of `columns` columns.
    fn text(self, columns: usize) -> String {
        let (length, subset) = match self.column {
            Some(column) if columns > 1 => ("?", format!("[{column}]")),
            _ if columns > 1 => ("[?]", String::new()),
            _ => ("?", String::new()),
        };
        let kernel = match self.shape {
            Shape::Smooth => format!("rbf(sigma={length})"),
            Shape::Scales => format!("rq(alpha=?, length={length})"),
            Shape::Rough => format!("matern(nu=1.5, length={length})"),
            Shape::Cycle => "periodic(period=?, length=?)".to_owned(),
            Shape::Line => "linear".to_owned(),
        };
        kernel + &subset
    }

    /// Its unknowns, for data of `columns` columns.
    pub fn unknowns(self, columns: usize) -> usize {
        let lengths = if self.column.is_none() { columns } else { 1 };
        match self.shape {
            Shape::Smooth | Shape::Rough => lengths,
            Shape::Scales => 1 + lengths,
            Shape::Cycle => 2,
            Shape::Line => 0,
        }
    }
}

/// Σ factor·∏ base: at least one term of at least one base.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Formula {
    /// The terms, each a product.
    pub terms: Vec<Vec<Base>>,
}

/// A neighbouring formula, and for each of its unknowns the index of the same unknown before the step, if any.
pub(super) type Step = (Formula, Vec<Option<usize>>);

impl Formula {
    /// One term of one base.
    pub fn of(base: Base) -> Self {
        Self { terms: vec![vec![base]] }
    }

    /// The kernel text: each term is `?*base*base…`.
    #[must_use]
    pub fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        for (t, term) in self.terms.iter().enumerate() {
            text.push_str(if t == 0 { "?" } else { " + ?" });
            term.iter().for_each(|base| {
                let _ = write!(text, "*{}", base.text(columns));
            });
        }
        text
    }

    /// Its unknowns: a factor for each term and those of the bases.
    #[must_use]
    pub fn unknowns(&self, columns: usize) -> usize {
        self.terms.iter().map(|term| 1 + term.iter().map(|base| base.unknowns(columns)).sum::<usize>()).sum()
    }

    /// The place of the first unknown of each base of each term; the factor of a term is the one before its first base.
    fn places(&self, columns: usize) -> Vec<Vec<usize>> {
        let mut next = 0;
        let mut places = Vec::new();
        for term in &self.terms {
            next += 1;
            let mut of_term = Vec::new();
            for base in term {
                of_term.push(next);
                next += base.unknowns(columns);
            }
            places.push(of_term);
        }
        places
    }

    /// The places of the periods among the unknowns; that of the length of a cycle follows.
    pub(super) fn periods(&self, columns: usize) -> Vec<usize> {
        let bases = self.terms.iter().flatten().zip(self.places(columns).into_iter().flatten());
        bases.filter(|(base, _)| base.shape == Shape::Cycle).map(|(_, place)| place).collect()
    }

    /// The neighbouring formulas: one base added, one removed, or one replaced by another. Larger formulas come first.
    pub(super) fn steps(&self, bases: &[Base], columns: usize) -> Vec<Step> {
        let places = self.places(columns);
        let factor = |t: usize| places[t].first().map_or(0, |first| first - 1);
        // A term of bases, each with the place it had before.
        type Sketch = Vec<(usize, Vec<(Base, Option<usize>)>)>;
        let sketch: Sketch = self
            .terms
            .iter()
            .enumerate()
            .map(|(t, term)| {
                (t, term.iter().zip(&places[t]).map(|(base, place)| (*base, Some(*place))).collect())
            })
            .collect();
        let finish = |sketch: &Sketch| {
            let mut origins = Vec::new();
            let mut terms = Vec::new();
            for (t, term) in sketch {
                origins.push((*t < self.terms.len()).then(|| factor(*t)));
                for (base, place) in term {
                    origins.extend((0..base.unknowns(columns)).map(|k| place.map(|place| place + k)));
                }
                terms.push(term.iter().map(|(base, _)| *base).collect());
            }
            (Self { terms }, origins)
        };
        let mut steps = Vec::new();
        for &base in bases {
            let mut grown = sketch.clone();
            grown.push((self.terms.len(), vec![(base, None)]));
            steps.push(finish(&grown));
        }
        for t in 0..self.terms.len() {
            for &base in bases {
                // The product of two lines is a parabola, but two equal smooth kernels are one.
                if base.shape == Shape::Line || !self.terms[t].contains(&base) {
                    let mut grown = sketch.clone();
                    grown[t].1.push((base, None));
                    steps.push(finish(&grown));
                }
            }
        }
        for t in 0..self.terms.len() {
            if self.terms.len() > 1 {
                let mut smaller = sketch.clone();
                smaller.remove(t);
                steps.push(finish(&smaller));
            }
            for b in (0..self.terms[t].len()).filter(|_| self.terms[t].len() > 1) {
                let mut smaller = sketch.clone();
                smaller[t].1.remove(b);
                steps.push(finish(&smaller));
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn steps_keep_the_unknowns_of_what_stays() {
        let base = |shape| Base { shape, column: None };
        let start =
            Formula { terms: vec![vec![base(Shape::Smooth)], vec![base(Shape::Cycle), base(Shape::Scales)]] };
        assert_eq!(start.text(1), "?*rbf(sigma=?) + ?*periodic(period=?, length=?)*rq(alpha=?, length=?)");
        assert_eq!((start.unknowns(1), start.periods(1)), (7, vec![3]));
        for (formula, origins) in start.steps(&[base(Shape::Smooth), base(Shape::Line)], 1) {
            let kernel: Kernel = formula.text(1).parse().unwrap();
            assert_eq!(kernel.tunables().unwrap().len(), origins.len(), "{kernel}");
            assert_eq!(formula.unknowns(1), origins.len());
            let kept: Vec<usize> = origins.into_iter().flatten().collect();
            assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "{kernel}: {kept:?}");
        }
        let (dropped, origins) = start.steps(&[], 1).remove(0);
        assert_eq!(
            (dropped.text(1), origins),
            ("?*periodic(period=?, length=?)*rq(alpha=?, length=?)".to_owned(), (2..7).map(Some).collect())
        );
    }

    #[test]
    fn single_columns_and_all_columns() {
        let formula = Formula {
            terms: vec![vec![
                Base { shape: Shape::Smooth, column: None },
                Base { shape: Shape::Line, column: Some(2) },
            ]],
        };
        assert_eq!((formula.text(3), formula.unknowns(3)), ("?*rbf(sigma=[?])*linear[2]".to_owned(), 4));
    }
}
