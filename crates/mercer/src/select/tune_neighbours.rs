//! The width of a smoother and the k of nearest neighbours, chosen by leaving out each row in turn.

use crate::data::{AnySamples, Matrix};
use crate::gram::Metric;
use crate::kernel::{Kernel, SearchSpace};
use crate::learn::{Knn, LearnError, Loss, Smoother};
use crate::model::Weights;
use crate::session::Session;

use super::axis::Axis;
use super::search::{Scorer, Search, Strategy};
use super::trials::{Trial, Trials};

/// A search for the hyper-parameters of a smoother's kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneSmoother {
    /// The kernel, with a `?` for what is searched; each `auto` comes from the samples.
    pub kernel: Kernel,
    /// What a wrong prediction costs.
    pub loss: Loss,
    /// Where to look; `None` for what suits the number of hyper-parameters.
    pub strategy: Option<Strategy>,
}

/// What a search for a smoother found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSmoother {
    /// The kernel with the best hyper-parameters.
    pub kernel: Kernel,
    /// Its mean loss on rows left out.
    pub score: f64,
    /// All that was tried; the setting is 1 throughout.
    pub trials: Trials,
    /// What a user should know, such as a best value at the end of its range.
    pub warnings: Vec<String>,
}

impl TuneSmoother {
    /// Searches for the kernel with which each row's targets are predicted best from all the others. O(n²d) a kernel tried.
    ///
    /// # Errors
    /// Where the input does not line up, the kernel is no weight, or there is nothing to choose by.
    pub fn run(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<TunedSmoother, LearnError> {
        varied(targets)?;
        self.kernel.check_columns(samples.ncols())?;
        let scales = session.scales(samples);
        let kernel = self.kernel.resolve_auto(&scales)?;
        let axes = Axis::of_kernel(&kernel, &scales)?;
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting: Axis { name: String::new(), space: SearchSpace::OneOf(vec![1.0]) },
            seed: session.seed(),
        };
        let mut trials = Trials {
            problem: String::new(),
            names: search.axes.iter().map(|axis| axis.name.clone()).collect(),
            rows: Vec::new(),
        };
        let mut scorer = Widths { kernel: &kernel, samples, targets, loss: self.loss };
        let best = search.run(&mut scorer, &mut trials, &mut |_| {}, session)?;
        Ok(TunedSmoother {
            kernel: kernel.with_values(&best.values)?,
            score: best.score.unwrap_or(f64::NAN),
            trials,
            warnings: search.edge_warnings(&best),
        })
    }
}

/// Scores a smoother's hyper-parameters.
struct Widths<'a> {
    kernel: &'a Kernel,
    samples: &'a AnySamples<'a>,
    targets: &'a Matrix<f64>,
    loss: Loss,
}

impl Scorer for Widths<'_> {
    fn score(
        &mut self,
        values: &[f64],
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let smoother = Smoother::new(self.kernel.with_values(values)?);
        let loss = smoother.leave_one_out(self.samples, self.targets, self.loss, &session.part())?;
        Ok(vec![Some(loss); settings.len()])
    }
}

/// A search for the number of neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneKnn {
    /// The smallest and the largest k to try; the largest is held to what the rows allow.
    pub range: (usize, usize),
    /// How neighbours count.
    pub weights: Weights,
    /// What nearest means.
    pub metric: Metric,
    /// What a wrong prediction costs.
    pub loss: Loss,
}

/// What a search for the number of neighbours found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedKnn {
    /// The best k, the smallest of equals.
    pub k: usize,
    /// Its mean loss on rows left out.
    pub score: f64,
    /// All that was tried: the setting is k.
    pub trials: Trials,
    /// What a user should know, such as a best value at the end of its range.
    pub warnings: Vec<String>,
}

impl TuneKnn {
    /// Finds the k with which each row's targets are predicted best from the others, from one search for neighbours.
    ///
    /// # Errors
    /// Where the input does not line up, no k of the range fits the rows, or there is nothing to choose by.
    pub fn run(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<TunedKnn, LearnError> {
        varied(targets)?;
        let (least, most) = self.range;
        let others = samples.nrows().saturating_sub(1);
        if least == 0 || least > most {
            return Err(LearnError::Parameter {
                parameter: "k",
                received: format!("?{least}..{most}"),
                allowed: "a range from 1 or more up to its end",
            });
        }
        if least > others {
            return Err(LearnError::TooManyNeighbours { k: least, rows: others });
        }
        let largest = most.min(others);
        let knn = Knn::new(largest).weights(self.weights).metric(self.metric);
        let losses = knn.leave_one_out(samples, targets, largest, self.loss, session)?;
        let rows: Vec<Trial> = (least..=largest)
            .map(|k| Trial { values: Vec::new(), setting: k as f64, score: Some(losses[k - 1]) })
            .collect();
        let trials = Trials { problem: String::new(), names: vec!["k".into()], rows };
        let best = trials.best().ok_or(LearnError::NoScore { trials: trials.rows.len() })?;
        let (k, score) = (best.setting as usize, best.score.unwrap_or(f64::NAN));
        let mut warnings = Vec::new();
        if k == largest && largest < others && largest > least {
            warnings.push(format!(
                "the best k, {k}, is at the upper end of what was searched; a wider range, ?{least}..{}, may hold a better one",
                (4 * largest).min(others)
            ));
        }
        Ok(TunedKnn { k, score, trials, warnings })
    }
}

/// Refuses targets that every choice predicts.
fn varied(targets: &Matrix<f64>) -> Result<(), LearnError> {
    let rows = targets.nrows();
    if rows < 3 {
        return Err(LearnError::TooFewRows { rows, needed: 3 });
    }
    if (1..rows).all(|i| targets.row(i) == targets.row(0)) {
        return Err(LearnError::ConstantTargets {
            value: targets.row(0).first().copied().unwrap_or(f64::NAN),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    fn wave() -> (AnySamples<'static>, Matrix<f64>) {
        let x: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.1).collect();
        let noise = |i: usize| 0.3 * ((i * 7919 % 101) as f64 / 50.0 - 1.0);
        let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x.sin() + noise(i)).collect();
        (AnySamples::F64(Samples::dense(60, 1, x).unwrap()), Matrix::from_entries(60, 1, y))
    }

    #[test]
    fn the_width_found_is_the_best_of_those_tried_and_neither_end() {
        let (samples, targets) = wave();
        let tune = TuneSmoother {
            kernel: "rbf(sigma=?0.01..100)".parse().unwrap(),
            loss: Loss::Squared,
            strategy: None,
        };
        let tuned = tune.run(&samples, &targets, &Session::default()).unwrap();
        assert!(tuned.warnings.is_empty(), "{:?}", tuned.warnings);
        for trial in &tuned.trials.rows {
            let kernel = tune.kernel.with_values(&trial.values).unwrap();
            let direct =
                Smoother::new(kernel).leave_one_out(&samples, &targets, Loss::Squared, &Session::default());
            assert_eq!(trial.score, Some(direct.unwrap()));
            assert!(trial.score.unwrap() >= tuned.score);
        }
    }

    #[test]
    fn k_is_the_best_of_the_range() {
        let (samples, targets) = wave();
        let tune = TuneKnn {
            range: (1, 200),
            weights: Weights::Uniform,
            metric: Metric::Euclidean,
            loss: Loss::Squared,
        };
        let tuned = tune.run(&samples, &targets, &Session::default()).unwrap();
        assert_eq!(tuned.trials.rows.len(), 59, "no more neighbours than other rows");
        assert!(tuned.k > 1 && tuned.k < 30, "{}", tuned.k);
        let end =
            TuneKnn { range: (1, 2), ..tune.clone() }.run(&samples, &targets, &Session::default()).unwrap();
        assert!(end.warnings[0].contains("upper end"), "{:?}", end.warnings);
        for (range, rows) in [((0, 3), 60), ((5, 4), 60), ((70, 80), 60)] {
            assert!(
                TuneKnn { range, ..tune.clone() }.run(&samples, &targets, &Session::default()).is_err(),
                "{rows}"
            );
        }
    }

    #[test]
    fn equal_targets_leave_nothing_to_choose_by() {
        let (samples, _) = wave();
        let flat = Matrix::from_entries(60, 1, vec![2.0; 60]);
        let tune =
            TuneSmoother { kernel: "rbf(sigma=?)".parse().unwrap(), loss: Loss::Squared, strategy: None };
        let error = tune.run(&samples, &flat, &Session::default()).unwrap_err();
        assert_eq!(error, LearnError::ConstantTargets { value: 2.0 });
    }
}
