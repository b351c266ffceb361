//! The set-up of the tests of tuning: a regression problem with weights, the rows that a criterion leaves out, and a checkpoint in
//! memory.

use std::sync::Mutex;

use crate::oracle::noise;
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::learn::search::{Criterion, Split, Trials, assign_folds};
use mercer::learn::{LearnError, Problem, Ridge};
use mercer::select::{Tune, Tuned};
use mercer::session::{Checkpoint, Session};

/// Two targets on two columns; three rows have the weight 0.
pub struct Regression {
    pub x: AnySamples<'static>,
    pub y: Matrix<f64>,
    pub weights: Vec<f64>,
}

impl Regression {
    pub fn new(rows: usize) -> Self {
        let x = noise(2 * rows, 1);
        let y = x
            .chunks(2)
            .zip(noise(rows, 2))
            .flat_map(|(x, e)| [(4.0 * x[0]).sin() + 0.2 * e, 2.0 + x[0] * x[1]])
            .collect();
        let mut weights: Vec<f64> = noise(rows, 3).into_iter().map(|v| 1.2 + v).collect();
        weights[5..8].fill(0.0);
        Self {
            x: AnySamples::F64(Samples::dense(rows, 2, x).unwrap()),
            y: Matrix::from_entries(rows, 2, y),
            weights,
        }
    }

    pub fn problem(&self, weighted: bool) -> Problem<'_> {
        Problem::new(self.x.view(), &self.y).weighted(weighted.then_some(&self.weights[..]))
    }

    pub fn weight(&self, row: usize, weighted: bool) -> f64 {
        if weighted { self.weights[row] } else { 1.0 }
    }

    /// The rows of positive weight.
    pub fn counted(&self, weighted: bool) -> Vec<usize> {
        (0..self.y.nrows()).filter(|&row| self.weight(row, weighted) > 0.0).collect()
    }

    /// The rows of positive weight that a criterion leaves out together.
    pub fn groups(&self, criterion: &Criterion, weighted: bool, seed: u64) -> Vec<Vec<usize>> {
        let counted = self.counted(weighted);
        let n = counted.len();
        let of_folds = |folds: Vec<Option<usize>>| {
            let mut names: Vec<usize> = folds.iter().copied().flatten().collect();
            names.sort_unstable();
            names.dedup();
            let rows_of =
                |name: usize| (0..n).filter(|&k| folds[k] == Some(name)).map(|k| counted[k]).collect();
            names.into_iter().map(rows_of).collect()
        };
        match criterion {
            Criterion::LeaveOneOut => counted.iter().map(|&row| vec![row]).collect(),
            Criterion::Folds(folds) => {
                of_folds(assign_folds(n, *folds, seed).unwrap().into_iter().map(Some).collect())
            }
            Criterion::Given(folds) => of_folds(counted.iter().map(|&row| folds[row]).collect()),
            Criterion::HoldOut(fraction) => {
                let split = Split::hold_out(n, *fraction, seed).unwrap().unwrap();
                vec![split.held_out.iter().map(|&place| counted[place]).collect()]
            }
            Criterion::Gcv => unreachable!("generalised cross-validation leaves no row out"),
        }
    }

    /// The mean squared error over the rows of each group of `predict(rows trained on, rows left out)`.
    pub fn score(
        &self,
        weighted: bool,
        groups: &[Vec<usize>],
        predict: impl Fn(&[usize], &[usize]) -> Matrix<f64>,
    ) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for held in groups {
            let train: Vec<usize> =
                self.counted(weighted).into_iter().filter(|row| !held.contains(row)).collect();
            let predicted = predict(&train, held);
            for (place, &row) in held.iter().enumerate() {
                let weight = self.weight(row, weighted);
                let pairs = self.y.row(row).iter().zip(predicted.row(place));
                sum += weight * pairs.map(|(y, f)| (y - f).powi(2)).sum::<f64>() / 2.0;
                total += weight;
            }
        }
        sum / total
    }
}

/// Searches on some rows, without weights.
pub fn tune_rows(
    tune: &Tune<Ridge>,
    x: &AnySamples<'_>,
    y: &Matrix<f64>,
    session: &Session<'_>,
) -> Result<Tuned<Ridge>, LearnError> {
    tune.run(&Problem::new(x.view(), y), session)
}

/// Trials in memory, of any search.
#[derive(Default)]
pub struct Kept {
    pub trials: Mutex<Option<Vec<u8>>>,
    /// Times they were saved.
    pub saved: Mutex<usize>,
}

impl Kept {
    pub fn from(trials: &Trials) -> Self {
        Self { trials: Mutex::new(Some(serde_json::to_vec(trials).unwrap())), saved: Mutex::default() }
    }

    pub fn saved(&self) -> usize {
        *self.saved.lock().unwrap()
    }
}

impl Checkpoint for Kept {
    fn load(&self, _: u64) -> Option<Vec<u8>> {
        self.trials.lock().unwrap().clone()
    }

    fn due(&self) -> bool {
        true
    }

    fn save(&self, _: u64, state: Vec<u8>) {
        *self.trials.lock().unwrap() = Some(state);
        *self.saved.lock().unwrap() += 1;
    }
}

/// Runs a search whole, from the first half of its trials and from all of them: the answers are the same, and each time fewer
/// points are scored. Trials of another problem are refused.
pub fn resumes<T: PartialEq + std::fmt::Debug>(
    run: impl Fn(&Session<'_>) -> Result<(T, Trials), LearnError>,
    session: &Session<'_>,
) {
    let resumed = |kept: &Kept| (run(&session.with_checkpoint(kept)).unwrap(), kept.saved());
    let ((whole, trials), made) = resumed(&Kept::default());
    let half = Trials { rows: trials.rows[..trials.rows.len() / 2].to_vec(), ..trials.clone() };
    let ((again, same), fewer) = resumed(&Kept::from(&half));
    assert_eq!((again, &same), (whole, &trials));
    // Each run also saves at its end.
    assert!(1 < fewer && fewer < made, "{fewer} of {made}");
    assert_eq!(resumed(&Kept::from(&trials)).1, 1, "nothing is tried twice");
    let other = Kept::from(&Trials { problem: "0123456789abcdef".into(), ..trials });
    let error = run(&session.with_checkpoint(&other)).unwrap_err();
    assert!(error.to_string().contains("resume"), "{error}");
}
