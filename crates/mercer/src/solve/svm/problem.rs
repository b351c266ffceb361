//! The quadratic program behind every support vector machine.

use crate::solve::error::SolveError;

/// A quadratic program with a box and one or two equality constraints, whose matrix is a kernel matrix:
///
/// ```text
/// minimise    ½ βᵀKβ + Σᵥ (qᵥβᵥ + ε|βᵥ|)
/// subject to  lowerᵥ ≤ βᵥ ≤ upperᵥ,   Σ βᵥ over each group as at the start
/// ```
///
/// β = yα are the signed dual variables, so labels appear in the bounds and in q alone: classification has q = −y, no ε and
/// β between 0 and yC; ε-regression has q = −z for targets z and β between −C and C, with one variable where LIBSVM has two.
/// Each variable belongs to a row of K, and several may share one. Variables of the first group come before those of the second.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxQp {
    pub(super) rows: Vec<usize>,
    pub(super) linear: Vec<f64>,
    pub(super) kink: f64,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) start: Vec<f64>,
    /// Variables of the first group; all of them if there is only one group.
    pub(super) first: usize,
}

impl BoxQp {
    /// The dual of C-classification: minimise ½αᵀQα − Σα, 0 ≤ αᵢ ≤ Cᵢ, yᵀα = 0.
    ///
    /// Sample i is row `rows[i]` of the kernel matrix, has the label +1 where `positive[i]` and the bound `c[i]` ≥ 0. There is
    /// one variable per sample, in their order.
    ///
    /// # Errors
    /// If lengths differ or a bound is negative or not finite.
    pub fn classify(rows: &[usize], positive: &[bool], c: &[f64]) -> Result<Self, SolveError> {
        lengths(rows.len(), &[("labels", positive.len()), ("bounds", c.len())])?;
        bounds(c)?;
        let signed = |sign: bool| move |(&p, &c): (&bool, &f64)| if p == sign { c } else { 0.0 };
        Ok(Self {
            rows: rows.to_vec(),
            linear: positive.iter().map(|&p| if p { -1.0 } else { 1.0 }).collect(),
            kink: 0.0,
            lower: positive.iter().zip(c).map(signed(false)).map(|c| -c).collect(),
            upper: positive.iter().zip(c).map(signed(true)).collect(),
            start: vec![0.0; rows.len()],
            first: rows.len(),
        })
    }

    /// The dual of ε-regression: minimise ½βᵀKβ − zᵀβ + ε Σ|β|, |βᵢ| ≤ Cᵢ, Σβ = 0, for targets z.
    ///
    /// # Errors
    /// If lengths differ, a bound or ε is negative, or a number is not finite.
    pub fn regress(rows: &[usize], targets: &[f64], epsilon: f64, c: &[f64]) -> Result<Self, SolveError> {
        lengths(rows.len(), &[("targets", targets.len()), ("bounds", c.len())])?;
        bounds(c)?;
        finite("target", targets)?;
        if !(epsilon >= 0.0 && epsilon.is_finite()) {
            return Err(SolveError::Parameter {
                name: "epsilon",
                value: epsilon,
                allowed: "a number from 0 on",
            });
        }
        Ok(Self {
            rows: rows.to_vec(),
            linear: targets.iter().map(|z| -z).collect(),
            kink: epsilon,
            lower: c.iter().map(|c| -c).collect(),
            upper: c.to_vec(),
            start: vec![0.0; rows.len()],
            first: rows.len(),
        })
    }

    /// The dual of one-class estimation: minimise ½αᵀKα, 0 ≤ αᵢ ≤ wᵢ, Σα = νΣw (Schölkopf et al. 2001, in LIBSVM's scale).
    ///
    /// # Errors
    /// If lengths differ, a weight is negative or not finite, or ν is not above 0 and at most 1.
    pub fn one_class(rows: &[usize], nu: f64, weights: &[f64]) -> Result<Self, SolveError> {
        lengths(rows.len(), &[("weights", weights.len())])?;
        bounds(weights)?;
        check_nu(nu)?;
        let total = nu * weights.iter().sum::<f64>();
        Ok(Self {
            rows: rows.to_vec(),
            linear: vec![0.0; rows.len()],
            kink: 0.0,
            lower: vec![0.0; rows.len()],
            upper: weights.to_vec(),
            start: filled(total, weights),
            first: rows.len(),
        })
    }

    /// The dual of ν-classification in LIBSVM's scale: minimise ½αᵀQα, 0 ≤ αᵢ ≤ wᵢ, Σα = νΣw/2 within each class.
    ///
    /// The positive samples' variables come first, then the negative ones', each in the order of the samples.
    ///
    /// # Errors
    /// If lengths differ, a weight is negative or not finite, or ν is not above 0 and at most what the smaller class
    /// allows.
    pub fn nu_classify(
        rows: &[usize],
        positive: &[bool],
        nu: f64,
        weights: &[f64],
    ) -> Result<Self, SolveError> {
        lengths(rows.len(), &[("labels", positive.len()), ("weights", weights.len())])?;
        bounds(weights)?;
        check_nu(nu)?;
        let order = || {
            let of = |sign: bool| (0..rows.len()).filter(move |&i| positive[i] == sign);
            of(true).chain(of(false))
        };
        let first = positive.iter().filter(|&&p| p).count();
        let upper: Vec<f64> = order().map(|i| weights[i]).collect();
        let (plus, minus) = upper.split_at(first);
        let (p, m) = (plus.iter().sum::<f64>(), minus.iter().sum::<f64>());
        let largest = 2.0 * p.min(m) / (p + m);
        // Rounding of the sums must not reject the largest feasible ν.
        if largest.is_nan() || nu > largest * (1.0 + 1e-12) {
            return Err(SolveError::InfeasibleNu { nu, largest });
        }
        let half = nu * (p + m) / 2.0;
        let mut start = filled(half, plus);
        start.extend(filled(half, minus).iter().map(|a| -a));
        let signed = |keep_positive: bool| {
            let bound = move |(v, &w): (usize, &f64)| match (v < first, keep_positive) {
                (true, true) => w,
                (false, false) => -w,
                _ => 0.0,
            };
            upper.iter().enumerate().map(bound).collect::<Vec<f64>>()
        };
        Ok(Self {
            rows: order().map(|i| rows[i]).collect(),
            linear: vec![0.0; rows.len()],
            kink: 0.0,
            lower: signed(false),
            upper: signed(true),
            start,
            first,
        })
    }

    /// The dual of ν-regression in LIBSVM's scale: minimise ½(α−α*)ᵀK(α−α*) − zᵀ(α−α*), 0 ≤ αᵢ, αᵢ* ≤ Cᵢ,
    /// Σα = Σα* = νΣC/2.
    ///
    /// There are two variables per sample: first the αᵢ in the order of the samples, then the −αᵢ*.
    ///
    /// # Errors
    /// If lengths differ, a number is not finite, a bound is negative, or ν is not above 0 and at most 1.
    pub fn nu_regress(rows: &[usize], targets: &[f64], nu: f64, c: &[f64]) -> Result<Self, SolveError> {
        lengths(rows.len(), &[("targets", targets.len()), ("bounds", c.len())])?;
        bounds(c)?;
        finite("target", targets)?;
        check_nu(nu)?;
        let half = filled(nu * c.iter().sum::<f64>() / 2.0, c);
        let zeros = || vec![0.0; rows.len()];
        let negative = |v: &[f64]| v.iter().map(|v| -v).collect::<Vec<f64>>();
        Ok(Self {
            rows: [rows, rows].concat(),
            linear: negative(&[targets, targets].concat()),
            kink: 0.0,
            lower: [zeros(), negative(c)].concat(),
            upper: [c.to_vec(), zeros()].concat(),
            start: [half.clone(), negative(&half)].concat(),
            first: rows.len(),
        })
    }

    /// The same problem, started from `start` in place of its own start. The equality constraints keep the sums of the new start.
    ///
    /// # Errors
    /// If the length differs or an entry is outside of its bounds.
    pub fn starting_from(mut self, start: &[f64]) -> Result<Self, SolveError> {
        lengths(self.rows.len(), &[("starting values", start.len())])?;
        for (v, &value) in start.iter().enumerate() {
            if !(self.lower[v] <= value && value <= self.upper[v]) {
                return Err(SolveError::Start {
                    variable: v,
                    value,
                    lower: self.lower[v],
                    upper: self.upper[v],
                });
            }
        }
        self.start = start.to_vec();
        Ok(self)
    }

    /// The same problem with its bounds and its start multiplied by `factor`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let times = |numbers: &[f64]| numbers.iter().map(|n| n * factor).collect::<Vec<f64>>();
        Self {
            lower: times(&self.lower),
            upper: times(&self.upper),
            start: times(&self.start),
            ..self.clone()
        }
    }

    /// The s for which sβ minimises the objective after the bounds grow by a factor `ratio`, for the solution β of this
    /// problem and f = Kβ: the objective along that ray is a parabola.
    pub(super) fn best_factor(&self, beta: &[f64], f: &[f64], ratio: f64) -> f64 {
        if self.start.iter().any(|b| *b != 0.0) {
            // The sums of the groups grow with the bounds.
            return ratio;
        }
        let linear: f64 = (0..beta.len()).map(|v| self.linear[v] * beta[v] + self.kink * beta[v].abs()).sum();
        let square: f64 = beta.iter().zip(f).map(|(b, f)| b * f).sum();
        if square > 0.0 { (-linear / square).clamp(0.0, ratio) } else { ratio.min(1.0) }
    }

    /// Number of variables.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no variables.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of the kernel matrix that each variable belongs to.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The slopes of the objective's separable part at β for increasing and decreasing β, infinite at a bound.
    pub(super) fn slopes(&self, v: usize, beta: f64) -> (f64, f64) {
        let (q, e) = (self.linear[v], self.kink);
        let up = if beta >= self.upper[v] {
            f64::INFINITY
        } else if beta >= 0.0 {
            q + e
        } else {
            q - e
        };
        let low = if beta <= self.lower[v] {
            f64::NEG_INFINITY
        } else if beta > 0.0 {
            q + e
        } else {
            q - e
        };
        (up, low)
    }

    /// The largest β on the same linear piece.
    pub(super) fn ceiling(&self, v: usize, beta: f64) -> f64 {
        if self.kink > 0.0 && beta < 0.0 { self.upper[v].min(0.0) } else { self.upper[v] }
    }

    /// The smallest β on the same linear piece.
    pub(super) fn ground(&self, v: usize, beta: f64) -> f64 {
        if self.kink > 0.0 && beta > 0.0 { self.lower[v].max(0.0) } else { self.lower[v] }
    }

    /// Whether β is strictly inside of its box and of a linear piece.
    pub(super) fn is_free(&self, v: usize, beta: f64) -> bool {
        beta > self.lower[v] && beta < self.upper[v] && (self.kink == 0.0 || beta != 0.0)
    }

    /// The groups of variables that share an equality constraint.
    pub(super) fn groups(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let n = self.rows.len();
        [0..self.first, self.first..n].into_iter().filter(|g| !g.is_empty())
    }
}

/// Distributes `total` over the bounds, filling each from the first on.
fn filled(total: f64, bounds: &[f64]) -> Vec<f64> {
    let mut left = total;
    bounds
        .iter()
        .map(|&bound| {
            let value = left.min(bound).max(0.0);
            left -= value;
            value
        })
        .collect()
}

fn lengths(rows: usize, others: &[(&'static str, usize)]) -> Result<(), SolveError> {
    if rows == 0 {
        return Err(SolveError::Empty);
    }
    match others.iter().find(|(_, found)| *found != rows) {
        Some(&(what, found)) => Err(SolveError::Shape { what, found, expected: rows }),
        None => Ok(()),
    }
}

fn bounds(c: &[f64]) -> Result<(), SolveError> {
    match c.iter().position(|c| !(*c >= 0.0 && c.is_finite())) {
        Some(row) => {
            Err(SolveError::Value { what: "bound", row, value: c[row], allowed: "a finite number from 0 on" })
        }
        None => Ok(()),
    }
}

fn finite(what: &'static str, values: &[f64]) -> Result<(), SolveError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(row) => Err(SolveError::Value { what, row, value: values[row], allowed: "a finite number" }),
        None => Ok(()),
    }
}

fn check_nu(nu: f64) -> Result<(), SolveError> {
    if nu > 0.0 && nu <= 1.0 {
        return Ok(());
    }
    Err(SolveError::Parameter { name: "nu", value: nu, allowed: "above 0 and at most 1" })
}
