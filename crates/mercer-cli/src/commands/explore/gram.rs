//! The kernel matrix of the points: its entries, its eigenvalues, the distances it induces.

use mercer::data::{AnySamples, Dataset};
use mercer::gram::{Part, Wanted, kernel_to_distance};
use mercer::kernel::Kernel;
use mercer::linalg::Eigen;
use mercer::session::Session;
use serde::Serialize;

use super::picture::{Grid, short};
use super::points::{Points, Values};
use super::prepared::{Prepared, kernel};
use super::state::State;
use crate::failure::Failure;

/// The most rows of the matrix that are drawn, and the most rows whose eigenvalues are computed.
const MOST_ROWS: usize = 200;

/// The number of pairs of rows whose distances are drawn.
const MOST_PAIRS: usize = 1_500;

/// The matrix to draw.
#[derive(Debug, Serialize)]
pub struct GramPicture {
    /// The rows in their order: sorted by the target.
    order: Vec<usize>,
    /// Rows of the data.
    all: usize,
    /// The entries, row after row.
    values: Vec<f32>,
    /// The eigenvalues, from the largest to the smallest.
    eigenvalues: Vec<f64>,
    /// λ, and tr K(K + λI)⁻¹.
    lambda: f64,
    effective_dimension: f64,
    /// For pairs of rows: the Euclidean distance and the induced one.
    pairs: Vec<(f32, f32)>,
    /// A note if the matrix has a negative eigenvalue.
    note: Option<String>,
}

/// A kernel with its numbers, and scaled samples.
pub fn resolved(
    prepared: &Prepared,
    state: &State,
    session: &Session<'_>,
) -> Result<(Kernel, AnySamples<'static>), Failure> {
    let (problem, _) = prepared.rows.problem()?;
    let samples = problem.samples()?.view().into_owned();
    let kernel: Kernel = kernel(state).parse()?;
    if !kernel.tunables()?.is_empty() {
        return Err(Failure::usage("the kernel has `?`, which asks for tuning"));
    }
    let kernel = kernel.resolve_auto(&session.scales(&samples))?;
    kernel.check_columns(samples.ncols())?;
    Ok((kernel, samples))
}

/// The rows sorted by their target, evenly thinned out.
fn order(points: &Points) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.nrows()).collect();
    match &points.values {
        Values::Numbers(y) => order.sort_by(|&a, &b| y[a].total_cmp(&y[b]).then(a.cmp(&b))),
        Values::Classes { codes, .. } => order.sort_by_key(|&row| (codes[row], row)),
    }
    let stride = order.len().div_ceil(MOST_ROWS).max(1);
    order.into_iter().step_by(stride).collect()
}

/// The matrix of a state's points.
pub fn gram(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<GramPicture, Failure> {
    let prepared = Prepared::new(state, file)?;
    let (kernel, samples) = resolved(&prepared, state, session)?;
    let order = order(&prepared.points);
    let n = order.len();
    let chosen = samples.select(&order);
    let mut values = vec![0f64; n * n];
    let resident = session.load(&chosen)?;
    resident.gram(&kernel, Wanted::Double)?.fill(Part::Full, (&mut values).into(), session)?;
    if let Some(place) = values.iter().position(|value| !value.is_finite()) {
        let (row, column) = (order[place / n], order[place % n]);
        return Err(Failure::work(format!("k(x, z) is not a finite number at rows {row} and {column}")));
    }
    let mut eigenvalues = Eigen::of(n, &values).map_err(Failure::work)?.values;
    eigenvalues.reverse();
    let lambda = state.number("lambda", 0.1)?;
    let rounding = n as f64 * f64::EPSILON * eigenvalues.first().map_or(0.0, |top| top.abs());
    let lowest = eigenvalues.last().copied().unwrap_or(0.0);
    let note = (lowest < -8.0 * rounding).then(|| {
        format!(
            "the smallest eigenvalue is {lowest:.3e}: on these points the matrix is not positive semidefinite"
        )
    });
    let effective = eigenvalues.iter().map(|value| value.max(0.0) / (value.max(0.0) + lambda)).sum::<f64>();
    Ok(GramPicture {
        pairs: pairs(&values, &chosen),
        values: short(&values),
        effective_dimension: if lambda > 0.0 { effective } else { f64::NAN },
        all: prepared.points.nrows(),
        order,
        eigenvalues,
        lambda,
        note,
    })
}

/// Distances of some pairs of rows: Euclidean, and induced by the kernel.
fn pairs(gram: &[f64], samples: &AnySamples<'_>) -> Vec<(f32, f32)> {
    let n = samples.nrows();
    let diagonal: Vec<f64> = (0..n).map(|i| gram[i * n + i]).collect();
    let mut distances = gram.to_vec();
    kernel_to_distance(&mut distances, &diagonal, &diagonal);
    let all: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let stride = all.len().div_ceil(MOST_PAIRS).max(1);
    let (mut x, mut z) = (vec![0.0; samples.ncols()], vec![0.0; samples.ncols()]);
    let pair = |&(i, j): &(usize, usize)| {
        samples.copy_row(i, &mut x);
        samples.copy_row(j, &mut z);
        let plain = x.iter().zip(&z).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        (plain as f32, distances[i * n + j] as f32)
    };
    all.iter().step_by(stride).map(pair).collect()
}

/// Induced distances from one row.
#[derive(Debug, Serialize)]
pub struct Distances {
    /// The row.
    pivot: usize,
    grid: Grid,
    /// √(k(x,x) − 2k(x,p) + k(p,p)) at each place.
    values: Vec<f32>,
}

/// The distances that the kernel induces from one row to every place.
pub fn distances(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<Distances, Failure> {
    let prepared = Prepared::new(state, file)?;
    let (kernel, samples) = resolved(&prepared, state, session)?;
    let pivot = state.whole("pivot", 0, 0, samples.nrows() - 1)?;
    let grid = Grid::new(state, &prepared.points, 64)?;
    let (problem, _) = prepared.rows.problem()?;
    let places =
        mercer::data::Samples::dense(grid.rows.len() / samples.ncols(), samples.ncols(), grid.rows.clone());
    let places = problem.origin.scaling.apply(AnySamples::F64(places.map_err(Failure::work)?))?;
    let (rows, centre) = (session.load(&places)?, session.load(&samples.select(&[pivot]))?);
    let mut values = vec![0f64; places.nrows()];
    rows.cross(&kernel, &*centre)?.fill(Part::Full, (&mut values).into(), session)?;
    let of_places = rows.gram(&kernel, Wanted::Double)?.diagonal().into_owned();
    let of_centre = centre.gram(&kernel, Wanted::Double)?.diagonal().into_owned();
    kernel_to_distance(&mut values, &of_places, &of_centre);
    Ok(Distances { pivot, grid, values: short(&values) })
}
