//! A perceptron with a limit on its centres, for streams.
//!
//! The plain perceptron keeps every row on which it made a mistake. This one keeps at most B centres. A mistake adds
//! the row as a centre; if that exceeds B, one centre is removed: f is projected onto the span of the others, and the
//! centre removed is the one whose projection changes f least. With a the coefficients and G = K⁻¹ over the centres,
//! removing centre j
//!
//! ```text
//! costs   ‖f − Pf‖² = Σ_c a_jc²/G_jj        and makes   a_i ← a_i − a_j·G_ij/G_jj  for the others
//! ```
//!
//! The row just added is among the candidates: one that is nearly in the span of the centres is projected at once and
//! never stored. G is bordered when a centre is added and deflated when one is removed, O(B²) each.
//!
//! Projection instead of forgetting is the idea of the Projectron (Orabona, Keshet & Caputo, 2008); the choice of the
//! centre to remove is that of Crammer, Kandola & Singer (2003), made after the projection.

use crate::data::{AnySamples, Matrix, Samples};
use crate::kernel::Kernel;
use crate::learn::error::LearnError;
use crate::linalg::vectors::dot;
use crate::model::Expansion;

use super::train::Change;
use super::{Rule, outputs};

/// A row whose distance to the span of the centres is below this fraction of its norm is treated as in the span: this
/// bounds the condition number of K over the centres by about B·10⁸.
const SPANNED: f64 = 1e-8;

/// Updates of G between two recomputations, which limit the growth of rounding errors.
const REFRESH: usize = 200;

/// A perceptron of at most B centres that learns from one sample after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetedPerceptron {
    kernel: Kernel,
    rule: Rule,
    columns: usize,
    classes: usize,
    budget: usize,
    /// One row per centre.
    centres: Vec<Vec<f64>>,
    /// a: one row per centre, one entry per output.
    coefficients: Vec<Vec<f64>>,
    /// K over the centres.
    gram: Vec<Vec<f64>>,
    /// G.
    inverse: Vec<Vec<f64>>,
    /// Updates of G since it was recomputed.
    changed: usize,
    seen: u64,
    mistakes: u64,
}

impl BudgetedPerceptron {
    /// The zero function on samples of `columns` columns and `classes` classes, with at most `budget` centres.
    ///
    /// O(B(B + d)) memory.
    ///
    /// # Errors
    /// If the budget or the number of columns is 0, there are fewer than two classes, or the kernel does not fit the
    /// columns.
    pub fn new(
        kernel: Kernel,
        columns: usize,
        classes: usize,
        rule: Rule,
        budget: usize,
    ) -> Result<Self, LearnError> {
        if columns == 0 {
            return Err(LearnError::Empty { rows: 0, columns });
        }
        if classes < 2 {
            return Err(LearnError::Classes { found: classes });
        }
        if budget == 0 {
            return Err(LearnError::parameter("budget", budget, "1 centre or more"));
        }
        kernel.check_columns(columns)?;
        Ok(Self {
            kernel,
            rule,
            columns,
            classes,
            budget,
            centres: Vec::new(),
            coefficients: Vec::new(),
            gram: Vec::new(),
            inverse: Vec::new(),
            changed: 0,
            seen: 0,
            mistakes: 0,
        })
    }

    /// Resumes from the result of [`expansion`](Self::expansion): these centres and coefficients, one row each.
    ///
    /// O(B²(B + d)).
    ///
    /// # Errors
    /// As [`new`](Self::new), and if the centres do not fit the coefficients or the budget.
    pub fn resume(
        kernel: Kernel,
        centres: &AnySamples<'_>,
        coefficients: &Matrix<f64>,
        classes: usize,
        rule: Rule,
        budget: usize,
    ) -> Result<Self, LearnError> {
        let (rows, columns) = (centres.nrows(), centres.ncols());
        let mut machine = Self::new(kernel, columns, classes, rule, budget)?;
        if (coefficients.nrows(), coefficients.ncols()) != (rows, outputs(classes)) {
            return Err(LearnError::Length {
                what: "rows of coefficients",
                rows,
                found: coefficients.nrows(),
            });
        }
        if rows > budget {
            return Err(LearnError::parameter("budget", budget, "at least the number of centres"));
        }
        for row in 0..rows {
            let mut centre = vec![0.0; columns];
            centres.copy_row(row, &mut centre);
            machine.centres.push(centre);
            machine.coefficients.push(coefficients.row(row).to_vec());
        }
        for centre in &machine.centres {
            let row = machine.values(centre)?;
            machine.gram.push(row);
        }
        machine.refresh();
        Ok(machine)
    }

    /// Learns from one sample; returns whether its prediction was a mistake.
    ///
    /// O(Bd), and O(B²) more for a mistake.
    ///
    /// # Errors
    /// If the sample does not have the columns or its code is not one of the classes, or if the kernel has no finite
    /// value there. The state before the call is kept.
    pub fn update(&mut self, x: &[f64], code: usize) -> Result<bool, LearnError> {
        if code >= self.classes {
            return Err(LearnError::Code { row: self.seen as usize, code, classes: self.classes });
        }
        let values = self.values(x)?;
        let own = self.value(x, x, self.centres.len())?;
        self.seen += 1;
        let mut changes = Vec::new();
        self.rule.corrections(&self.combine(&values), code, &mut changes);
        if changes.is_empty() {
            return Ok(false);
        }
        self.mistakes += 1;
        self.correct(x, &values, own, &changes);
        Ok(true)
    }

    /// The decision values at a point: one for two classes, positive for class 1, else one per class.
    ///
    /// # Errors
    /// If the point does not have the columns, or if the kernel has no finite value there.
    pub fn decide(&self, x: &[f64]) -> Result<Vec<f64>, LearnError> {
        Ok(self.combine(&self.values(x)?))
    }

    /// Samples seen.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The number of mistakes.
    #[must_use]
    pub fn mistakes(&self) -> u64 {
        self.mistakes
    }

    /// Centres kept now.
    #[must_use]
    pub fn ncentres(&self) -> usize {
        self.centres.len()
    }

    /// The learnt function, as a model.
    ///
    /// # Errors
    /// [`LearnError::Empty`] if it has not seen a sample yet.
    pub fn expansion(&self) -> Result<Expansion, LearnError> {
        let (rows, columns) = (self.centres.len(), self.columns);
        let centres = Samples::dense(rows, columns, self.centres.concat());
        match centres {
            Ok(centres) if rows > 0 => Ok(Expansion {
                kernel: self.kernel.clone(),
                domain: None,
                centres: AnySamples::F64(centres),
                shift: None,
                coefficients: Matrix::from_entries(rows, outputs(self.classes), self.coefficients.concat()),
                intercepts: vec![0.0; outputs(self.classes)],
            }),
            _ => Err(LearnError::Empty { rows, columns }),
        }
    }

    /// k(x, z), an error if it is not finite; `column` is the index of the centre z.
    fn value(&self, x: &[f64], z: &[f64], column: usize) -> Result<f64, LearnError> {
        let value = self.kernel.eval(x, z)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(LearnError::KernelValue { row: self.seen as usize, column })
        }
    }

    fn values(&self, x: &[f64]) -> Result<Vec<f64>, LearnError> {
        if x.len() != self.columns {
            return Err(LearnError::Length {
                what: "entries in the sample",
                rows: self.columns,
                found: x.len(),
            });
        }
        self.centres.iter().enumerate().map(|(j, centre)| self.value(x, centre, j)).collect()
    }

    /// Σⱼ aⱼ·valuesⱼ.
    fn combine(&self, values: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; outputs(self.classes)];
        for (a, k) in self.coefficients.iter().zip(values) {
            f.iter_mut().zip(a).for_each(|(f, a)| *f += a * k);
        }
        f
    }

    fn correct(&mut self, x: &[f64], values: &[f64], own: f64, changes: &[Change]) {
        let mut bump = vec![0.0; outputs(self.classes)];
        changes.iter().for_each(|change| bump[change.output as usize] += change.amount);
        let projection: Vec<f64> = self.inverse.iter().map(|row| dot(row, values)).collect();
        let beyond = own - dot(&projection, values);
        if beyond <= SPANNED * own {
            for (a, share) in self.coefficients.iter_mut().zip(&projection) {
                a.iter_mut().zip(&bump).for_each(|(a, b)| *a += share * b);
            }
            return;
        }
        self.border(values, own, &projection, beyond);
        self.centres.push(x.to_vec());
        self.coefficients.push(bump);
        if self.centres.len() > self.budget {
            self.leave_out(self.cheapest());
        }
        self.changed += 1;
        if self.changed >= REFRESH {
            self.refresh();
        }
    }

    /// Adds one row to K and G: with d = G·values and s = own − dᵀvalues, G gains ddᵀ/s, −d/s and 1/s.
    fn border(&mut self, values: &[f64], own: f64, projection: &[f64], beyond: f64) {
        for (row, d) in self.inverse.iter_mut().zip(projection) {
            row.iter_mut().zip(projection).for_each(|(g, e)| *g += d * e / beyond);
            row.push(-d / beyond);
        }
        self.inverse.push(projection.iter().map(|d| -d / beyond).chain([1.0 / beyond]).collect());
        self.gram.iter_mut().zip(values).for_each(|(row, k)| row.push(*k));
        self.gram.push(values.iter().copied().chain([own]).collect());
    }

    /// The centre whose removal changes f least; the first of equals.
    fn cheapest(&self) -> usize {
        let cost = |j: usize| self.coefficients[j].iter().map(|a| a * a).sum::<f64>() / self.inverse[j][j];
        (1..self.centres.len()).fold(0, |best, j| if cost(j) < cost(best) { j } else { best })
    }

    /// Projects f onto the span of the centres except `j`, and removes that one.
    fn leave_out(&mut self, j: usize) {
        let gone = self.coefficients.remove(j);
        let mut deflation = self.inverse.remove(j);
        let pivot = deflation.remove(j);
        for ((row, a), g) in self.inverse.iter_mut().zip(&mut self.coefficients).zip(&deflation) {
            row.remove(j);
            row.iter_mut().zip(&deflation).for_each(|(entry, h)| *entry -= g * h / pivot);
            a.iter_mut().zip(&gone).for_each(|(a, b)| *a -= b * g / pivot);
        }
        self.centres.remove(j);
        self.gram.remove(j);
        self.gram.iter_mut().for_each(|row| {
            row.remove(j);
        });
    }

    /// G from K, by bordering from the first centre on.
    fn refresh(&mut self) {
        self.changed = 0;
        let gram = std::mem::take(&mut self.gram);
        self.inverse.clear();
        for (j, row) in gram.iter().enumerate() {
            let projection: Vec<f64> = self.inverse.iter().map(|g| dot(g, &row[..j])).collect();
            // A lower bound keeps G finite for a centre that rounding errors admitted although the others span it.
            let beyond = (row[j] - dot(&projection, &row[..j])).max(SPANNED * row[j]);
            self.border(&row[..j], row[j], &projection, beyond);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(budget: usize) -> BudgetedPerceptron {
        let mut stream =
            BudgetedPerceptron::new("rbf(sigma=0.8)".parse().unwrap(), 2, 3, Rule::Direct, budget).unwrap();
        for k in 0..300 {
            let t = f64::from(k) * 0.7;
            stream.update(&[t.sin(), (1.3 * t).cos()], (k % 7) as usize % 3).unwrap();
        }
        stream
    }

    #[test]
    fn removed_rows_are_projected_and_the_cheapest_is_removed() {
        let full = stream(12);
        let costs: Vec<f64> = (0..full.ncentres())
            .map(|j| {
                let mut less = full.clone();
                let left: Vec<Vec<f64>> = full
                    .centres
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| *i != j)
                    .map(|(_, c)| c.clone())
                    .collect();
                less.leave_out(j);
                // The projection agrees with f at every centre that is left.
                for centre in &left {
                    for (f, g) in full.decide(centre).unwrap().iter().zip(less.decide(centre).unwrap()) {
                        assert!((f - g).abs() < 1e-6 * (1.0 + f.abs()), "{f} {g}");
                    }
                }
                // ‖f − Pf‖² = ‖f‖² − ‖Pf‖².
                squared_norm(&full) - squared_norm(&less)
            })
            .collect();
        let cheapest = full.cheapest();
        assert!(costs.iter().all(|cost| costs[cheapest] <= cost + 1e-6), "{costs:?}");
    }

    fn squared_norm(f: &BudgetedPerceptron) -> f64 {
        let pairs = f.centres.iter().zip(&f.coefficients);
        pairs.map(|(centre, a)| dot(a, &f.decide(centre).unwrap())).sum()
    }

    #[test]
    fn the_inverse_stays_one() {
        let stream = stream(12);
        assert_eq!(stream.ncentres(), 12);
        for (i, row) in stream.gram.iter().enumerate() {
            for j in 0..12 {
                let product: f64 = (0..12).map(|k| row[k] * stream.inverse[k][j]).sum();
                assert!((product - f64::from(i == j)).abs() < 1e-5, "{product}");
            }
        }
    }

    #[test]
    fn a_saved_state_resumes_unchanged() {
        let mut before = stream(12);
        let Expansion { kernel, centres, coefficients, .. } = before.expansion().unwrap();
        let mut after =
            BudgetedPerceptron::resume(kernel.clone(), &centres, &coefficients, 3, Rule::Direct, 12).unwrap();
        for k in 0..20 {
            let t = 0.9 * f64::from(k);
            let (x, code) = ([t.cos(), t.sin()], (k % 3) as usize);
            assert_eq!(before.update(&x, code).unwrap(), after.update(&x, code).unwrap());
        }
        let (a, b) = (before.decide(&[0.3, -0.2]).unwrap(), after.decide(&[0.3, -0.2]).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
        let few = BudgetedPerceptron::resume(kernel, &centres, &coefficients, 3, Rule::Direct, 11);
        assert!(matches!(few, Err(LearnError::Parameter { parameter: "budget", .. })));
    }

    #[test]
    fn a_repeated_sample_adds_no_centre() {
        let mut stream =
            BudgetedPerceptron::new("rbf(sigma=1)".parse().unwrap(), 1, 2, Rule::Direct, 5).unwrap();
        for code in [1, 0, 0, 1, 0] {
            stream.update(&[0.5], code).unwrap();
        }
        assert_eq!(stream.ncentres(), 1);
    }
}
