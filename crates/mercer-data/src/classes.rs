//! The classes of a target: their names in order, and each row's class as a number.

use serde::{Deserialize, Serialize};

use super::{Matrix, TargetValues};

/// Distinct labels, sorted if they come from [`of`](Self::of); numbers from elsewhere may be in another order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Classes {
    /// Labels that are integers, kept exactly.
    Integers(Vec<i64>),
    /// Labels that are numbers.
    Numbers(Vec<f64>),
    /// Labels that are texts, in the order of their bytes.
    Labels(Vec<String>),
}

impl Classes {
    /// The distinct values of a target, sorted, and the class of each row. Rows whose target is unknown (NaN, or the
    /// empty text) must be excluded. Texts that are all integers are [`Integers`](Self::Integers).
    #[must_use]
    pub fn of(values: &TargetValues) -> (Self, Vec<usize>) {
        match values {
            TargetValues::Numbers(values) => {
                // Adding 0 makes −0 and 0 one class.
                let mut sorted: Vec<f64> = values.iter().map(|v| v + 0.0).collect();
                sorted.sort_by(f64::total_cmp);
                sorted.dedup();
                let codes = values.iter().map(|v| sorted.partition_point(|s| s < v)).collect();
                (Self::Numbers(sorted), codes)
            }
            TargetValues::Labels(values) => {
                let integers: Option<Vec<i64>> = values.iter().map(|text| text.parse().ok()).collect();
                match integers {
                    Some(integers) => {
                        let (sorted, codes) = distinct(&integers);
                        (Self::Integers(sorted), codes)
                    }
                    None => {
                        let (sorted, codes) = distinct(values);
                        (Self::Labels(sorted), codes)
                    }
                }
            }
        }
    }

    /// The classes of one-class estimation: -1 for outliers and 1 for inliers.
    #[must_use]
    pub fn inliers() -> Self {
        Self::Integers(vec![-1, 1])
    }

    /// Number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Labels(values) => values.len(),
        }
    }

    /// Whether there is no class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of class `code` as text.
    ///
    /// # Panics
    /// If there is no such class.
    #[must_use]
    pub fn name(&self, code: usize) -> String {
        match self {
            Self::Integers(values) => values[code].to_string(),
            Self::Numbers(values) => values[code].to_string(),
            Self::Labels(values) => values[code].clone(),
        }
    }

    /// The class of a row of `values`: `None` if the row's target is unknown, `Err` with its label if that is not a
    /// class.
    ///
    /// # Errors
    /// The label of the row, if no training row had it.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn find(&self, values: &TargetValues, row: usize) -> Result<Option<usize>, String> {
        let (number, text) = match values {
            TargetValues::Numbers(values) if values[row].is_nan() => return Ok(None),
            TargetValues::Labels(values) if values[row].is_empty() => return Ok(None),
            TargetValues::Numbers(values) => (Some(values[row]), values[row].to_string()),
            TargetValues::Labels(values) => (values[row].parse().ok(), values[row].clone()),
        };
        let place = match self {
            Self::Integers(own) => match text.parse::<i64>() {
                Ok(integer) => own.iter().position(|v| *v == integer),
                Err(_) => number.and_then(|number| own.iter().position(|v| *v as f64 == number)),
            },
            Self::Numbers(own) => number.and_then(|number| own.iter().position(|v| *v == number)),
            Self::Labels(own) => own.iter().position(|v| *v == text),
        };
        place.map(Some).ok_or(text)
    }

    /// One column per class, 1 in the column of each row's class.
    #[must_use]
    pub fn one_hot(&self, codes: &[usize]) -> Matrix<f64> {
        let mut out = Matrix::zeros(codes.len(), self.len());
        codes.iter().enumerate().for_each(|(row, &code)| out.row_mut(row)[code] = 1.0);
        out
    }
}

/// The distinct values, sorted, and the index of each value among them.
fn distinct<T: Ord + Clone>(values: &[T]) -> (Vec<T>, Vec<usize>) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let codes = values.iter().map(|v| sorted.partition_point(|s| s < v)).collect();
    (sorted, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_as_numbers_and_texts_as_texts() {
        let (classes, codes) = Classes::of(&TargetValues::Numbers(vec![10.0, -0.0, 9.0, 0.0]));
        assert_eq!(classes, Classes::Numbers(vec![0.0, 9.0, 10.0]));
        assert_eq!(codes, [2, 0, 1, 0]);
        let labels = TargetValues::Labels(["b", "a", "10", "9"].map(String::from).to_vec());
        let (classes, codes) = Classes::of(&labels);
        assert_eq!(codes, [3, 2, 0, 1]);
        assert_eq!(classes.name(3), "b");
    }

    #[test]
    fn neighbouring_integers_beyond_the_doubles_stay_apart() {
        let texts = ["9007199254740993", "9007199254740992", "-7", "9007199254740993"];
        let rows = TargetValues::Labels(texts.map(String::from).to_vec());
        let (classes, codes) = Classes::of(&rows);
        assert_eq!(classes, Classes::Integers(vec![-7, 9_007_199_254_740_992, 9_007_199_254_740_993]));
        assert_eq!(codes, [2, 1, 0, 2]);
        assert_eq!(classes.name(2), texts[0]);
        assert_eq!(classes.find(&rows, 0), Ok(Some(2)));
        assert_eq!(classes.find(&rows, 1), Ok(Some(1)));
        assert_eq!(classes.find(&TargetValues::Numbers(vec![-7.0]), 0), Ok(Some(0)));
        let written = serde_json::to_string(&classes).unwrap();
        assert_eq!(written, "[-7,9007199254740992,9007199254740993]");
        assert_eq!(serde_json::from_str::<Classes>(&written).unwrap(), classes);
        let numbers = Classes::Numbers(vec![0.0, 1.0]);
        let written = serde_json::to_string(&numbers).unwrap();
        assert_eq!(
            serde_json::from_str::<Classes>(&written).unwrap(),
            numbers,
            "files of before have 0.0 and 1.0"
        );
    }

    #[test]
    fn rows_are_found_and_unknown_ones_named() {
        let (classes, _) = Classes::of(&TargetValues::Numbers(vec![1.0, 2.0]));
        let rows = TargetValues::Numbers(vec![2.0, f64::NAN, 3.0]);
        assert_eq!(classes.find(&rows, 0), Ok(Some(1)));
        assert_eq!(classes.find(&rows, 1), Ok(None));
        assert_eq!(classes.find(&rows, 2), Err("3".into()));
    }

    #[test]
    fn a_one_in_the_column_of_its_class() {
        let (classes, codes) = Classes::of(&TargetValues::Numbers(vec![5.0, 4.0]));
        assert_eq!(classes.one_hot(&codes).entries(), [0.0, 1.0, 1.0, 0.0]);
    }
}
