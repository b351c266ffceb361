//! The sample for a choice: a seeded subset of the rows of a problem.

use crate::data::{AnySamples, Matrix, row_hash};
use crate::gram::{DenseGram, TileMut};
use crate::learn::{Inputs, LearnError, Problem, Targets};
use crate::session::Session;

/// The most rows of a sample.
const MOST: usize = 2_000;

/// The fewest rows for a choice.
const LEAST: usize = 10;

/// The rows of each class in a sample, if the class has as many.
const OF_EACH_CLASS: usize = 5;

/// The most bytes that a search takes for each pair of rows.
const BYTES_PER_PAIR: u64 = 40;

/// Makes the seed of the sample different from those of folds, held-out rows and landmarks.
const SAMPLE: u64 = 0x5a3b_19c7;

/// Some rows of a problem, in a random order.
pub(super) struct Drawn {
    rows: Rows,
    targets: Targets<'static>,
    weights: Option<Vec<f64>>,
}

enum Rows {
    Samples(AnySamples<'static>),
    Gram(DenseGram<'static, f64>),
}

impl Drawn {
    /// A sample of a problem, with some rows of every class; `None` if its rows are too few or do not differ. Fewer
    /// rows are drawn where the memory budget is small.
    pub fn new(problem: &Problem<'_>, session: &Session<'_>) -> Result<Option<Self>, LearnError> {
        let most = MOST.min((session.memory() / BYTES_PER_PAIR).isqrt() as usize);
        let drawn = match &problem.inputs {
            Inputs::Stream(passes) => {
                let survey = passes.survey();
                let free = |place: &usize| !survey.held_out.contains(survey.sample_rows[*place]);
                let mut rows: Vec<usize> = (0..survey.sample_rows.len()).filter(free).collect();
                let numbers: Vec<usize> =
                    rows.iter().map(|&place| survey.sample_rows[place] as usize).collect();
                let targets = problem.targets.select(&numbers);
                let Some(order) = classes_first((0..rows.len()).collect(), &targets, most) else {
                    return Ok(None);
                };
                rows = order.iter().map(|&place| rows[place]).collect();
                rows.truncate(most);
                let targets = match targets {
                    Targets::None => survey.sample_targets.select(&rows).into(),
                    targets => targets.select(&order[..rows.len()]),
                };
                Self { rows: Rows::Samples(survey.sample.select(&rows)), targets, weights: None }
            }
            _ => {
                let Some(mut rows) = ordered(problem, most, session.seed() ^ SAMPLE) else { return Ok(None) };
                rows.truncate(most);
                Self::of(problem, &rows)?
            }
        };
        Ok((drawn.nrows() >= LEAST && drawn.varies()).then_some(drawn))
    }

    /// These rows of a problem.
    fn of(problem: &Problem<'_>, rows: &[usize]) -> Result<Self, LearnError> {
        let inputs = match &problem.inputs {
            Inputs::Gram(gram) => {
                let mut values = vec![0.0f64; rows.len() * rows.len()];
                gram.block(rows, rows, TileMut::new(&mut values, rows.len()));
                Rows::Gram(DenseGram::new(rows.len(), values))
            }
            _ => Rows::Samples(problem.samples()?.select(rows)),
        };
        let weights = problem.weights().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        Ok(Self { rows: inputs, targets: problem.targets.select(rows), weights })
    }

    /// The first rows.
    pub fn first(&self, most: usize) -> Result<Self, LearnError> {
        let rows: Vec<usize> = (0..self.nrows().min(most)).collect();
        Self::of(&self.problem(), &rows)
    }

    /// The same rows with other targets.
    pub fn with_targets(&self, targets: Targets<'static>) -> Result<Self, LearnError> {
        Ok(Self { targets, ..self.first(self.nrows())? })
    }

    /// The rows as a problem.
    pub fn problem(&self) -> Problem<'_> {
        let inputs = match &self.rows {
            Rows::Samples(samples) => Inputs::Samples(samples.view()),
            Rows::Gram(gram) => Inputs::Gram(gram),
        };
        Problem::new(inputs, self.targets.clone()).weighted(self.weights.as_deref())
    }

    pub fn nrows(&self) -> usize {
        match &self.rows {
            Rows::Samples(samples) => samples.nrows(),
            Rows::Gram(gram) => crate::gram::LinearOperator::nrows(gram),
        }
    }

    /// Whether targets vary: numbers that differ, or two classes of two rows or more.
    fn varies(&self) -> bool {
        match &self.targets {
            Targets::None => true,
            Targets::Numbers(numbers) => (1..numbers.nrows()).any(|row| numbers.row(row) != numbers.row(0)),
            Targets::Classes { codes, classes } => {
                let mut counts = vec![0; classes.len()];
                codes.iter().for_each(|&code| counts[code] += 1);
                // The sample of a stream may lack a class.
                !counts.contains(&0) && counts.iter().filter(|&&count| count >= 2).count() >= 2
            }
        }
    }

    /// Every column of numbers, or of class indicators, standardised to mean 0 and mean square 1.
    pub fn standardised(&self) -> Result<Targets<'static>, LearnError> {
        let problem = self.problem();
        let numbers = problem.numbers_or_shares()?;
        let (rows, columns) = (numbers.nrows(), numbers.ncols());
        let mut out = Matrix::zeros(rows, columns);
        for column in 0..columns {
            let mean = (0..rows).map(|row| numbers.row(row)[column]).sum::<f64>() / rows as f64;
            let squares = (0..rows).map(|row| (numbers.row(row)[column] - mean).powi(2));
            let deviation = (squares.sum::<f64>() / rows as f64).sqrt();
            let scale = if deviation > 0.0 { deviation.recip() } else { 1.0 };
            (0..rows).for_each(|row| out.row_mut(row)[column] = (numbers.row(row)[column] - mean) * scale);
        }
        Ok(out.into())
    }
}

/// The rows of positive weight in a random order, some rows of every class first; `None` as for [`classes_first`].
fn ordered(problem: &Problem<'_>, most: usize, seed: u64) -> Option<Vec<usize>> {
    let mut rows = problem.counted();
    rows.sort_by_key(|&row| row_hash(seed, row as u64));
    classes_first(rows, &problem.targets, most)
}

/// The rows in their order, but some of every class first; `None` if there are too many classes for that.
fn classes_first(mut rows: Vec<usize>, targets: &Targets<'_>, most: usize) -> Option<Vec<usize>> {
    if let Targets::Classes { codes, classes } = targets {
        let of_each = OF_EACH_CLASS.min(most / 2 / classes.len().max(1));
        if of_each < 2 {
            return None;
        }
        let mut found = vec![0; classes.len()];
        let is_first = |row: &usize| {
            found[codes[*row]] += 1;
            found[codes[*row]] <= of_each
        };
        let (first, rest): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(is_first);
        rows = [first, rest].concat();
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_rows_in_the_sample() {
        let codes: Vec<usize> = (0..5_000).map(|row| usize::from(row % 1_000 == 7)).collect();
        let x: Vec<[f64; 1]> = (0..5_000).map(|row| [row as f64]).collect();
        let problem = Problem::new(&x[..], Targets::codes(codes, 2));
        let drawn = Drawn::new(&problem, &Session::default()).unwrap().unwrap();
        assert_eq!(drawn.nrows(), MOST);
        let Targets::Classes { codes, .. } = drawn.first(1_000).unwrap().targets else { panic!("classes") };
        assert_eq!(codes.iter().filter(|&&code| code == 1).count(), 5);
    }

    #[test]
    fn rows_that_do_not_differ_and_few_rows_are_not_drawn() {
        let x: Vec<[f64; 1]> = (0..20).map(|row| [row as f64]).collect();
        let drawn = |y: &[f64]| Drawn::new(&Problem::new(&x[..y.len()], y), &Session::default()).unwrap();
        assert!(drawn(&[3.0; 20]).is_none());
        assert!(drawn(&[1.0, 2.0, 3.0]).is_none());
        assert!(drawn(&(0..20).map(f64::from).collect::<Vec<_>>()).is_some());
    }

    #[test]
    fn the_seed_and_the_memory_decide() {
        let x: Vec<[f64; 1]> = (0..3_000).map(|row| [row as f64]).collect();
        let y: Vec<f64> = (0..3_000).map(f64::from).collect();
        let rows = |session: &Session<'_>| {
            let drawn = Drawn::new(&Problem::new(&x[..], &y), session).unwrap().unwrap();
            drawn.problem().numbers().unwrap().entries().to_vec()
        };
        let session = Session::default();
        assert_eq!(rows(&session), rows(&session));
        assert_ne!(rows(&session), rows(&session.with_seed(1)));
        assert_eq!(rows(&session.with_memory(40_000_000)).len(), 1_000);
    }
}
