//! The area under the ROC curve: how well scores rank the rows of a class above the others.

use std::borrow::Cow;

use super::Link;

/// The most scores stored: 80 MB.
const MOST: usize = 5_000_000;

/// Gathers the scores of rows and computes the area under the ROC curve.
///
/// One list of scores for the second of two classes, else one per class.
///
/// ```
/// use mercer::model::{Link, Ranks};
/// let mut ranks = Ranks::new(2);
/// for (truth, decision) in [(0, 0.1), (0, 0.4), (1, 0.35), (1, 0.8)] {
///     ranks.add(truth, Link::Decisions, &[decision], None);
/// }
/// assert_eq!(ranks.auc(), Some(0.75));
/// ```
#[derive(Debug, Clone)]
pub struct Ranks {
    lists: Vec<Vec<(f64, bool)>>,
    /// Whether every row so far has scores, and their number is within the limit.
    known: bool,
}

impl Ranks {
    /// Creates empty lists for this many classes.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self { lists: vec![Vec::new(); if classes == 2 { 1 } else { classes }], known: true }
    }

    /// Adds a row of class `truth` with its outputs and, where there are any, its probabilities.
    pub fn add(&mut self, truth: usize, link: Link, outputs: &[f64], probabilities: Option<&[f64]>) {
        let scores = scores(link, outputs, probabilities, self.lists.len());
        self.known &= scores.is_some() && self.lists[0].len() < MOST / self.lists.len();
        let Some(scores) = scores.filter(|_| self.known) else { return };
        let single = self.lists.len() == 1;
        for (class, (list, score)) in self.lists.iter_mut().zip(scores.iter()).enumerate() {
            list.push((*score, truth == if single { 1 } else { class }));
        }
    }

    /// The probability that a row of a class has a higher score than one of another, with one half for equal ones: the
    /// mean over the classes; for two classes that of the second. `None` if scores are missing or there is nothing to
    /// compare.
    #[must_use]
    pub fn auc(&self) -> Option<f64> {
        let areas: Vec<f64> = self.lists.iter().filter_map(|list| area(list)).collect();
        (self.known && !areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
    }
}

/// A score for each class, or for the second of two; `None` if pairs of several classes vote.
fn scores<'a>(
    link: Link,
    outputs: &'a [f64],
    probabilities: Option<&'a [f64]>,
    lists: usize,
) -> Option<Cow<'a, [f64]>> {
    match (lists, outputs, probabilities) {
        // A pair's decision is positive for the first of its classes.
        (1, [decision], _) if link == Link::Votes => Some(vec![-decision].into()),
        (1, [decision], _) => Some(vec![*decision].into()),
        (1, _, Some([_, second])) => Some(vec![*second].into()),
        (1, [first, second], None) if link != Link::Votes => Some(vec![second - first].into()),
        (_, _, Some(shares)) if shares.len() == lists => Some(shares.into()),
        (_, decisions, None) if link != Link::Votes && decisions.len() == lists => Some(decisions.into()),
        _ => None,
    }
}

/// The area of one list, from the mean rank of its rows (Hanley and McNeil 1982).
fn area(list: &[(f64, bool)]) -> Option<f64> {
    let mut sorted = list.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positive = sorted.iter().filter(|(_, is)| *is).count() as f64;
    let negative = sorted.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    let (mut below, mut sum) = (0.0, 0.0);
    for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
        let of_class = equal.iter().filter(|(_, is)| *is).count() as f64;
        let others = equal.len() as f64 - of_class;
        sum += of_class * (below + 0.5 * others);
        below += others;
    }
    Some(sum / (positive * negative))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(rows: &[(usize, f64)], link: Link) -> Option<f64> {
        let mut ranks = Ranks::new(2);
        rows.iter().for_each(|(truth, output)| ranks.add(*truth, link, &[*output], None));
        ranks.auc()
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        let rows = [(0, 0.1), (0, 0.4), (1, 0.35), (1, 0.8)];
        assert_eq!(binary(&rows, Link::Decisions), Some(0.75));
        assert_eq!(binary(&rows, Link::Votes), Some(0.25), "a pair's decision is for the first class");
        assert_eq!(binary(&[(0, 1.0), (1, 1.0)], Link::Decisions), Some(0.5));
        assert_eq!(binary(&[(1, 1.0), (1, 2.0)], Link::Decisions), None);
    }

    #[test]
    fn several_classes_have_the_mean_and_votes_have_none() {
        let mut ranks = Ranks::new(3);
        for (truth, shares) in [(0, [0.8, 0.1, 0.1]), (1, [0.2, 0.5, 0.3]), (2, [0.5, 0.2, 0.3])] {
            ranks.add(truth, Link::Shares, &shares, Some(&shares));
        }
        // Class 0 and 1 are above all others; class 2 ties with one of two.
        assert!((ranks.auc().unwrap() - (1.0 + 1.0 + 0.75) / 3.0).abs() < 1e-15);
        let mut votes = Ranks::new(3);
        votes.add(0, Link::Votes, &[1.0, 1.0, 1.0], None);
        assert_eq!(votes.auc(), None);
    }
}
