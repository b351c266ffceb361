//! The search over hyper-parameters: a grid that is refined around its best point, random points, or one hyper-parameter after the
//! other.
//!
//! A point is the hyper-parameters of a kernel. At each point the scores of many values of one more hyper-parameter,
//! the setting, are computed together, from one factorisation.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::kernel::SearchSpace;
use crate::learn::error::LearnError;
use crate::session::Session;
use crate::watch::Watch;

use super::axis::Axis;
use super::scorer::Score;
use super::trials::{Trial, Trials};

/// The most points of a grid.
const MOST_GRID_POINTS: usize = 1_000_000;

/// The strategy for choosing points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Every combination of `points` values of each range and all values of each list; then, `refinements` times, the
    /// neighbours of the best point at half of the last step in each range.
    Grid {
        /// Values of a range, 1 or more.
        points: usize,
        /// The number of times the step is halved.
        refinements: usize,
    },
    /// Points drawn uniformly from each list and, on its log scale, each range.
    Random {
        /// Points drawn, 1 or more.
        trials: usize,
    },
    /// Points on the diagonal of all ranges; then the best of them with one hyper-parameter moved at a time, in steps
    /// that are halved if no move helps (a compass search; Kolda, Lewis and Torczon 2003). For many hyper-parameters,
    /// such as a width for each column.
    Coordinates {
        /// The most points, 1 or more.
        trials: usize,
    },
}

impl Strategy {
    /// A grid for up to two hyper-parameters of the kernel; coordinate search for more, for which a grid would be
    /// large.
    #[must_use]
    pub fn for_axes(axes: usize) -> Self {
        match axes {
            0 | 1 => Self::Grid { points: 10, refinements: 3 },
            2 => Self::Grid { points: 7, refinements: 3 },
            many => Self::Coordinates { trials: 60 + 6 * many },
        }
    }
}

/// Computes the score of each setting at the hyper-parameters of a kernel, smaller is better; `None` if there is no
/// solution.
pub type PointScores<'a> =
    dyn FnMut(&[f64], &[f64], &Session<'_>) -> Result<Vec<Option<Score>>, LearnError> + 'a;

/// A search: its axes and the points that it tries.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The hyper-parameters of the kernel, in the order of its text.
    pub axes: Vec<Axis>,
    /// The hyper-parameter whose values are scored together.
    pub setting: Axis,
    /// The points to try.
    pub strategy: Strategy,
    /// Seed of random points.
    pub seed: u64,
}

/// Values of the setting per factor of ten: many, as each costs little.
const SETTINGS_PER_DECADE: f64 = 2.0;

/// Points along the diagonal at the start of a coordinate search; its first steps are as long as the distances between
/// them.
const DIAGONAL: usize = 7;

/// The shortest step of a coordinate search, relative to the first.
const SHORTEST_STEP: f64 = 0.1;

/// Points to score, each with the settings to score it at.
type Round = Vec<(Vec<f64>, Vec<f64>)>;

impl Search {
    /// Searches, and returns the best trial. Trials in `trials` are not repeated; new ones are added, and all are saved
    /// in the checkpoint of the session after each point.
    ///
    /// # Errors
    /// Those of `score`; [`LearnError::NoScore`] if no trial has a score; [`LearnError::Stopped`].
    pub fn run(
        &self,
        score: &mut PointScores<'_>,
        trials: &mut Trials,
        session: &Session<'_>,
    ) -> Result<Trial, LearnError> {
        let found = self.rounds(score, trials, session);
        trials.keep(true, session);
        found
    }

    fn rounds(
        &self,
        score: &mut PointScores<'_>,
        trials: &mut Trials,
        session: &Session<'_>,
    ) -> Result<Trial, LearnError> {
        let first = self.first_round()?;
        session.begin("tune", self.planned(first.len()) as u64);
        let mut best = None;
        self.score_round(&first, &mut best, score, trials, session)?;
        match self.strategy {
            Strategy::Grid { points, refinements } => {
                for halvings in 1..=refinements {
                    let Some(centre) = best.clone() else { break };
                    let round = self.refined_round(&centre, points, halvings);
                    self.score_round(&round, &mut best, score, trials, session)?;
                }
            }
            Strategy::Coordinates { trials: most } => {
                let left = most.saturating_sub(first.len());
                self.move_coordinates(left, &mut best, score, trials, session)?;
            }
            Strategy::Random { .. } => {}
        }
        best.ok_or(LearnError::NoScore { trials: trials.rows.len() })
    }

    /// The most points of the whole search.
    fn planned(&self, first: usize) -> usize {
        match self.strategy {
            Strategy::Grid { refinements, .. } => first + refinements * (1 + 2 * self.axes.len()),
            Strategy::Random { .. } => first,
            Strategy::Coordinates { trials } => trials,
        }
    }

    /// Moves one hyper-parameter of the best point at a time, `left` times at most.
    fn move_coordinates(
        &self,
        mut left: usize,
        best: &mut Option<Trial>,
        score: &mut PointScores<'_>,
        trials: &mut Trials,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let mut step = 1.0;
        while step >= SHORTEST_STEP {
            let mut helped = false;
            for (place, axis) in self.axes.iter().enumerate() {
                let Some(centre) = best.clone() else { return Ok(()) };
                for moved in axis.beside(centre.values[place], step, DIAGONAL) {
                    if left == 0 {
                        return Ok(());
                    }
                    left -= 1;
                    let mut values = centre.values.clone();
                    values[place] = moved;
                    let settings = self.settings_beside(centre.setting, &[-1.0, -0.5, 0.0, 0.5, 1.0]);
                    self.score_round(&vec![(values, settings)], best, score, trials, session)?;
                    if *best != Some(centre.clone()) {
                        helped = true;
                        break;
                    }
                }
            }
            if !helped {
                step *= 0.5;
            }
        }
        Ok(())
    }

    fn first_round(&self) -> Result<Round, LearnError> {
        let settings = self.setting.grid(self.setting_points());
        let points = match self.strategy {
            Strategy::Grid { points: 0, .. }
            | Strategy::Random { trials: 0 }
            | Strategy::Coordinates { trials: 0 } => {
                return Err(LearnError::parameter("points of the search", 0, "1 or more"));
            }
            Strategy::Grid { points, .. }
                if (points as f64).powi(self.axes.len() as i32) > MOST_GRID_POINTS as f64 =>
            {
                let size = format!("{points} points for each of {} unknowns", self.axes.len());
                let allowed =
                    "a grid of at most 1000000 points; --search random tries as many as it is given";
                return Err(LearnError::parameter("the search", size, allowed));
            }
            Strategy::Grid { points, .. } => self.axes.iter().fold(vec![Vec::new()], |found, axis| {
                let values = axis.grid(points);
                let extend = |point: &Vec<f64>| {
                    let point = point.clone();
                    values.iter().map(move |v| [point.as_slice(), &[*v]].concat()).collect::<Vec<_>>()
                };
                found.iter().flat_map(extend).collect()
            }),
            Strategy::Random { trials } => {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
                let count = if self.axes.is_empty() { 1 } else { trials };
                (0..count).map(|_| self.axes.iter().map(|axis| draw(axis, &mut rng)).collect()).collect()
            }
            Strategy::Coordinates { trials } => {
                let grids: Vec<Vec<f64>> = self.axes.iter().map(|axis| axis.grid(DIAGONAL)).collect();
                let at = |grid: &Vec<f64>, k: usize| grid[k * (grid.len() - 1) / (DIAGONAL - 1)];
                let count = if self.axes.is_empty() { 1 } else { DIAGONAL.min(trials) };
                (0..count).map(|k| grids.iter().map(|grid| at(grid, k)).collect()).collect()
            }
        };
        Ok(points.into_iter().map(|point| (point, settings.clone())).collect())
    }

    /// Values of the setting in a grid.
    fn setting_points(&self) -> usize {
        match self.setting.space {
            SearchSpace::OneOf(_) => 1,
            SearchSpace::Between(low, high) => {
                ((high / low).log10() * SETTINGS_PER_DECADE).round().max(4.0) as usize + 1
            }
        }
    }

    /// The best point and its neighbours, one hyper-parameter moved at a time, with the setting near its best.
    fn refined_round(&self, best: &Trial, points: usize, halvings: usize) -> Round {
        let step = 0.5f64.powi(halvings as i32);
        let settings = |places: &[f64]| {
            let places: Vec<f64> = places.iter().map(|place| place * step).collect();
            self.settings_beside(best.setting, &places)
        };
        // At the best point itself, the settings a whole step away are already scored.
        let mut round = vec![(best.values.clone(), settings(&[-1.0, 1.0]))];
        for (place, axis) in self.axes.iter().enumerate() {
            let Some(ratio) = axis.ratio(points) else { continue };
            for factor in [ratio.powf(-step), ratio.powf(step)] {
                let mut moved = best.values.clone();
                moved[place] *= factor;
                if axis.contains(moved[place]) {
                    round.push((moved, settings(&[-2.0, -1.0, 0.0, 1.0, 2.0])));
                }
            }
        }
        round
    }

    /// Values of the setting this many steps of its grid away from one; all of a list.
    fn settings_beside(&self, setting: f64, steps: &[f64]) -> Vec<f64> {
        let Some(ratio) = self.setting.ratio(self.setting_points()) else { return self.setting.grid(1) };
        let moved = steps.iter().map(|step| setting * ratio.powf(*step));
        moved.filter(|&setting| self.setting.contains(setting)).collect()
    }

    /// The trial with the strongest penalty, by `is_stronger`, whose score is within one standard error of that of the best
    /// one, at the same kernel; all values of the setting are scored there (Breiman et al. 1984).
    ///
    /// # Errors
    /// Those of `score`, and if no standard error is known.
    pub(crate) fn within_one_error(
        &self,
        best: &Trial,
        is_stronger: impl Fn(f64, f64) -> bool,
        score: &mut PointScores<'_>,
        trials: &mut Trials,
        session: &Session<'_>,
    ) -> Result<Trial, LearnError> {
        let (Some(least), Some(error)) = (best.score, best.error) else {
            return Err(LearnError::Unsupported(
                "the rule of one standard error needs several folds, or rows left out one at a time",
            ));
        };
        let settings = self.setting.grid(self.setting_points());
        let here = vec![(best.values.clone(), settings)];
        self.score_round(&here, &mut Some(best.clone()), score, trials, session)?;
        trials.keep(true, session);
        let close = trials.rows.iter().filter(|trial| {
            trial.values == best.values && trial.score.is_some_and(|score| score <= least + error)
        });
        let chosen = close.fold(best, |a, b| if is_stronger(b.setting, a.setting) { b } else { a });
        Ok(chosen.clone())
    }

    fn score_round(
        &self,
        round: &Round,
        best: &mut Option<Trial>,
        score: &mut PointScores<'_>,
        trials: &mut Trials,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        for (values, settings) in round {
            session.check()?;
            let known = trials.known(values, settings);
            let is_new = known.is_none();
            let scores = match known {
                Some(scores) => scores,
                None => {
                    // A point left unfinished by an interrupted run is scored completely.
                    trials.rows.retain(|t| t.values != *values || !settings.contains(&t.setting));
                    score(values, settings, session)?
                }
            };
            for (&setting, score) in settings.iter().zip(scores) {
                // NaN is not a score.
                let found = score.filter(|score| score.loss.is_finite());
                let (score, error) = (found.as_ref().map(|found| found.loss), found.and_then(|f| f.error));
                let trial = Trial { values: values.clone(), setting, score, error };
                if score.is_some_and(|s| best.as_ref().and_then(|b| b.score).is_none_or(|b| s < b)) {
                    session.note(&self.describe(&trial));
                    *best = Some(trial.clone());
                }
                if is_new {
                    trials.rows.push(trial);
                }
            }
            if is_new {
                trials.keep(false, session);
            }
            session.advance(1);
        }
        Ok(())
    }

    /// `best 0.123 at sigma=2, lambda=0.1`.
    fn describe(&self, trial: &Trial) -> String {
        let names = self.axes.iter().chain([&self.setting]).map(|axis| axis.name.as_str());
        let values = trial.values.iter().chain([&trial.setting]);
        let pairs: Vec<String> =
            names.zip(values).map(|(name, value)| format!("{name}={value:.4}")).collect();
        format!("best {:.6} at {}", trial.score.unwrap_or(f64::NAN), pairs.join(", "))
    }

    /// Warnings for a best trial at an end of the searched ranges.
    #[must_use]
    pub fn edge_warnings(&self, best: &Trial) -> Vec<String> {
        let values = best.values.iter().chain([&best.setting]);
        let axes = self.axes.iter().chain([&self.setting]);
        axes.zip(values).filter_map(|(axis, value)| axis.edge_warning(*value)).collect()
    }
}

fn draw(axis: &Axis, rng: &mut Xoshiro256PlusPlus) -> f64 {
    match &axis.space {
        SearchSpace::OneOf(values) => values.choose(rng).copied().unwrap_or(f64::NAN),
        SearchSpace::Between(low, high) => (low * (high / low).powf(rng.random::<f64>())).clamp(*low, *high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bowl in log coordinates with its bottom at (3, 0.7) and λ = 0.02; counts its calls.
    struct Bowl(usize);

    impl Bowl {
        fn score(&mut self, values: &[f64], settings: &[f64]) -> Vec<Option<Score>> {
            self.0 += 1;
            let outer: f64 = values.iter().zip([3.0, 0.7]).map(|(v, at)| (v / at).ln().powi(2)).sum();
            settings
                .iter()
                .map(|s| if *s < 1e-5 { None } else { Some((outer + (s / 0.02).ln().powi(2)).into()) })
                .collect()
        }
    }

    fn search(strategy: Strategy) -> Search {
        let axis = |name: &str, low, high| Axis::new(name, SearchSpace::Between(low, high));
        Search {
            axes: vec![axis("sigma", 0.1, 100.0), axis("alpha", 0.01, 10.0)],
            setting: axis("lambda", 1e-6, 1e3),
            strategy,
            seed: 5,
        }
    }

    fn run(search: &Search, trials: &mut Trials) -> (Trial, usize) {
        let mut bowl = Bowl(0);
        let mut score = |values: &[f64], settings: &[f64], _: &Session<'_>| Ok(bowl.score(values, settings));
        let best = search.run(&mut score, trials, &Session::default()).unwrap();
        (best, bowl.0)
    }

    fn none() -> Trials {
        Trials { problem: String::new(), names: Vec::new(), rows: Vec::new() }
    }

    #[test]
    fn refinement_closes_in_on_the_best_point() {
        let coarse = search(Strategy::Grid { points: 7, refinements: 0 });
        let fine = search(Strategy::Grid { points: 7, refinements: 5 });
        let (at, calls) = run(&coarse, &mut none());
        let (closer, more) = run(&fine, &mut none());
        assert_eq!((calls, more), (49, 49 + 5 * 5));
        assert!(closer.score.unwrap() < at.score.unwrap() / 10.0);
        assert!((closer.values[0] / 3.0).ln().abs() < 0.1 && (closer.setting / 0.02).ln().abs() < 0.1);
    }

    #[test]
    fn known_trials_are_not_scored_again_and_the_answer_is_the_same() {
        for strategy in [Strategy::Grid { points: 4, refinements: 3 }, Strategy::Random { trials: 30 }] {
            let search = search(strategy);
            let mut trials = none();
            let (best, calls) = run(&search, &mut trials);
            assert_eq!(trials.best(), Some(&best));
            // Cut in the middle of a point, as an interrupted run leaves it.
            let mut resumed = Trials { rows: trials.rows[..trials.rows.len() / 2 + 1].to_vec(), ..none() };
            let (again, fewer) = run(&search, &mut resumed);
            assert_eq!(again, best);
            assert!(fewer < calls && fewer > 0, "{fewer} of {calls}");
            assert_eq!(run(&search, &mut trials), (best, 0));
        }
    }

    #[test]
    fn coordinates_close_in_on_the_best_point_within_their_budget() {
        let (best, calls) = run(&search(Strategy::Coordinates { trials: 60 }), &mut none());
        assert!(calls <= 60, "{calls}");
        assert!(
            (best.values[0] / 3.0).ln().abs() < 0.3 && (best.values[1] / 0.7).ln().abs() < 0.3,
            "{best:?}"
        );
        assert!((best.setting / 0.02).ln().abs() < 0.5, "{best:?}");
        let (_, calls) = run(&search(Strategy::Coordinates { trials: 5 }), &mut none());
        assert_eq!(calls, 5);
    }

    #[test]
    fn within_one_error_the_strongest_penalty_is_chosen() {
        let search = search(Strategy::Grid { points: 3, refinements: 0 });
        // Errors of 1, 1.05, 1.2 at λ = 0.01, 0.1 and 1; one standard error is 0.1.
        let mut score = |_: &[f64], settings: &[f64], _: &Session<'_>| {
            let loss = |s: f64| 1.0 + 0.05 * (s / 0.01).log10().abs().powi(2);
            Ok(settings.iter().map(|s| Some(Score { error: Some(0.1), ..loss(*s).into() })).collect())
        };
        let (mut trials, session) = (none(), Session::default());
        let best = search.run(&mut score, &mut trials, &session).unwrap();
        assert!((best.setting / 0.01 - 1.0).abs() < 1e-9);
        let stronger = |a: f64, b: f64| a > b;
        let chosen = search.within_one_error(&best, stronger, &mut score, &mut trials, &session).unwrap();
        assert!((chosen.setting / 0.1).log10().abs() < 1e-9, "{chosen:?}");
        let unknown = Trial { error: None, ..best };
        assert!(search.within_one_error(&unknown, stronger, &mut score, &mut trials, &session).is_err());
    }

    #[test]
    fn random_points_stay_within_their_ranges() {
        let search = search(Strategy::Random { trials: 50 });
        let mut trials = none();
        run(&search, &mut trials);
        for trial in &trials.rows {
            assert!(search.axes.iter().zip(&trial.values).all(|(axis, v)| axis.contains(*v)));
        }
    }

    #[test]
    fn without_a_score_there_is_an_error() {
        let mut search = search(Strategy::Grid { points: 2, refinements: 1 });
        search.setting.space = SearchSpace::OneOf(vec![1e-9]);
        let mut score = |_: &[f64], settings: &[f64], _: &Session<'_>| Ok(vec![None; settings.len()]);
        let error = search.run(&mut score, &mut none(), &Session::default()).unwrap_err();
        assert_eq!(error, LearnError::NoScore { trials: 4 });
    }
}
