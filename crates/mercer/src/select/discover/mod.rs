//! The search for a kernel: formulas are grown from base kernels by sums and products, and pruned, while their likelihood with a penalty
//! for each unknown rises (Duvenaud, Lloyd, Grosse, Tenenbaum and Ghahramani 2013).
//!
//! Every formula is a sum of products of kernels with factors ≥ 0, so that it is positive semidefinite by construction.

mod formula;
mod words;

use std::collections::HashSet;
use std::f64::consts::TAU;

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::AnySamples;
use crate::learn::{Fitted, Gp, KernelCheck, LearnError, Learner, Learnt, Problem};
use crate::session::Session;
use crate::watch::{Unwatched, Watch};

pub use formula::{Base, Formula, Shape};
pub use words::Units;

/// The most rows on which formulas are compared; of more rows, a seeded sample is used.
const ROWS: usize = 500;

/// The most single columns that formulas may use: the most relevant ones.
const COLUMNS: usize = 5;

/// Starting values to try for a period before it is learnt.
const PERIODS: usize = 24;

/// The most of these that are peaks of the spectrum of the targets.
const PEAKS: usize = 12;

/// Parts and multiples of a learnt period from which the best formula is learnt again.
const OTHER_PERIODS: [f64; 3] = [0.5, 1.0 / 3.0, 2.0];

/// The most steps of the minimisation for one formula on the sample.
const STEPS: usize = 60;

/// A search for a kernel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Discover {
    /// The most formulas to try.
    pub candidates: usize,
    /// Seconds after which no further formula is tried, except the first; the result then depends on the machine.
    pub seconds: Option<f64>,
    /// The learner of the final model; its kernel is replaced by the one found.
    pub gp: Gp,
}

impl Default for Discover {
    fn default() -> Self {
        Self { candidates: 80, seconds: None, gp: Gp::default() }
    }
}

/// One formula that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// The formula.
    pub formula: Formula,
    /// Its kernel with the values learnt on the sample.
    pub kernel: String,
    /// The logarithm of the likelihood of the sample's targets.
    pub log_likelihood: f64,
    /// The score: the logarithm of the likelihood less ½·log n for each unknown.
    pub score: f64,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovered {
    /// The best formulas, from the first to the winner, each better than the one before.
    pub ladder: Vec<Rung>,
    /// Formulas that were tried.
    pub tried: usize,
    /// Rows that they were compared on.
    pub rows: usize,
    /// Whether the search ended before its candidates did: by the watch or by its seconds.
    pub ended_early: bool,
    /// The winner's model, learnt on all rows.
    pub fitted: Fitted,
    /// The learnt values of the winner's unknowns, in the order of its text, the noise last.
    pub values: Vec<f64>,
}

impl Discovered {
    /// The formula that won.
    ///
    /// # Panics
    /// Never: a ladder has at least one rung.
    #[must_use]
    pub fn winner(&self) -> &Rung {
        self.ladder.last().expect("a ladder has at least one rung")
    }
}

/// A formula with its learnt unknowns.
struct Tried {
    rung: Rung,
    /// The logarithms of its unknowns and of the noise.
    theta: Vec<f64>,
}

impl Discover {
    /// The same search with another limit on its formulas.
    #[must_use]
    pub fn candidates(self, candidates: usize) -> Self {
        Self { candidates, ..self }
    }

    /// The same search for another final model.
    #[must_use]
    pub fn gp(self, gp: Gp) -> Self {
        Self { gp, ..self }
    }

    /// The same search with another limit on its time.
    #[must_use]
    pub fn seconds(self, seconds: Option<f64>) -> Self {
        Self { seconds, ..self }
    }

    /// Searches for a kernel and learns a model with it on all rows.
    ///
    /// If the session asks to stop, the search ends, and the best formula so far is kept with the values learnt so far.
    ///
    /// # Errors
    /// As training a Gaussian process, if `candidates` is 0, if the targets are the same in every row, and if the session is stopped
    /// before any formula was tried.
    pub fn run(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Discovered, LearnError> {
        if self.candidates == 0 {
            let (parameter, received) = ("candidates", "0".to_owned());
            return Err(LearnError::Parameter { parameter, received, allowed: "1 or more" });
        }
        let samples = problem.samples()?;
        let targets = problem.numbers()?;
        let rows = some_rows(samples.nrows(), session.seed());
        let (part, part_targets) = (samples.select(&rows), targets.select(&rows));
        if !rows.is_empty() && (1..rows.len()).all(|row| part_targets.row(row) == part_targets.row(0)) {
            return Err(LearnError::ConstantTargets { value: part_targets.row(0)[0] });
        }
        let weights: Option<Vec<f64>> =
            problem.weights().map(|all| rows.iter().map(|&row| all[row]).collect());
        let small = Problem::new(part.view(), &part_targets).weighted(weights);
        let trial =
            Trial { gp: &self.gp, problem: &small, samples: &part, session, columns: samples.ncols() };
        let Climbed { best, ladder, tried, ended_early } = trial.climb(self.candidates, self.seconds)?;
        let fitted = self.trained(&best.rung.formula, best.theta, problem, session)?;
        let learnt: Vec<Learnt> = fitted.facts.read("parameters").unwrap_or_default();
        let values = learnt.iter().map(|parameter| parameter.value.0).collect();
        let ended_early = ended_early || session.stop_requested();
        Ok(Discovered { ladder, tried, rows: rows.len(), ended_early, fitted, values })
    }

    /// Learns a model with the formula that was found on other rows, from the values learnt so far. They are kept if the session asks
    /// to stop.
    ///
    /// # Errors
    /// As training a Gaussian process.
    pub fn refit(
        &self,
        found: &Discovered,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let theta = found.values.iter().map(|value| value.ln()).collect();
        self.trained(&found.winner().formula, theta, problem, session)
    }

    /// A model with this formula, from these logarithms of its unknowns and of the noise.
    fn trained(
        &self,
        formula: &Formula,
        theta: Vec<f64>,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let kernel = formula.text(problem.samples()?.ncols()).parse().map_err(|_| {
            LearnError::Unsupported("the formula that was found is larger than a kernel may be")
        })?;
        let gp = self.gp.clone().kernel(kernel).initial(Some(theta));
        match gp.train(problem, session) {
            Err(error) if error.is_stop() => gp.learn(false).train(problem, &session.with_watch(&Unwatched)),
            fitted => fitted,
        }
    }
}

/// The end of a climb.
struct Climbed {
    best: Tried,
    ladder: Vec<Rung>,
    tried: usize,
    ended_early: bool,
}

const NOT_LIKELY: LearnError = LearnError::Unsupported("no formula has a likelihood on these rows");

/// The data and settings on which formulas are compared.
struct Trial<'a> {
    gp: &'a Gp,
    problem: &'a Problem<'a>,
    samples: &'a AnySamples<'a>,
    session: &'a Session<'a>,
    columns: usize,
}

impl Trial<'_> {
    /// Tries the first formulas, then those one step from the best as long as it improves, up to a number of formulas and for some
    /// seconds.
    fn climb(&self, candidates: usize, seconds: Option<f64>) -> Result<Climbed, LearnError> {
        let clock = std::time::Instant::now();
        let is_late = || seconds.is_some_and(|seconds| clock.elapsed().as_secs_f64() > seconds);
        self.session.begin("discover", candidates as u64);
        let (mut tried, mut ended_early) = (0, false);
        let mut seen: HashSet<Formula> = HashSet::new();
        let mut best: Option<Tried> = None;
        let mut ladder: Vec<Rung> = Vec::new();
        let mut bases = first_bases(self.columns);
        let mut waiting: Vec<(Formula, Vec<Option<usize>>)> =
            bases.iter().map(|&base| (Formula::of(base), Vec::new())).collect();
        loop {
            let parent = best.as_ref().map(|best| best.theta.clone());
            let mut improved = false;
            for (formula, origins) in waiting.drain(..) {
                let late = best.is_some() && is_late();
                if tried == candidates || late {
                    ended_early |= late;
                    break;
                }
                if !seen.insert(formula.clone()) {
                    continue;
                }
                let found = match self.run(formula, parent.as_deref(), &origins) {
                    Err(error) if error.is_stop() && best.is_some() => {
                        ended_early = true;
                        break;
                    }
                    // A formula without a likelihood loses.
                    Err(LearnError::Unsupported(_) | LearnError::KernelValue { .. }) => None,
                    found => Some(found?),
                };
                tried += 1;
                self.session.advance(1);
                let Some(found) = found else { continue };
                if best.as_ref().is_none_or(|best| found.rung.score > best.rung.score + 1e-6) {
                    let found = self.other_periods(found);
                    self.session.note(&format!(
                        "score {:.2}: {}",
                        found.rung.score,
                        found.rung.formula.text(self.columns)
                    ));
                    improved = true;
                    ladder.push(found.rung.clone());
                    best = Some(found);
                }
            }
            let Some(best) = &best else { return Err(NOT_LIKELY) };
            if !improved || ended_early || tried == candidates {
                break;
            }
            if self.columns > 1 && bases.iter().all(|base| base.column.is_none()) {
                bases = all_bases(self.columns, &relevant(best, self.columns));
            }
            waiting = best.rung.formula.steps(&bases, self.columns);
        }
        let best = best.ok_or(NOT_LIKELY)?;
        Ok(Climbed { best, ladder, tried, ended_early })
    }

    /// Learns the unknowns of a formula on the sample; those shared with its parent start at the parent's values.
    fn run(
        &self,
        formula: Formula,
        parent: Option<&[f64]>,
        origins: &[Option<usize>],
    ) -> Result<Tried, LearnError> {
        let session = self.session.part();
        let gp = self.gp(&formula)?;
        let places = gp.start(self.problem, &session)?;
        let mut start: Vec<f64> = places.iter().map(|(start, ..)| *start).collect();
        if let Some(parent) = parent {
            for (place, origin) in origins.iter().enumerate() {
                if let Some(from) = origin {
                    start[place] = parent[*from];
                }
            }
            if start.len() > origins.len()
                && let (Some(noise), Some(before)) = (start.last_mut(), parent.last())
            {
                *noise = *before;
            }
        }
        self.choose_periods(&gp, &formula, origins, &places, &mut start, &session)?;
        self.learnt(formula, gp, start)
    }

    /// Learns the unknowns of a formula from a start.
    fn learnt(&self, formula: Formula, gp: Gp, start: Vec<f64>) -> Result<Tried, LearnError> {
        let fitted = gp.initial(Some(start)).train(self.problem, &self.session.part())?;
        let log_likelihood = fitted.facts.number("log_likelihood").unwrap_or(f64::NAN);
        let learnt: Vec<Learnt> = fitted.facts.read("parameters").unwrap_or_default();
        let theta: Vec<f64> = learnt.iter().map(|parameter| parameter.value.0.ln()).collect();
        let penalty = 0.5 * (self.samples.nrows() as f64).ln() * theta.len() as f64;
        let kernel = fitted.model.predictor.kernel().map(ToString::to_string).unwrap_or_default();
        let rung = Rung { formula, kernel, log_likelihood, score: log_likelihood - penalty };
        Ok(Tried { rung, theta })
    }

    /// The formula with other periods where they are better: a multiple of a period is a local maximum of the likelihood beside it.
    /// The length of a cycle changes with its period, so that what happens within it keeps its duration.
    fn other_periods(&self, mut best: Tried) -> Tried {
        for place in best.rung.formula.periods(self.columns) {
            for factor in OTHER_PERIODS {
                let mut start = best.theta.clone();
                start[place] += factor.ln();
                start[place + 1] -= factor.ln();
                let formula = best.rung.formula.clone();
                let found = self.gp(&formula).and_then(|gp| self.learnt(formula, gp, start));
                // A start without a likelihood is no better, and a stop keeps what there is.
                if let Ok(found) = found
                    && found.rung.score > best.rung.score
                {
                    best = found;
                }
            }
        }
        best
    }

    /// The learner of a formula.
    fn gp(&self, formula: &Formula) -> Result<Gp, LearnError> {
        let kernel = formula
            .text(self.columns)
            .parse()
            .map_err(|_| LearnError::Unsupported("the formula is larger than a kernel may be"))?;
        // A sum of products of kernels is one.
        Ok(self.gp.clone().kernel(kernel).variance(false).max_iter(STEPS).kernel_check(KernelCheck::Assume))
    }

    /// Starts each new period at the value of the greatest likelihood: the likelihood has many maxima in a period.
    fn choose_periods(
        &self,
        gp: &Gp,
        formula: &Formula,
        origins: &[Option<usize>],
        places: &[(f64, f64, f64)],
        start: &mut [f64],
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let mut next = 0;
        for term in &formula.terms {
            next += 1;
            for base in term {
                let is_new = origins.get(next).is_none_or(Option::is_none);
                if base.shape == Shape::Cycle && is_new {
                    let mut best = (f64::NEG_INFINITY, start[next]);
                    for period in self.periods(base.column.unwrap_or(0))? {
                        let (_, low, high) = places[next];
                        start[next] = period.ln().clamp(low, high);
                        if let Some(value) = gp.log_likelihood_at(self.problem, start, session)?
                            && value > best.0
                        {
                            best = (value, start[next]);
                        }
                    }
                    start[next] = best.1;
                }
                next += base.unknowns(self.columns);
            }
        }
        Ok(())
    }

    /// Periods to try along a column, from four mean gaps to half the span: those of the highest peaks of the spectrum, and others
    /// with logarithms at equal distances.
    fn periods(&self, column: usize) -> Result<Vec<f64>, LearnError> {
        let mut row = vec![0.0; self.columns];
        let mut place = |i: usize| {
            self.samples.copy_row(i, &mut row);
            row[column]
        };
        let places: Vec<f64> = (0..self.samples.nrows()).map(&mut place).collect();
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        let span = sorted.last().zip(sorted.first()).map_or(1.0, |(high, low)| high - low);
        sorted.dedup();
        let span = if span > 0.0 { span } else { 1.0 };
        let shortest = 4.0 * span / sorted.len().max(9) as f64;
        let longest = (0.5 * span).max(2.0 * shortest);
        let numbers = self.problem.numbers()?;
        let targets: Vec<f64> = (0..places.len()).map(|i| numbers.row(i)[0]).collect();
        let frequencies = peaks(&places, &targets, sorted[0], span, (1.0 / longest, 1.0 / shortest));
        let even = PERIODS - frequencies.len();
        let at = |k: usize| shortest * (longest / shortest).powf(k as f64 / (even - 1) as f64);
        Ok(frequencies.into_iter().map(|frequency| 1.0 / frequency).chain((0..even).map(at)).collect())
    }
}

/// The frequencies of the highest peaks of the spectrum of targets at these places, which begin at `first` and extend over `span`.
fn peaks(places: &[f64], targets: &[f64], first: f64, span: f64, (low, high): (f64, f64)) -> Vec<f64> {
    // Hann's window keeps the spectrum of a trend to the lowest frequencies.
    let window = |x: &f64| 0.5 - 0.5 * (TAU * (x - first) / span).cos();
    let windows: Vec<f64> = places.iter().map(window).collect();
    let total: f64 = windows.iter().sum();
    let mean = windows.iter().zip(targets).map(|(w, y)| w * y).sum::<f64>() / total.max(f64::MIN_POSITIVE);
    let step = 0.25 / span;
    let frequency = |k: usize| low + k as f64 * step;
    let power = |k: usize| {
        let (mut cosines, mut sines) = (0.0, 0.0);
        for ((x, y), w) in places.iter().zip(targets).zip(&windows) {
            let (sine, cosine) = (TAU * frequency(k) * (x - first)).sin_cos();
            cosines += w * (y - mean) * cosine;
            sines += w * (y - mean) * sine;
        }
        cosines * cosines + sines * sines
    };
    let powers: Vec<f64> = (0..=((high - low) / step) as usize).map(power).collect();
    let is_peak = |&k: &usize| powers[k] > powers[k - 1] && powers[k] >= powers[k + 1];
    let mut peaks: Vec<usize> = (1..powers.len().saturating_sub(1)).filter(is_peak).collect();
    peaks.sort_by(|&a, &b| powers[b].total_cmp(&powers[a]));
    peaks.truncate(PEAKS);
    peaks.into_iter().map(frequency).collect()
}

/// The bases of the first formulas: on all columns.
fn first_bases(columns: usize) -> Vec<Base> {
    let shapes: &[Shape] = match columns {
        1 => &[Shape::Smooth, Shape::Line, Shape::Cycle, Shape::Scales, Shape::Rough],
        _ => &[Shape::Smooth, Shape::Line, Shape::Rough, Shape::Scales],
    };
    shapes.iter().map(|&shape| Base { shape, column: None }).collect()
}

/// The bases of later formulas: on all columns, and on each of the relevant ones.
fn all_bases(columns: usize, relevant: &[usize]) -> Vec<Base> {
    let single =
        |&column: &usize| [Shape::Smooth, Shape::Line].map(|shape| Base { shape, column: Some(column) });
    first_bases(columns).into_iter().chain(relevant.iter().flat_map(single)).collect()
}

/// The columns with the shortest lengths of the best formula that has one length per column; the first ones where none has.
fn relevant(best: &Tried, columns: usize) -> Vec<usize> {
    let mut next = 0;
    let mut order: Vec<usize> = (0..columns).collect();
    for term in &best.rung.formula.terms {
        next += 1;
        for base in term {
            let own = base.unknowns(columns);
            if base.column.is_none() && own >= columns {
                let lengths = &best.theta[next + own - columns..next + own];
                order.sort_by(|&a, &b| lengths[a].total_cmp(&lengths[b]));
            }
            next += own;
        }
    }
    order.truncate(COLUMNS);
    order
}

/// A seeded sample of the rows, in their order.
fn some_rows(rows: usize, seed: u64) -> Vec<usize> {
    if rows <= ROWS {
        return (0..rows).collect();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut chosen = index::sample(&mut random, rows, ROWS).into_vec();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monthly targets with a steep trend, and a cycle whose length is between those of a coarse grid.
    #[test]
    fn a_cycle_is_a_peak_of_the_spectrum_beside_a_trend() {
        for period in [0.6, 1.0, 1.9] {
            let places: Vec<f64> = (0..144).map(|i| 1949.0 + f64::from(i) / 12.0).collect();
            let target = |x: &f64| 30.0 * (x - 1949.0) + 10.0 * (TAU * x / period).sin();
            let targets: Vec<f64> = places.iter().map(target).collect();
            let span = places[143] - places[0];
            let found = peaks(&places, &targets, places[0], span, (2.0 / span, 3.0));
            assert!(found.len() <= PEAKS);
            // A step of the grid of frequencies.
            let near = |frequency: &f64| (frequency - 1.0 / period).abs() <= 0.25 / span;
            assert!(found.iter().any(near), "period {period}: {found:?}");
        }
    }

    #[test]
    fn places_without_a_span_have_no_peaks() {
        assert!(peaks(&[1.0], &[2.0], 1.0, 1.0, (1.0, 2.25)).is_empty());
        assert!(peaks(&[1.0; 9], &[2.0; 9], 1.0, 1.0, (1.0, 2.25)).is_empty());
    }
}
