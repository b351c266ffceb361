//! svm-train's cross-validation, on exactly the folds of LIBSVM.

use mercer::learn::{Problem, Targets};
use mercer::model::libsvm::general;
use mercer::model::{Method, vote};
use mercer::session::Session;

use super::train::{Job, Rows, group, in_words};
use super::{Refusal, say};

/// Predicts every row from the other folds and prints the error.
pub fn cross_validate(
    job: &Job<'_>,
    rows: &Rows,
    folds: usize,
    session: &Session<'_>,
) -> Result<(), Refusal> {
    let y = &job.problem.labels;
    let (order, starts) = draw(y, folds, job.options.classifies());
    let mut predicted = vec![0.0; y.len()];
    for fold in starts.windows(2) {
        let held_out = &order[fold[0]..fold[1]];
        let kept: Vec<usize> = order[..fold[0]].iter().chain(&order[fold[1]..]).copied().collect();
        let found = predict(job, rows, &kept, held_out, session)?;
        held_out.iter().zip(found).for_each(|(&row, value)| predicted[row] = value);
    }
    if matches!(job.options.svm_type, Method::Svr | Method::NuSvr) {
        let (mean, correlation) = regression_errors(y, &predicted);
        say(format_args!("Cross Validation Mean squared error = {}\n", general(mean, 6)));
        say(format_args!("Cross Validation Squared correlation coefficient = {}\n", general(correlation, 6)));
    } else {
        let right = y.iter().zip(&predicted).filter(|(y, p)| y == p).count();
        let share = 100.0 * right as f64 / y.len() as f64;
        say(format_args!("Cross Validation Accuracy = {}%\n", general(share, 6)));
    }
    Ok(())
}

/// The mean squared error and the squared correlation of targets and predictions.
pub fn regression_errors(targets: &[f64], predicted: &[f64]) -> (f64, f64) {
    let n = targets.len() as f64;
    let (mut error, mut sp, mut st, mut spp, mut stt, mut spt) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (t, p) in targets.iter().zip(predicted) {
        error += (p - t) * (p - t);
        sp += p;
        st += t;
        spp += p * p;
        stt += t * t;
        spt += p * t;
    }
    let covariance = n * spt - sp * st;
    (error / n, covariance * covariance / ((n * spp - sp * sp) * (n * stt - st * st)))
}

/// The predictions of machines trained on some rows for others. Rows that are left out have weight 0.
fn predict(
    job: &Job<'_>,
    rows: &Rows,
    kept: &[usize],
    held_out: &[usize],
    session: &Session<'_>,
) -> Result<Vec<f64>, Refusal> {
    let y = &job.problem.labels;
    let mut weights = vec![0.0; y.len()];
    kept.iter().for_each(|&row| weights[row] = 1.0);
    let (labels, codes) = group(y, kept);
    let targets = match job.options.svm_type {
        Method::Svc | Method::NuSvc => {
            if let [only] = labels.as_slice() {
                return Ok(vec![f64::from(*only); held_out.len()]);
            }
            Targets::codes(codes, labels.len())
        }
        Method::OneClass => Targets::None,
        _ => y.into(),
    };
    let queries = job.queries(&rows.samples, held_out)?;
    let problem = Problem::new(rows.inputs(), targets).weighted(Some(weights));
    let found = job.svm(&labels).machines(&problem, session).map_err(in_words)?;
    let outputs = found.predictor(&rows.samples).predict(&queries, session).map_err(Refusal::new)?;
    let value = |row: &[f64]| match job.options.svm_type {
        Method::Svc | Method::NuSvc => f64::from(labels[vote(row)]),
        Method::OneClass if row[0] > 0.0 => 1.0,
        Method::OneClass => -1.0,
        _ => row[0],
    };
    Ok((0..outputs.nrows()).map(|i| value(outputs.row(i))).collect())
}

/// The rows in the order of their folds, and the start of each fold; stratified for classes.
fn draw(labels: &[f64], folds: usize, stratified: bool) -> (Vec<usize>, Vec<usize>) {
    let n = labels.len();
    let mut random = Rand::new();
    if folds > n {
        eprintln!(
            "WARNING: # folds ({folds}) > # data ({n}). Will use # folds = # data instead (i.e., leave-one-out cross validation)"
        );
    }
    let folds = folds.min(n);
    if !stratified || folds == n {
        let mut order: Vec<usize> = (0..n).collect();
        random.shuffle(&mut order);
        return (order, (0..=folds).map(|fold| fold * n / folds).collect());
    }
    let all: Vec<usize> = (0..n).collect();
    let (known, codes) = group(labels, &all);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); known.len()];
    codes.iter().enumerate().for_each(|(row, &code)| members[code].push(row));
    members.iter_mut().for_each(|rows| random.shuffle(rows));
    let (mut order, mut starts) = (Vec::with_capacity(n), vec![0]);
    for fold in 0..folds {
        for rows in &members {
            order.extend_from_slice(&rows[fold * rows.len() / folds..(fold + 1) * rows.len() / folds]);
        }
        starts.push(order.len());
    }
    (order, starts)
}

/// The C library's `rand` without a seed, so that the folds are those of LIBSVM on Linux: an additive feedback
/// generator r_i = r_{i−3} + r_{i−31}, its first 344 numbers left out, the lowest bit dropped.
struct Rand {
    last: Vec<u32>,
    at: usize,
}

impl Rand {
    fn new() -> Self {
        let mut last = [1u32; 34];
        for i in 1..31 {
            last[i] = (16_807 * u64::from(last[i - 1]) % 2_147_483_647) as u32;
        }
        for i in 31..34 {
            last[i] = last[i - 31];
        }
        let mut rand = Self { last: last[3..].to_vec(), at: 0 };
        for _ in 34..344 {
            rand.next();
        }
        rand
    }

    /// The next number, from 0 up to 2³¹.
    fn next(&mut self) -> u32 {
        // A ring of the last 31 numbers: the next position to write holds r_{i−31}.
        let sum = self.last[self.at].wrapping_add(self.last[(self.at + 28) % 31]);
        self.last[self.at] = sum;
        self.at = (self.at + 1) % 31;
        sum >> 1
    }

    fn shuffle(&mut self, rows: &mut [usize]) {
        let n = rows.len();
        for i in 0..n {
            let j = i + self.next() as usize % (n - i);
            rows.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of `rand()` in the GNU C library.
    #[test]
    fn numbers_match_the_c_library() {
        let mut rand = Rand::new();
        let first: Vec<u32> = (0..5).map(|_| rand.next()).collect();
        assert_eq!(first, [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793]);
    }

    #[test]
    fn every_row_is_in_one_fold_and_classes_are_spread() {
        let labels: Vec<f64> = (0..53).map(|i| f64::from(i % 3)).collect();
        for stratified in [true, false] {
            let (mut order, starts) = draw(&labels, 5, stratified);
            assert_eq!((starts.len(), starts[5]), (6, 53));
            if stratified {
                let zeros = |fold: &[usize]| order[fold[0]..fold[1]].iter().filter(|r| **r % 3 == 0).count();
                assert!(starts.windows(2).all(|fold| (3..=4).contains(&zeros(fold))));
            }
            order.sort_unstable();
            assert_eq!(order, (0..53).collect::<Vec<_>>());
        }
    }

    #[test]
    fn errors_of_a_line() {
        let (mean, correlation) = regression_errors(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]);
        assert!((mean - 29.0 / 3.0).abs() < 1e-12 && (correlation - 1.0).abs() < 1e-12);
    }
}
