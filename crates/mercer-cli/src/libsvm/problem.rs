//! LIBSVM's data files: `label index:value …`, indices ascending; index 0 is the row's number of a precomputed kernel.

use std::fs;

use mercer::data::{AnySamples, Samples};

use super::Refusal;

/// Rows with their labels.
pub struct Problem {
    /// The label of each row.
    pub labels: Vec<f64>,
    /// The features of each row: index and value.
    pub rows: Vec<Vec<(u32, f64)>>,
    /// The largest index.
    pub largest: usize,
}

impl Problem {
    /// Reads a file.
    pub fn read(path: &str) -> Result<Self, Refusal> {
        let bytes = fs::read(path).map_err(|_| Refusal::new(format!("can't open input file {path}")))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut problem = Self { labels: Vec::new(), rows: Vec::new(), largest: 0 };
        for (place, line) in text.lines().enumerate() {
            let (label, row) = parse(line)
                .ok_or_else(|| Refusal::new(format!("Wrong input format at line {}", place + 1)))?;
            problem.largest = problem.largest.max(row.last().map_or(0, |(index, _)| *index as usize));
            problem.labels.push(label);
            problem.rows.push(row);
        }
        Ok(problem)
    }

    /// The rows as samples of `ncols` columns, column c being index c + 1; dense if few entries are zero.
    pub fn samples(&self, ncols: usize) -> Result<AnySamples<'static>, Refusal> {
        let entries = self.rows.len() as f64 * ncols as f64;
        let stored: usize = self.rows.iter().map(Vec::len).sum();
        let own = |row: &[(u32, f64)]| -> Vec<(u32, f64)> {
            row.iter().copied().filter(|(index, _)| *index > 0).collect()
        };
        let samples = if stored as f64 >= 0.4 * entries && entries < 1e9 {
            let mut dense = vec![0.0; self.rows.len() * ncols];
            for (row, out) in self.rows.iter().zip(dense.chunks_exact_mut(ncols.max(1))) {
                own(row).iter().for_each(|(index, value)| out[*index as usize - 1] = *value);
            }
            Samples::dense(self.rows.len(), ncols, dense)
        } else {
            let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in &self.rows {
                for (index, value) in own(row) {
                    indices.push(index - 1);
                    values.push(value);
                }
                indptr.push(indices.len());
            }
            Samples::sparse(ncols, indptr, indices, values)
        };
        samples.map(AnySamples::F64).map_err(Refusal::new)
    }
}

/// The label and features of a line.
fn parse(line: &str) -> Option<(f64, Vec<(u32, f64)>)> {
    let mut fields = line.split_ascii_whitespace();
    let finite = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let label = finite(fields.next()?)?;
    let mut row: Vec<(u32, f64)> = Vec::new();
    for field in fields {
        let (index, value) = field.split_once(':')?;
        let (index, value) = (index.parse().ok().filter(|i: &u32| *i < u32::MAX)?, finite(value)?);
        if row.last().is_some_and(|(before, _)| *before >= index) {
            return None;
        }
        row.push((index, value));
    }
    Some((label, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        assert_eq!(parse("+1 1:0.5 3:-2e-1 "), Some((1.0, vec![(1, 0.5), (3, -0.2)])));
        assert_eq!(parse("-1"), Some((-1.0, vec![])));
        assert_eq!(parse("2 0:7 1:1"), Some((2.0, vec![(0, 7.0), (1, 1.0)])));
        for bad in ["", "x 1:2", "1 2:1 1:1", "1 1:1 1:2", "1 a:1", "1 1:b", "1 1", "1 1:nan"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
