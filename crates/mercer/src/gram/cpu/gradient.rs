//! Derivatives of a kernel matrix, summed tile by tile.

use rayon::prelude::*;

use crate::gram::operator::KernelGradient;
use crate::tile::{Filler, Operand, Rectangle, Scratch};
use crate::watch::{Stopped, Watch};

use super::tiled::TILE;

/// One matrix for each output of a program, of `x` (rows) and `z` (columns).
#[derive(Debug)]
pub(super) struct GradientMatrix {
    filler: Filler,
    x: Operand<f64>,
    /// `None`: the same samples as `x`.
    z: Option<Operand<f64>>,
}

impl GradientMatrix {
    pub fn new(filler: Filler, x: Operand<f64>, z: Option<Operand<f64>>) -> Self {
        Self { filler, x, z }
    }

    fn z(&self) -> &Operand<f64> {
        self.z.as_ref().unwrap_or(&self.x)
    }

    fn outputs(&self) -> usize {
        self.filler.program().outputs.len()
    }

    /// Σ W·∂k over one tile for each output.
    fn contract_tile(
        &self,
        (row, col): (usize, usize),
        weights: &[f64],
        scratch: &mut Scratch<f64>,
    ) -> Vec<f64> {
        let (x, z) = (&self.x, self.z());
        let (rows, cols) = (row..x.nrows().min(row + TILE), col..z.nrows().min(col + TILE));
        let rectangle = Rectangle { x, rows, z, cols: cols.clone() };
        let mut sums = vec![0.0; self.outputs()];
        self.filler.fill_outputs(&rectangle, scratch, &mut |output, block| {
            for (r, row) in block.rows.clone().enumerate() {
                let weights = &weights[row * z.nrows() + cols.start..][..cols.len()];
                sums[output] += dot(weights, &block.values[r * block.stride..][..cols.len()]);
            }
        });
        sums
    }
}

/// Σ a·b in eight interleaved sums, which the processor adds at the same time.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (head_a, tail_a) = a.as_chunks::<LANES>();
    let (head_b, tail_b) = b.as_chunks::<LANES>();
    for (a, b) in head_a.iter().zip(head_b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = tail_a.iter().zip(tail_b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

impl KernelGradient for GradientMatrix {
    fn nrows(&self) -> usize {
        self.x.nrows()
    }

    fn ncols(&self) -> usize {
        self.z().nrows()
    }

    fn len(&self) -> usize {
        self.outputs()
    }

    fn reads_both_triangles(&self) -> bool {
        self.z.is_some() || !self.filler.program().is_symmetric()
    }

    fn contract(&self, weights: &[f64], watch: &dyn Watch) -> Result<Vec<f64>, Stopped> {
        let (n, m) = (self.nrows(), self.ncols());
        assert_eq!(weights.len(), n * m, "weights of a {n} × {m} matrix");
        if self.outputs() == 0 {
            return Ok(Vec::new());
        }
        let mirror = !self.reads_both_triangles();
        let tiles: Vec<(usize, usize)> = (0..n)
            .step_by(TILE)
            .flat_map(|i| (0..m).step_by(TILE).map(move |j| (i, j)))
            .filter(|(i, j)| j <= i || !mirror)
            .collect();
        let parts = tiles
            .into_par_iter()
            .map_init(Scratch::default, |scratch, (row, col)| {
                watch.check()?;
                let mut sums = if mirror && row == col {
                    self.contract_diagonal_tile(row, weights, scratch)
                } else {
                    self.contract_tile((row, col), weights, scratch)
                };
                if mirror && col < row {
                    sums.iter_mut().for_each(|sum| *sum *= 2.0);
                }
                Ok(sums)
            })
            .collect::<Result<Vec<_>, Stopped>>()?;
        let mut total = vec![0.0; self.outputs()];
        for part in parts {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        }
        Ok(total)
    }

    fn contract_diagonal(&self, weights: &[f64]) -> Vec<f64> {
        let n = self.nrows();
        assert!(n == self.ncols() && weights.len() == n, "one weight for each row of a square matrix");
        const SIDE: usize = 32;
        let starts: Vec<usize> = (0..n).step_by(SIDE).collect();
        let parts: Vec<Vec<f64>> = starts
            .into_par_iter()
            .map_init(Scratch::default, |scratch, start| {
                let rows = start..n.min(start + SIDE);
                let rectangle = Rectangle { x: &self.x, rows: rows.clone(), z: self.z(), cols: rows };
                let mut sums = vec![0.0; self.outputs()];
                self.filler.fill_outputs(&rectangle, scratch, &mut |output, block| {
                    for (r, row) in block.rows.clone().enumerate() {
                        sums[output] += weights[row] * block.values[r * block.stride + row - start];
                    }
                });
                sums
            })
            .collect();
        let mut total = vec![0.0; self.outputs()];
        for part in parts {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        }
        total
    }
}

impl GradientMatrix {
    /// A tile on the diagonal from the weights on and below it: those below count twice.
    fn contract_diagonal_tile(&self, start: usize, weights: &[f64], scratch: &mut Scratch<f64>) -> Vec<f64> {
        let n = self.nrows();
        let rows = start..n.min(start + TILE);
        let rectangle = Rectangle { x: &self.x, rows: rows.clone(), z: &self.x, cols: rows };
        let mut sums = vec![0.0; self.outputs()];
        self.filler.fill_outputs(&rectangle, scratch, &mut |output, block| {
            for (r, row) in block.rows.clone().enumerate() {
                let below = row - start;
                let weights = &weights[row * n + start..][..=below];
                let values = &block.values[r * block.stride..][..=below];
                sums[output] +=
                    2.0 * dot(&weights[..below], &values[..below]) + weights[below] * values[below];
            }
        });
        sums
    }
}
