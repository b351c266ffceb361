//! Monomials x^α of every degree |α| up to p, each by one product with one of lower degree.
//!
//! The monomials of one degree are in lexicographic order, x₀ first. Those of degree k whose first variable is xⱼ are
//! then xⱼ times a run of those of degree k−1: the ones in xⱼ, xⱼ₊₁, … alone, which end that list. So a degree is d runs
//! of a product with one number, and a feature costs one or two multiplications whatever its degree.

use std::ops::Range;

use num_bigint::BigUint;
use num_traits::One;

/// The weight w of a monomial x^α of degree k, and the sum Σ w²·x^α·z^α over all monomials of that degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// 1: plain monomials, no power of ⟨x,z⟩.
    One,
    /// √(k!/α!), for ⟨x,z⟩ᵏ: the multinomial theorem.
    Multinomial,
    /// √(1/α!), for ⟨x,z⟩ᵏ/k!.
    InverseFactorial,
}

impl Weight {
    /// The weight of α over that of α − eⱼ, for |α| = `degree` and αⱼ = `exponent`.
    fn ratio(self, degree: usize, exponent: u32) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Multinomial => (degree as f64 / f64::from(exponent)).sqrt(),
            Self::InverseFactorial => (1.0 / f64::from(exponent)).sqrt(),
        }
    }
}

/// The number of monomials of degree 0, 1, 2, … in this many variables: the binomials of d + k − 1 over k.
pub(super) fn counts_by_degree(variables: usize) -> impl Iterator<Item = BigUint> {
    let mut count = BigUint::one();
    (1usize..).map(move |k| {
        let next = &count * (variables + k - 1) / k;
        std::mem::replace(&mut count, next)
    })
}

/// One degree: the sources of its runs and their factors.
#[derive(Debug, Clone, PartialEq)]
struct Degree {
    /// Where the run of each first variable starts; one more entry than there are variables.
    starts: Vec<usize>,
    /// Weight of each monomial over its parent's; `None` if all are 1.
    ratios: Option<Vec<f64>>,
    /// The factor √aₖ of the output. `None` for a degree that is left out.
    factor: Option<f64>,
}

impl Degree {
    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// The monomials of the degrees chosen, over a fixed number of variables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Monomials {
    variables: usize,
    /// Degree k at place k − 1.
    degrees: Vec<Degree>,
    /// √a₀; `None` if there is no constant.
    constant: Option<f64>,
    count: usize,
}

impl Monomials {
    /// The monomials of every degree k with `squares[k]` > 0, each times √`squares[k]` and its weight.
    ///
    /// The caller has made sure that their number is no larger than memory.
    pub fn new(variables: usize, weight: Weight, squares: &[f64]) -> Self {
        let factor = |square: f64| (square > 0.0).then(|| square.sqrt());
        let constant = squares.first().copied().and_then(factor);
        let mut degrees: Vec<Degree> = Vec::with_capacity(squares.len().saturating_sub(1));
        // The exponent of each monomial's first variable.
        let mut exponents: Vec<u32> = vec![0];
        for (degree, &square) in squares.iter().enumerate().skip(1) {
            let mut starts = vec![0];
            let mut next = Vec::new();
            for j in 0..variables {
                let parents = degrees.last().map_or(0..1, |below| below.starts[j]..below.len());
                // Parents that start with xⱼ itself come first in the run.
                let same = degrees.last().map_or(0, |below| below.starts[j + 1] - below.starts[j]);
                next.extend(exponents[parents.start..][..same].iter().map(|e| e + 1));
                next.resize(next.len() + parents.len() - same, 1);
                starts.push(next.len());
            }
            exponents = next;
            let ratios =
                (weight != Weight::One).then(|| exponents.iter().map(|&e| weight.ratio(degree, e)).collect());
            degrees.push(Degree { starts, ratios, factor: factor(square) });
        }
        let chosen = degrees.iter().filter(|d| d.factor.is_some()).map(Degree::len).sum::<usize>();
        Self { variables, degrees, constant, count: chosen + usize::from(constant.is_some()) }
    }

    /// The number of features.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the first feature is a constant.
    pub fn has_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The features at one point `x`, all of them times `scale`, into `out` of length [`count`](Self::count).
    pub fn fill(&self, x: &[f64], scale: f64, scratch: &mut Scratch, mut out: &mut [f64]) {
        let Scratch { below, current } = scratch;
        below.clear();
        below.push(scale);
        if let Some(factor) = self.constant {
            out[0] = factor * scale;
            out = &mut out[1..];
        }
        for (k, degree) in self.degrees.iter().enumerate() {
            current.resize(degree.len(), 0.0);
            for (j, &xj) in x.iter().enumerate() {
                let run = degree.starts[j]..degree.starts[j + 1];
                let parents = &below[self.parents(k, j)];
                let products = current[run.clone()].iter_mut().zip(parents);
                match &degree.ratios {
                    None => products.for_each(|(product, parent)| *product = parent * xj),
                    Some(ratios) => products
                        .zip(&ratios[run])
                        .for_each(|((product, parent), ratio)| *product = parent * (xj * ratio)),
                }
            }
            if let Some(factor) = degree.factor {
                let (chosen, rest) = out.split_at_mut(degree.len());
                chosen.iter_mut().zip(&*current).for_each(|(o, c)| *o = factor * c);
                out = rest;
            }
            std::mem::swap(below, current);
        }
    }

    /// The monomials that xⱼ multiplies to those of the degree at place `k`.
    fn parents(&self, k: usize, j: usize) -> Range<usize> {
        match k.checked_sub(1) {
            None => 0..1,
            Some(below) => self.degrees[below].starts[j]..self.degrees[below].len(),
        }
    }

    /// The variables that feature `index` is the product of, ascending and with repetition.
    pub fn factors(&self, mut index: usize) -> Vec<usize> {
        if self.constant.is_some() {
            if index == 0 {
                return Vec::new();
            }
            index -= 1;
        }
        let mut place = 0;
        while self.degrees[place].factor.is_none() || index >= self.degrees[place].len() {
            if self.degrees[place].factor.is_some() {
                index -= self.degrees[place].len();
            }
            place += 1;
        }
        let mut factors = Vec::with_capacity(place + 1);
        for k in (0..=place).rev() {
            let starts = &self.degrees[k].starts;
            let j = starts[1..=self.variables].partition_point(|&start| start <= index);
            factors.push(j);
            index = self.parents(k, j).start + (index - starts[j]);
        }
        factors
    }
}

/// Room for two degrees of monomials.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    below: Vec<f64>,
    current: Vec<f64>,
}

/// A product of variables in the usual notation: `a^2*b`.
pub(super) fn product_name(factors: &[usize], names: &[String]) -> String {
    if factors.is_empty() {
        return "1".into();
    }
    let powers = factors.chunk_by(|a, b| a == b).map(|power| match power {
        [only] => names[*only].clone(),
        [first, ..] => format!("{}^{}", names[*first], power.len()),
        [] => String::new(),
    });
    powers.collect::<Vec<_>>().join("*")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factorial(n: usize) -> f64 {
        (1..=n).map(|i| i as f64).product()
    }

    /// Every feature against the definition: √(aₖ·k!/α!)·x^α with α from `factors`, all of them different.
    #[test]
    fn each_feature_is_its_monomial_times_its_weight() {
        let squares = [0.5, 0.0, 2.0, 0.0, 3.0];
        let x = [0.7, -1.3, 2.0];
        for weight in [Weight::One, Weight::Multinomial, Weight::InverseFactorial] {
            let monomials = Monomials::new(3, weight, &squares);
            let mut out = vec![f64::NAN; monomials.count()];
            monomials.fill(&x, 1.0, &mut Scratch::default(), &mut out);
            let mut seen = std::collections::BTreeSet::new();
            for (index, &value) in out.iter().enumerate() {
                let factors = monomials.factors(index);
                let k = factors.len();
                let alpha: Vec<usize> = (0..3).map(|j| factors.iter().filter(|&&f| f == j).count()).collect();
                let power: f64 = factors.iter().map(|&j| x[j]).product();
                let alpha_factorial: f64 = alpha.iter().map(|&a| factorial(a)).product();
                let square = squares[k]
                    * match weight {
                        Weight::One => 1.0,
                        Weight::Multinomial => factorial(k) / alpha_factorial,
                        Weight::InverseFactorial => 1.0 / alpha_factorial,
                    };
                let expected = square.sqrt() * power;
                assert!((value - expected).abs() <= 1e-14 * expected.abs(), "{factors:?}: {value}");
                assert!(seen.insert(factors));
            }
            assert_eq!(seen.len(), 1 + 6 + 15);
        }
    }

    #[test]
    fn counts_are_binomials() {
        let count = |variables: usize, degree: usize| counts_by_degree(variables).nth(degree).unwrap();
        let total = counts_by_degree(100).take(6).sum::<BigUint>();
        assert_eq!(total, BigUint::from(96_560_646u64));
        assert_eq!(count(0, 3), BigUint::ZERO);
        assert_eq!(count(0, 0), BigUint::one());
        assert_eq!(count(1, 900), BigUint::one());
        assert_eq!(count(3, 2), BigUint::from(6u8));
    }

    #[test]
    fn the_order_is_by_degree_then_lexicographic() {
        let monomials = Monomials::new(2, Weight::One, &[1.0; 4]);
        let names = ["x0".to_owned(), "x1".to_owned()];
        let found: Vec<String> =
            (0..monomials.count()).map(|i| product_name(&monomials.factors(i), &names)).collect();
        assert_eq!(found, ["1", "x0", "x1", "x0^2", "x0*x1", "x1^2", "x0^3", "x0^2*x1", "x0*x1^2", "x1^3"]);
    }
}
