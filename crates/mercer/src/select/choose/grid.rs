//! Searches over the width of a Gaussian and a penalty.

use crate::gram::Wanted;
use crate::kernel::{Kernel, Scales, SearchSpace};
use crate::learn::search::{Criterion, Measure, Shared, Strategy, Trial, Trials, Tunable};
use crate::learn::{Inputs, LearnError};
use crate::select::tune::Tune;
use crate::session::Session;

use super::drawn::Drawn;

/// The most rows for the coarse grid.
pub(super) const COARSE: usize = 1_000;

/// Significant digits of a chosen value: rounding to them changes it far less than another sample would.
const DIGITS: usize = 4;

/// The widths of a Gaussian to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Widths {
    /// `sigma` or `gamma`.
    pub parameter: &'static str,
    pub low: f64,
    pub high: f64,
    pub points: usize,
}

impl Widths {
    /// σ from 1/16 to 2 times the median distance of rows, or γ from 1/64 to 64 times 1/(d·variance): factors of 2 in σ, the
    /// value of `auto` among them. Wider kernels are close to polynomials, which extrapolate badly.
    pub fn around_auto(by_gamma: bool, drawn: &Drawn, session: &Session<'_>) -> Result<Self, LearnError> {
        let problem = drawn.problem();
        let scales = session.scales(problem.samples()?);
        Ok(if by_gamma {
            let gamma = scales.inverse_variance(None);
            Self { parameter: "gamma", low: gamma / 64.0, high: 64.0 * gamma, points: 7 }
        } else {
            let sigma = scales.median_distance(None);
            Self { parameter: "sigma", low: sigma / 16.0, high: 2.0 * sigma, points: 6 }
        })
    }

    /// Three widths: one, and that width divided and multiplied by a factor.
    pub fn beside(parameter: &'static str, middle: f64, factor: f64) -> Self {
        Self { parameter, low: middle / factor, high: middle * factor, points: 3 }
    }

    /// σ as γ.
    pub fn of_sigma(sigma: f64, by_gamma: bool) -> (&'static str, f64) {
        if by_gamma { ("gamma", 0.5 / (sigma * sigma)) } else { ("sigma", sigma) }
    }

    /// The factor in this parameter that corresponds to a factor of √2 in σ.
    fn half_step(&self) -> f64 {
        if self.parameter == "gamma" { 2.0 } else { 2f64.sqrt() }
    }

    fn kernel(&self) -> Kernel {
        gaussian(self.parameter, &format!("?{}..{}", self.low, self.high))
    }
}

/// A Gaussian with this value of `sigma` or `gamma`.
///
/// # Panics
/// If the value is none.
pub(super) fn gaussian(parameter: &str, value: &str) -> Kernel {
    format!("rbf({parameter}={value})").parse().expect("a width")
}

/// The number rounded to few digits, so that its text is short and exact.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

/// A number as text, with an exponent where there would be many zeros.
pub(super) fn text(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// A search over the widths, if they are open, and the values of λ, C or ν.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub widths: Option<Widths>,
    pub shared: SearchSpace,
    pub criterion: Criterion,
}

/// The best point of a search.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub measure: Measure,
    pub width: Option<(&'static str, f64)>,
    pub shared: f64,
    pub score: f64,
    pub rows: usize,
}

impl Grid {
    /// Scores every point.
    pub fn search<L: Tunable>(
        &self,
        learner: &L,
        drawn: &Drawn,
        session: &Session<'_>,
    ) -> Result<Best, LearnError> {
        let learner = match &self.widths {
            Some(widths) => learner.clone().with_kernel(widths.kernel()),
            None => learner.clone(),
        };
        let points = self.widths.map_or(1, |widths| widths.points);
        let tune = Tune {
            criterion: self.criterion.clone(),
            strategy: Some(Strategy::Grid { points, refinements: 0 }),
            shared: Some(self.shared.clone()),
            ..Tune::new(learner)
        };
        let problem = drawn.problem();
        let measure = Measure::of(&tune.learner, &problem.targets);
        let trials = tune.run(&problem, session)?.trials;
        let table = Table::new(&trials);
        let (i, j) = table
            .best(measure, tune.learner.shared())
            .ok_or(LearnError::NoScore { trials: trials.rows.len() })?;
        let width = self.widths.map(|widths| (widths.parameter, table.widths[i]));
        let score = table.scores[i][j].unwrap_or(f64::NAN);
        Ok(Best { measure, width, shared: table.settings[j], score, rows: drawn.nrows() })
    }

    /// Scores every point on some of the rows, then the best and its neighbours on all of them. λ of ridge regression grows with
    /// the number of rows.
    pub fn search_twice<L: Tunable>(
        &self,
        learner: &L,
        drawn: &Drawn,
        session: &Session<'_>,
    ) -> Result<Best, LearnError> {
        let coarse = self.search(learner, &drawn.first(COARSE)?, session)?;
        let growth = match learner.shared() {
            Shared::Lambda if !by_folds(&self.criterion) => drawn.nrows() as f64 / coarse.rows as f64,
            _ => 1.0,
        };
        let shared = match &self.shared {
            SearchSpace::Between(..) => {
                let centre = coarse.shared * growth;
                SearchSpace::Between(centre / 4.0, centre * 4.0)
            }
            list => list.clone(),
        };
        let beside =
            |(parameter, width), widths: Widths| Widths::beside(parameter, width, widths.half_step());
        let widths = coarse.width.zip(self.widths).map(|(width, widths)| beside(width, widths));
        Self { widths, shared, ..self.clone() }.search(learner, drawn, session)
    }
}

/// The scores of a grid.
struct Table {
    /// The widths, in the order they were tried; a single placeholder if they are not open.
    widths: Vec<f64>,
    /// λ, C or ν, in the order they were tried.
    settings: Vec<f64>,
    /// One row per width, one entry per setting.
    scores: Vec<Vec<Option<f64>>>,
}

impl Table {
    fn new(trials: &Trials) -> Self {
        let width = |trial: &Trial| trial.values.first().copied().unwrap_or(0.0);
        let (mut widths, mut settings) = (Vec::new(), Vec::new());
        for trial in &trials.rows {
            if !widths.contains(&width(trial)) {
                widths.push(width(trial));
            }
            if !settings.contains(&trial.setting) {
                settings.push(trial.setting);
            }
        }
        let mut scores = vec![vec![None; settings.len()]; widths.len()];
        for trial in &trials.rows {
            let place = |values: &[f64], value: f64| values.iter().position(|known| *known == value);
            if let (Some(i), Some(j)) = (place(&widths, width(trial)), place(&settings, trial.setting)) {
                scores[i][j] = trial.score;
            }
        }
        Self { widths, settings, scores }
    }

    /// The position of the best point.
    ///
    /// Error rates jump from point to point: each is averaged with its neighbours first. Of points whose squared error
    /// or log-loss is within a hundredth of the smallest, a difference that the rows cannot resolve, the one with the
    /// strongest penalty is chosen. Otherwise the first of equals is chosen, which is the smoothest model.
    fn best(&self, measure: Measure, shared: Shared) -> Option<(usize, usize)> {
        let slack = match measure {
            Measure::SquaredError | Measure::LogLoss => 0.01,
            _ => 0.0,
        };
        let judged = |(i, j): (usize, usize)| {
            let score = if measure == Measure::Wrong { self.smoothed(i, j) } else { self.scores[i][j] };
            score.map(|score| (score, (i, j)))
        };
        let places = (0..self.widths.len()).flat_map(|i| (0..self.settings.len()).map(move |j| (i, j)));
        let points: Vec<(f64, (usize, usize))> = places.filter_map(judged).collect();
        let least = points.iter().map(|(score, _)| *score).reduce(f64::min)?;
        let penalty = |j: usize| if shared == Shared::Lambda { self.settings[j] } else { -self.settings[j] };
        let close = points.iter().filter(|(score, _)| *score <= least + slack * least.abs());
        let stronger = |a: &(f64, (usize, usize)), b: &(f64, (usize, usize))| {
            slack > 0.0 && penalty(b.1.1) > penalty(a.1.1)
                || (slack == 0.0 || penalty(b.1.1) == penalty(a.1.1)) && b.0 < a.0
        };
        close.copied().reduce(|a, b| if stronger(&a, &b) { b } else { a }).map(|(_, place)| place)
    }

    /// The mean of a score and its neighbours, with the weights 1, 2, 1 in both directions; at an edge and beside a
    /// point without a score, its own score replaces the missing one.
    fn smoothed(&self, i: usize, j: usize) -> Option<f64> {
        let own = self.scores[i][j]?;
        let at =
            |place: usize, step: usize, count: usize| (place + step).checked_sub(1).filter(|p| *p < count);
        let mut sum = 0.0;
        for (di, dj) in (0..3).flat_map(|di| (0..3).map(move |dj| (di, dj))) {
            let place = at(i, di, self.widths.len()).zip(at(j, dj, self.settings.len()));
            let weight = f64::from((1 + u8::from(di == 1)) * (1 + u8::from(dj == 1)));
            sum += weight * place.and_then(|(i, j)| self.scores[i][j]).unwrap_or(own);
        }
        Some(sum / 16.0)
    }
}

fn by_folds(criterion: &Criterion) -> bool {
    matches!(criterion, Criterion::Folds(_))
}

/// The mean of k(x, x): penalties are in its units.
pub(super) fn kernel_size<L: Tunable>(
    learner: &L,
    drawn: &Drawn,
    session: &Session<'_>,
) -> Result<f64, LearnError> {
    let problem = drawn.problem();
    let diagonal = match (&problem.inputs, learner.open_kernel()) {
        (Inputs::Gram(gram), _) => gram.diagonal().into_owned(),
        (_, Some(kernel)) => {
            let samples = problem.samples()?;
            kernel.check_columns(samples.ncols())?;
            let kernel = kernel.resolve_auto(&session.scales(samples))?;
            session.load(samples)?.gram(&kernel, Wanted::Double)?.diagonal().into_owned()
        }
        _ => return Ok(1.0),
    };
    let mean = diagonal.iter().sum::<f64>() / diagonal.len() as f64;
    Ok(if mean > 0.0 && mean.is_finite() { mean } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(scores: &[&[f64]]) -> Table {
        Table {
            widths: (0..scores.len()).map(|i| 2f64.powi(i as i32)).collect(),
            settings: (0..scores[0].len()).map(|j| 10f64.powi(j as i32)).collect(),
            scores: scores.iter().map(|row| row.iter().copied().map(Some).collect()).collect(),
        }
    }

    #[test]
    fn a_single_lucky_point_is_not_the_best_of_accuracies() {
        let lucky: &[&[f64]] = &[
            &[0.40, 0.40, 0.40, 0.40, 0.40],
            &[0.40, 0.20, 0.20, 0.20, 0.40],
            &[0.40, 0.20, 0.21, 0.20, 0.40],
            &[0.40, 0.20, 0.20, 0.20, 0.40],
            &[0.40, 0.40, 0.40, 0.40, 0.19],
        ];
        assert_eq!(table(lucky).best(Measure::Wrong, Shared::Cost), Some((2, 2)));
        assert_eq!(table(lucky).best(Measure::Consistency, Shared::None), Some((4, 4)));
    }

    #[test]
    fn of_errors_that_are_close_the_strongest_penalty_is_best() {
        let close: &[&[f64]] = &[&[1.0, 1.005, 1.5], &[1.2, 1.008, 1.4]];
        assert_eq!(table(close).best(Measure::SquaredError, Shared::Lambda), Some((0, 1)));
        assert_eq!(table(close).best(Measure::SquaredError, Shared::Cost), Some((0, 0)));
        let mut none = table(&[&[0.0, 1.0]]);
        none.scores = vec![vec![None, None]];
        assert_eq!(none.best(Measure::SquaredError, Shared::Lambda), None);
    }

    #[test]
    fn chosen_numbers_have_four_digits() {
        assert_eq!((rounded(0.001_234_56), rounded(98_765.4)), (0.001_235, 98_770.0));
        for (value, written) in [(9.882e-7, "9.882e-7"), (0.25, "0.25"), (1000.0, "1000"), (3e8, "3e8")] {
            assert_eq!((text(value), text(value).parse()), (written.to_owned(), Ok(value)));
        }
    }
}
