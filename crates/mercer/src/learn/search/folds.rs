//! A seeded assignment of rows to folds.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A number of folds into which the rows cannot be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{folds} folds of {rows} rows; there must be at least 2 and at most one per row")]
pub struct InvalidFolds {
    /// The number of folds requested.
    pub folds: usize,
    /// The number of rows.
    pub rows: usize,
}

/// The fold, from 0, of every row: `folds` of them, chosen by `seed`, whose sizes differ by one row at most.
///
/// # Errors
/// If there are fewer than two folds, or more than rows.
pub fn assign_folds(rows: usize, folds: usize, seed: u64) -> Result<Vec<usize>, InvalidFolds> {
    if folds < 2 || folds > rows {
        return Err(InvalidFolds { folds, rows });
    }
    let mut assignment: Vec<usize> = (0..rows).map(|i| i % folds).collect();
    assignment.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    Ok(assignment)
}

/// The fold, from 0, of every row, such that each class is spread over all folds as evenly as possible.
///
/// The folds' shares of the classes are those of scikit-learn's `StratifiedKFold`, and without a seed so are the rows: each class
/// is cut into blocks in the order of its rows. A seed shuffles the rows of each class first.
///
/// # Errors
/// If there are fewer than two folds, or more than rows.
pub fn stratify_folds(codes: &[usize], folds: usize, seed: Option<u64>) -> Result<Vec<usize>, InvalidFolds> {
    let rows = codes.len();
    if folds < 2 || folds > rows {
        return Err(InvalidFolds { folds, rows });
    }
    // Classes in the order they appear in.
    let mut classes: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut place_of = std::collections::HashMap::new();
    for (row, &code) in codes.iter().enumerate() {
        let place = *place_of.entry(code).or_insert_with(|| {
            classes.push((code, Vec::new()));
            classes.len() - 1
        });
        classes[place].1.push(row);
    }
    let mut rng = seed.map(Xoshiro256PlusPlus::seed_from_u64);
    let mut assignment = vec![0; rows];
    let mut dealt = 0;
    for (_, members) in &mut classes {
        // The number of rows of each fold if all rows, in the order of their classes, are dealt out in turn.
        let mut shares = vec![0; folds];
        (dealt..dealt + members.len()).for_each(|place| shares[place % folds] += 1);
        dealt += members.len();
        if let Some(rng) = &mut rng {
            members.shuffle(rng);
        }
        let by_fold = shares.iter().enumerate().flat_map(|(fold, &share)| std::iter::repeat_n(fold, share));
        members.iter().zip(by_fold).for_each(|(&row, fold)| assignment[row] = fold);
    }
    Ok(assignment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_match_scikit_learn() {
        // StratifiedKFold(3) on these labels.
        let codes = [1, 0, 0, 1, 2, 1, 0, 1, 1, 2, 0];
        assert_eq!(stratify_folds(&codes, 3, None).unwrap(), [0, 0, 1, 0, 0, 1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn a_seed_changes_rows_and_not_shares() {
        let codes: Vec<usize> = (0..50).map(|i| usize::from(i % 5 == 0)).collect();
        let (plain, seeded) =
            (stratify_folds(&codes, 4, None).unwrap(), stratify_folds(&codes, 4, Some(1)).unwrap());
        assert_ne!(plain, seeded);
        for fold in 0..4 {
            for class in 0..2 {
                let count =
                    |folds: &[usize]| (0..50).filter(|&i| folds[i] == fold && codes[i] == class).count();
                assert_eq!(count(&plain), count(&seeded));
            }
        }
        assert_eq!(stratify_folds(&codes, 4, Some(1)).unwrap(), seeded);
    }

    #[test]
    fn folds_are_of_one_size_and_depend_on_the_seed_alone() {
        let folds = assign_folds(103, 5, 7).unwrap();
        let sizes: Vec<usize> = (0..5).map(|fold| folds.iter().filter(|f| **f == fold).count()).collect();
        assert_eq!(sizes, [21, 21, 21, 20, 20]);
        assert_eq!(assign_folds(103, 5, 7).unwrap(), folds);
        assert_ne!(assign_folds(103, 5, 8).unwrap(), folds);
    }

    #[test]
    fn too_few_or_too_many_folds_are_refused() {
        for folds in [0, 1, 5] {
            assert_eq!(assign_folds(4, folds, 0), Err(InvalidFolds { folds, rows: 4 }));
        }
    }
}
