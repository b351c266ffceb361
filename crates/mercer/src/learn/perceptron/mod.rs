//! The kernel perceptron.
//!
//! Visits the rows one after the other and, where row i is on the wrong side of f = Σⱼ aⱼ k(xⱼ, ·), adds its own bump:
//!
//! ```text
//! two classes, y = ±1     where yᵢf(xᵢ) ≤ 0:  aᵢ ← aᵢ + yᵢ
//! one against the rest    the same for each class, y = +1 for its own rows
//! direct                  where f_y(xᵢ) ≤ f_c(xᵢ), c the best of the other classes:  a_iy ← a_iy + 1, a_ic ← a_ic − 1
//! ```
//!
//! A value of exactly 0 is a mistake. The step size would only scale f, so it is 1. There is no intercept: add a constant to
//! the kernel for one. A correction costs O(n) with a row of the kernel matrix at hand, a visit O(1).
//!
//! Rosenblatt (1958); Novikoff (1962); Freund & Schapire (1999) for the averaged and voted forms.

mod budgeted;
mod budgeted_passes;
mod decisions;
mod report;
mod train;
mod voted;

use crate::data::{AnySamples, Matrix};
use crate::gram::{Gram, Wanted};
use crate::kernel::Kernel;
use crate::model::{Expansion, Voted};
use crate::session::Session;

use super::admission::{Admission, Admitted};
use super::codes::check_codes;
use super::error::LearnError;
use decisions::{Dual, Primal};
use train::{Course, History, train};

pub use budgeted::BudgetedPerceptron;
pub use report::PerceptronReport;

/// How more than two classes are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// One function for each class, which only has to tell that class from all others.
    OneVsRest,
    /// One function for each class, of which the row's own has to be the largest.
    #[default]
    Direct,
}

/// Which of the functions that stood during training is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// The last one.
    Last,
    /// The mean of those that stood after each visit: steadier where the classes overlap.
    #[default]
    Averaged,
}

/// The kernel perceptron: its hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Perceptron {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// Passes over the rows at most, 1 or more; fewer where one makes no mistake.
    pub passes: usize,
    /// The seed by which the rows are shuffled before each pass; none for the order they come in.
    pub shuffle: Option<u64>,
    /// Which function is taken.
    pub standing: Standing,
    /// How more than two classes are told apart.
    pub rule: Rule,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
}

/// w of f(x) = ⟨w, φ(x)⟩.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureWeights {
    /// One row per feature, one column per output.
    pub weights: Matrix<f64>,
    /// How training went.
    pub report: PerceptronReport,
}

impl Perceptron {
    /// A perceptron with this kernel: averaged, at most 100 passes, each shuffled by seed 0.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            passes: 100,
            shuffle: Some(0),
            standing: Standing::Averaged,
            rule: Rule::Direct,
            admission: Admission::Check,
        }
    }

    /// Trains on samples of `classes` classes, numbered by `codes` from 0.
    ///
    /// The expansion has one output for two classes, positive for class 1, else one per class, the largest of which decides.
    /// Its centres are the rows that were ever mistaken. O(n(d + 1)) a mistake, less where its row is still held.
    ///
    /// # Errors
    /// Where the codes do not line up or are of one class, where the kernel is refuted or not finite on the samples, and
    /// where the session is stopped.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<(Expansion, PerceptronReport), LearnError> {
        let trained = self.train_on(samples, codes, classes, session)?;
        let Trained { history, admitted, report, .. } = &trained;
        let coefficients = self.coefficients(history, samples.nrows(), outputs(classes));
        let used: Vec<usize> =
            (0..samples.nrows()).filter(|&i| coefficients.row(i).iter().any(|a| *a != 0.0)).collect();
        let kept = used.iter().flat_map(|&i| coefficients.row(i)).copied().collect();
        let expansion = Expansion {
            kernel: self.kernel.clone(),
            domain: admitted.domain,
            centres: samples.select(&used),
            shift: None,
            coefficients: Matrix::from_entries(used.len(), outputs(classes), kept),
            intercepts: vec![0.0; outputs(classes)],
        };
        Ok((expansion, report.clone()))
    }

    /// As [`fit`](Self::fit), keeping every function that stood during training, each to cast the votes of the visits it
    /// survived; [`standing`](Self::standing) plays no part.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_voted(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<(Voted, PerceptronReport), LearnError> {
        let trained = self.train_on(samples, codes, classes, session)?;
        let model =
            voted::voted(self.kernel.clone(), trained.admitted.domain, samples, classes, &trained.history);
        Ok((model, trained.report))
    }

    /// Trains on a kernel matrix, precomputed or not: a, one row per sample and one column per output.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_gram(
        &self,
        gram: &dyn Gram,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<(Matrix<f64>, PerceptronReport), LearnError> {
        let (history, report) = self.train_on_gram(gram, codes, classes, session)?;
        Ok((self.coefficients(&history, gram.nrows(), outputs(classes)), report))
    }

    /// The same perceptron in the primal: trains w on the rows φ(xᵢ) of `features`. The kernel plays no part.
    ///
    /// It makes the same mistakes in the same order as [`fit`](Self::fit) with k(x, z) = ⟨φ(x), φ(z)⟩, up to rounding.
    /// O(D) a visit for D features.
    ///
    /// # Errors
    /// Where the codes do not line up or are of one class, where a feature is not finite, and where the session is stopped.
    pub fn fit_features(
        &self,
        features: &Matrix<f64>,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<FeatureWeights, LearnError> {
        let (rows, columns) = (features.nrows(), features.ncols());
        self.validate(rows, columns, codes, classes)?;
        if let Some(place) = features.entries().iter().position(|v| !v.is_finite()) {
            let (row, value) = (place / columns, features.entries()[place]);
            return Err(LearnError::NonFinite { what: "feature", row, value });
        }
        let mut primal = Primal::new(features, outputs(classes));
        let history = train(&self.course(codes, classes), &mut primal, session)?;
        let squares = (0..rows).map(|i| features.row(i).iter().map(|v| v * v).sum());
        let report = PerceptronReport::new(&history, codes, self.rule, radius(squares), &primal);
        let mut weights = Matrix::zeros(columns, outputs(classes));
        for update in &history.updates {
            let amount = self.amount(&history, update);
            for (j, x) in features.row(update.row as usize).iter().enumerate() {
                weights.row_mut(j)[update.change.output as usize] += amount * x;
            }
        }
        Ok(FeatureWeights { weights, report })
    }

    fn train_on(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<Trained, LearnError> {
        self.validate(samples.nrows(), samples.ncols(), codes, classes)?;
        self.kernel.check_columns(samples.ncols())?;
        let admitted = self.admission.decide(&self.kernel, samples)?;
        let resident = session.load(samples)?;
        let gram = resident.gram(&self.kernel, Wanted::Exact)?;
        let (history, mut report) = self.train_on_gram(&*gram, codes, classes, session)?;
        report.warnings.extend(admitted.warning.clone());
        Ok(Trained { history, admitted, report })
    }

    fn train_on_gram(
        &self,
        gram: &dyn Gram,
        codes: &[usize],
        classes: usize,
        session: &Session<'_>,
    ) -> Result<(History, PerceptronReport), LearnError> {
        self.validate(gram.nrows(), gram.nrows(), codes, classes)?;
        let budget = session.memory();
        let mut dual = Dual::new(gram, outputs(classes), budget);
        let history = train(&self.course(codes, classes), &mut dual, session)?;
        let radius = radius(gram.diagonal().iter().copied());
        let report = PerceptronReport::new(&history, codes, self.rule, radius, &dual);
        Ok((history, report))
    }

    fn validate(
        &self,
        rows: usize,
        columns: usize,
        codes: &[usize],
        classes: usize,
    ) -> Result<(), LearnError> {
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        if self.passes == 0 {
            return Err(LearnError::Parameter {
                parameter: "passes",
                received: self.passes.to_string(),
                allowed: "1 or more",
            });
        }
        check_codes(rows, codes, classes, None)
    }

    fn course<'a>(&self, codes: &'a [usize], classes: usize) -> Course<'a> {
        Course {
            codes,
            outputs: outputs(classes),
            rule: self.rule,
            passes: self.passes,
            shuffle: self.shuffle,
        }
    }

    /// What an update adds to the coefficients of the function taken.
    fn amount(&self, history: &History, update: &train::Update) -> f64 {
        match self.standing {
            Standing::Last => update.change.amount,
            Standing::Averaged => update.change.amount * history.share(update),
        }
    }

    fn coefficients(&self, history: &History, rows: usize, outputs: usize) -> Matrix<f64> {
        let mut coefficients = Matrix::zeros(rows, outputs);
        for update in &history.updates {
            coefficients.row_mut(update.row as usize)[update.change.output as usize] +=
                self.amount(history, update);
        }
        coefficients
    }
}

/// What training on samples found.
struct Trained {
    history: History,
    admitted: Admitted,
    report: PerceptronReport,
}

/// One decision value for two classes, else one per class.
fn outputs(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// R = maxᵢ √k(xᵢ, xᵢ).
fn radius(squares: impl Iterator<Item = f64>) -> f64 {
    squares.fold(0.0, f64::max).sqrt()
}
