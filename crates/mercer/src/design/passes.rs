//! The operations of a design, computed from blocks of its rows.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::{Values, with_values};
use crate::linalg::{NormalEquations, RowProducts, zeroed};
use crate::watch::Watch;

use super::Design;
use super::error::DesignError;
use super::row_loss::{LossSums, RowLoss};

/// Rows of Φ that are held at a time.
const BLOCK: usize = 1_024;

/// Rows that are sorted into parts at a time.
const SORTED: usize = 16_384;

/// Rows of one task of a loss.
const LOSS_ROWS: usize = 128;

/// Tasks of a loss whose partial gradients are held at the same time.
const LOSS_TASKS: usize = 64;

/// Chosen rows that are computed at a time.
const CHOSEN: usize = 256;

/// The part of the data that each row belongs to, such as a fold of a cross-validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts<'a> {
    /// All rows are in part 0.
    All,
    /// The part of each row; rows of no part are left out.
    Table(&'a [Option<usize>]),
}

/// Calls `visit` with every block of at most `height` rows of Φ, in order and in double precision.
///
/// # Errors
/// Where rows cannot be computed, where `visit` fails, and where `watch` asks to stop.
pub fn for_blocks<D: Design + ?Sized>(
    design: &D,
    height: usize,
    watch: &dyn Watch,
    mut visit: impl FnMut(Range<usize>, &[f64]) -> Result<(), DesignError>,
) -> Result<(), DesignError> {
    let (n, width) = (design.nrows(), design.ncols());
    let height = height.min(n.max(1));
    let mut phi = zeroed(height * width);
    for first in (0..n).step_by(height) {
        watch.check()?;
        let rows = first..n.min(first + height);
        let phi = &mut phi[..rows.len() * width];
        design.fill(rows.clone(), (&mut *phi).into(), watch)?;
        visit(rows, phi)?;
    }
    Ok(())
}

/// out += α·ΦV for some rows of Φ, row-major, `outputs` columns of V and out.
pub fn add_product(out: &mut [f64], phi: &[f64], v: &Matrix<f64>, alpha: f64) {
    let (width, outputs) = (v.nrows(), v.ncols());
    if out.is_empty() || width == 0 {
        return;
    }
    let v = MatRef::from_row_major_slice(v.entries(), width, outputs);
    let slice = (out.len() / outputs).div_ceil(16).max(1);
    out.par_chunks_mut(slice * outputs).zip(phi.par_chunks(slice * width)).for_each(|(out, phi)| {
        let height = out.len() / outputs;
        let phi = MatRef::from_row_major_slice(phi, height, width);
        matmul(MatMut::from_row_major_slice_mut(out, height, outputs), Accum::Add, phi, v, alpha, Par::Seq);
    });
}

/// out += ΦᵀU for some rows of Φ and as many of U, row-major. Each entry of `out` is computed by one thread.
pub fn add_transposed_product(out: &mut Matrix<f64>, phi: &[f64], u: &[f64]) {
    let (width, outputs) = (out.nrows(), out.ncols());
    if phi.is_empty() || outputs == 0 {
        return;
    }
    let height = phi.len() / width;
    let phi = MatRef::from_row_major_slice(phi, height, width);
    let u = MatRef::from_row_major_slice(u, height, outputs);
    let strip = width.div_ceil(16).clamp(8, 128);
    out.entries_mut().par_chunks_mut(strip * outputs).enumerate().for_each(|(place, out)| {
        let rows = out.len() / outputs;
        let out = MatMut::from_row_major_slice_mut(out, rows, outputs);
        matmul(out, Accum::Add, phi.subcols(place * strip, rows).transpose(), u, 1.0, Par::Seq);
    });
}

/// Some rows of a row-major matrix.
fn rows_of<'a>(matrix: &'a Matrix<f64>, rows: &Range<usize>) -> &'a [f64] {
    &matrix.entries()[rows.start * matrix.ncols()..rows.end * matrix.ncols()]
}

pub(super) fn apply<D: Design + ?Sized>(
    design: &D,
    v: &Matrix<f64>,
    out: &mut Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(), DesignError> {
    let outputs = v.ncols();
    out.entries_mut().fill(0.0);
    for_blocks(design, BLOCK, watch, |rows, phi| {
        add_product(&mut out.entries_mut()[rows.start * outputs..rows.end * outputs], phi, v, 1.0);
        Ok(())
    })
}

pub(super) fn apply_transposed<D: Design + ?Sized>(
    design: &D,
    u: &Matrix<f64>,
    out: &mut Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(), DesignError> {
    out.entries_mut().fill(0.0);
    for_blocks(design, BLOCK, watch, |rows, phi| {
        add_transposed_product(out, phi, rows_of(u, &rows));
        Ok(())
    })
}

pub(super) fn normal<D: Design + ?Sized>(
    design: &D,
    v: &Matrix<f64>,
    weights: Option<&[f64]>,
    out: &mut Matrix<f64>,
    watch: &dyn Watch,
) -> Result<(), DesignError> {
    let outputs = v.ncols();
    out.entries_mut().fill(0.0);
    for_blocks(design, BLOCK, watch, |rows, phi| {
        let mut values = vec![0.0; rows.len() * outputs];
        add_product(&mut values, phi, v, 1.0);
        if let Some(weights) = weights {
            let rows = values.chunks_exact_mut(outputs.max(1)).zip(&weights[rows]);
            rows.for_each(|(values, w)| values.iter_mut().for_each(|value| *value *= w));
        }
        add_transposed_product(out, phi, &values);
        Ok(())
    })
}

pub(super) fn normal_equations<D: Design + ?Sized>(
    design: &D,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    parts: &Parts<'_>,
    into: &mut [NormalEquations],
    watch: &dyn Watch,
) -> Result<(), DesignError> {
    let n = design.nrows();
    for (what, found) in [
        ("the number of rows of targets", Some(targets.nrows())),
        ("the number of weights", weights.map(<[f64]>::len)),
    ] {
        if let Some(found) = found.filter(|found| *found != n) {
            return Err(DesignError::parameter(what, found, format!("{n}, one for each sample")));
        }
    }
    watch.begin("features", n as u64);
    let mut phi = Values::zeros(design.precision(), 0, design.ncols());
    let mut add = |sums: &mut NormalEquations, rows: &[usize]| {
        if phi.nrows() != rows.len() {
            phi = Values::zeros(design.precision(), rows.len(), design.ncols());
        }
        match (rows.first(), rows.last()) {
            (Some(&first), Some(&last)) if last - first + 1 == rows.len() => {
                design.fill(first..last + 1, phi.entries_mut(), watch)?;
            }
            _ => design.fill_at(rows, phi.entries_mut(), watch)?,
        }
        let weights: Option<Vec<f64>> = weights.map(|w| rows.iter().map(|&row| w[row]).collect());
        with_values!(Values, &phi, phi => sums.add(phi, &targets.select(rows), weights.as_deref(), watch))?;
        Ok::<_, DesignError>(())
    };
    for start in (0..n).step_by(SORTED) {
        let mut rows = vec![Vec::new(); into.len()];
        for row in start..n.min(start + SORTED) {
            let part = match parts {
                Parts::All => Some(0),
                Parts::Table(table) => table[row],
            };
            part.into_iter().for_each(|part| rows[part].push(row));
        }
        for (sums, rows) in into.iter_mut().zip(&rows) {
            for rows in rows.chunks(BLOCK) {
                add(sums, rows)?;
                watch.advance(rows.len() as u64);
            }
        }
    }
    Ok(())
}

pub(super) fn loss<D: Design + ?Sized>(
    design: &D,
    loss: &RowLoss<'_>,
    weights: &Matrix<f64>,
    intercepts: &[f64],
    gradient: &mut Matrix<f64>,
    watch: &dyn Watch,
) -> Result<LossSums, DesignError> {
    let (n, d, m) = (design.nrows(), design.ncols(), intercepts.len());
    let view = MatRef::from_row_major_slice(weights.entries(), d, m);
    let starts: Vec<usize> = (0..n).step_by(LOSS_ROWS).collect();
    gradient.entries_mut().fill(0.0);
    let mut sums = LossSums { value: 0.0, pull: vec![0.0; m], curvature: Some(0.0) };
    for starts in starts.chunks(LOSS_TASKS) {
        let parts = starts.par_iter().map(|&first| {
            watch.check()?;
            let rows = first..n.min(first + LOSS_ROWS);
            let height = rows.len();
            let mut phi = vec![0.0; height * d];
            design.fill(rows.clone(), (&mut phi).into(), watch)?;
            let phi = MatRef::from_row_major_slice(&phi, height, d);
            let mut f = intercepts.repeat(height);
            let out = MatMut::from_row_major_slice_mut(&mut f, height, m);
            matmul(out, Accum::Add, phi, view, 1.0, Par::Seq);
            let mut g = vec![0.0; height * m];
            let mut part = LossSums { value: 0.0, pull: vec![0.0; m], curvature: Some(0.0) };
            for (i, (f, g)) in rows.zip(f.chunks_exact(m).zip(g.chunks_exact_mut(m))) {
                part.value += loss.row(i, f, g);
                part.curvature = part.curvature.zip(loss.curvature_at(i, g)).map(|(a, b)| a + b);
                part.pull.iter_mut().zip(&*g).for_each(|(pull, g)| *pull += g);
            }
            let mut of_rows = vec![0.0; d * m];
            let out = MatMut::from_row_major_slice_mut(&mut of_rows, d, m);
            let g = MatRef::from_row_major_slice(&g, height, m);
            matmul(out, Accum::Replace, phi.transpose(), g, 1.0, Par::Seq);
            Ok::<_, DesignError>((part, of_rows))
        });
        for part in parts.collect::<Vec<_>>() {
            let (part, of_rows) = part?;
            sums.value += part.value;
            sums.curvature = sums.curvature.zip(part.curvature).map(|(a, b)| a + b);
            sums.pull.iter_mut().zip(&part.pull).for_each(|(to, from)| *to += from);
            gradient.entries_mut().iter_mut().zip(of_rows).for_each(|(to, from)| *to += from);
        }
    }
    Ok(sums)
}

pub(super) fn dots_at<D: Design + ?Sized>(
    design: &D,
    rows: &[usize],
    v: &[f64],
    out: &mut [f64],
    watch: &dyn Watch,
) -> Result<(), DesignError> {
    let width = design.ncols();
    let mut phi = vec![0.0; width * CHOSEN.min(rows.len())];
    for (rows, out) in rows.chunks(CHOSEN).zip(out.chunks_mut(CHOSEN)) {
        let phi = &mut phi[..rows.len() * width];
        design.fill_at(rows, (&mut *phi).into(), watch)?;
        RowProducts::new(phi, width).dot(v, out);
    }
    Ok(())
}

pub(super) fn combine_at<D: Design + ?Sized>(
    design: &D,
    rows: &[usize],
    u: &[f64],
    out: &mut [f64],
    watch: &dyn Watch,
) -> Result<(), DesignError> {
    let width = design.ncols();
    let mut phi = vec![0.0; width * CHOSEN.min(rows.len())];
    out.fill(0.0);
    for (rows, u) in rows.chunks(CHOSEN).zip(u.chunks(CHOSEN)) {
        let phi = &mut phi[..rows.len() * width];
        design.fill_at(rows, (&mut *phi).into(), watch)?;
        RowProducts::new(phi, width).combine(u, out);
    }
    Ok(())
}
