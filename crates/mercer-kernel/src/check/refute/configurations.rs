//! Finite sets of candidate points: a few round ones first, then lines, grids, simplices and polygons.

use std::iter;

use crate::check::Domain;

/// Points of one dimension, as doubles with few digits.
pub type Pool = Vec<Vec<f64>>;

const SPACINGS: [f64; 10] = [1.0, 0.5, 0.25, 2.0, 0.1, 0.75, 3.0, 0.05, 6.0, 0.02];

/// Round points near the origin.
pub fn small(dim: usize) -> Pool {
    let mut pool = vec![vec![0.0; dim]];
    for value in
        [1.0, 2.0, -1.0, 3.0, 0.5, -2.0, 0.25, 4.0, 0.1, -0.5, 5.0, 10.0, 7.0, 20.0, -3.0, 1.5, 6.0, 100.0]
    {
        pool.push(along(dim, 0, value));
    }
    if dim > 1 {
        for value in [1.0, 2.0, -1.0, 0.5, 3.0, 10.0] {
            pool.push(along(dim, 1, value));
        }
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (2.0, 1.0), (1.0, 2.0), (0.5, 0.5), (3.0, 1.0), (10.0, 1.0)] {
            let mut point = along(dim, 0, a);
            point[1] = b;
            pool.push(point);
        }
    }
    for axis in 2..dim.min(6) {
        pool.push(along(dim, axis, 1.0));
    }
    if dim > 2 {
        pool.push(vec![1.0; dim]);
        pool.push(vec![0.5; dim]);
    }
    pool
}

/// Points on the rim of a ball, first along the axes.
pub fn rim(dim: usize, radius: f64) -> Pool {
    let mut pool = vec![along(dim, 0, radius), along(dim, 0, -radius)];
    if dim > 1 {
        pool.push(along(dim, 1, radius));
    }
    pool.push(along(dim, 0, 0.5 * radius));
    pool.push(along(dim, 0, 0.0));
    pool
}

/// Points farther and farther out on an axis, each with its opposite.
pub fn far(dim: usize) -> impl Iterator<Item = [Vec<f64>; 2]> {
    iter::successors(Some(1.0_f64), |t| Some(t * 1.25).filter(|t| *t < 1e6))
        .map(move |t| [along(dim, 0, round(t)), along(dim, 0, -round(t))])
}

/// Larger sets for one dimension, from plain to elaborate.
pub fn structured(dim: usize) -> impl Iterator<Item = Pool> {
    let lines = SPACINGS.into_iter().flat_map(move |h| [(h, 8, 0), (h, 13, 6), (h, 13, 0), (h, 13, -7)]).map(
        move |(h, count, shift)| -> Pool {
            (0..count).map(|i| along(dim, 0, round(f64::from(i - shift) * h))).collect()
        },
    );
    let simplices = (dim > 1).then_some(SPACINGS).into_iter().flatten().map(move |h| simplex(dim, h));
    let grids = (dim > 1)
        .then_some([1.0, 0.5, 0.3, 0.75, 2.0, 0.6, 0.9, 0.4, 0.2, 1.5, 3.0, 4.5])
        .into_iter()
        .flatten()
        .flat_map(move |h| [grid(dim, 5, h, 0.0), grid(dim, 7, h, 0.5), triangular(dim, 6, h)]);
    let polygons =
        (dim > 1).then_some([1.0, 0.5, 2.0, 4.0, 8.0, 0.25]).into_iter().flatten().flat_map(move |radius| {
            [polygon(dim, 7, radius), polygon(dim, 12, radius), polygon(dim, 25, radius)]
        });
    let lattices = (dim > 2)
        .then_some([1.0, 0.5, 0.7, 1.5, 2.5])
        .into_iter()
        .flatten()
        .flat_map(move |h| [cube(dim, h), corners(dim, h)]);
    lines.chain(simplices).chain(grids).chain(polygons).chain(lattices)
}

/// The set moved into the domain, without points that cannot be moved.
pub fn fit(pool: &Pool, domain: Domain) -> Pool {
    let mut fitted: Pool = match domain {
        Domain::All => pool.clone(),
        Domain::Orthant => {
            let lowest: Vec<f64> =
                (0..pool[0].len()).map(|j| pool.iter().map(|p| p[j]).fold(0.0, f64::min)).collect();
            pool.iter().map(|p| p.iter().zip(&lowest).map(|(c, l)| round(c - l)).collect()).collect()
        }
        Domain::Ball(radius) => {
            let largest = pool.iter().map(|p| norm(p)).fold(0.0, f64::max);
            let inside = pool.iter().filter(|p| norm(p) <= radius * 0.999_999).cloned().collect::<Pool>();
            if inside.len() * 3 >= pool.len() {
                inside
            } else {
                let scale = radius * 0.999 / largest.max(1e-300);
                let inwards = |c: &f64| towards_zero(c * scale, radius);
                pool.iter().map(|p| p.iter().map(inwards).collect()).collect()
            }
        }
        Domain::Box(low, high) => fit_into_box(pool, low, high),
        Domain::Sphere => Vec::new(),
    };
    let mut seen: Pool = Vec::new();
    fitted.retain(|p| {
        let new = !seen.contains(p);
        if new {
            seen.push(p.clone());
        }
        new
    });
    fitted
}

/// The number with few digits beside `size`, and not larger in absolute value.
fn towards_zero(value: f64, size: f64) -> f64 {
    let unit = 10f64.powi(4 - size.log10().floor().clamp(-300.0, 0.0) as i32);
    (value * unit).trunc() / unit
}

/// The points inside, or the whole set moved and scaled into the box where few are inside; and two corners.
fn fit_into_box(pool: &Pool, low: f64, high: f64) -> Pool {
    let is_inside = |p: &&Vec<f64>| p.iter().all(|c| low <= *c && *c <= high);
    let mut fitted: Pool = pool.iter().filter(is_inside).cloned().collect();
    if fitted.len() * 3 < pool.len() {
        // A few distant points would contract the others.
        let near = |c: &f64| c.clamp(-3.0, 3.0);
        let least = pool.iter().flatten().map(near).fold(f64::INFINITY, f64::min);
        let most = pool.iter().flatten().map(near).fold(f64::NEG_INFINITY, f64::max);
        let scale = (high - low) / (most - least).max(1e-300);
        let into = |c: &f64| round(low + (near(c) - least) * scale).clamp(low, high);
        fitted = pool.iter().map(|p| p.iter().map(into).collect()).collect();
    }
    let dim = pool.first().map_or(0, Vec::len);
    fitted.extend([vec![low; dim], vec![high; dim]]);
    fitted
}

fn along(dim: usize, axis: usize, value: f64) -> Vec<f64> {
    let mut point = vec![0.0; dim];
    point[axis] = value;
    point
}

fn simplex(dim: usize, h: f64) -> Pool {
    let used = dim.min(24);
    let mut pool = vec![vec![0.0; dim]];
    pool.extend((0..used).map(|axis| along(dim, axis, h)));
    pool.extend((0..used).map(|axis| along(dim, axis, -h)));
    pool.push(vec![h; dim]);
    pool.push(vec![-h; dim]);
    pool
}

fn grid(dim: usize, side: usize, h: f64, shift: f64) -> Pool {
    let plane = (0..side).flat_map(|i| (0..side).map(move |j| (i as f64 - shift, j as f64 - shift)));
    plane.map(|(i, j)| in_plane(dim, i * h, j * h)).collect()
}

fn triangular(dim: usize, side: usize, h: f64) -> Pool {
    let plane = (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    plane
        .map(|(i, j)| {
            let across = i as f64 + 0.5 * (j % 2) as f64;
            in_plane(dim, round(across * h), round(j as f64 * h * 0.866))
        })
        .collect()
}

fn polygon(dim: usize, corners: usize, radius: f64) -> Pool {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / corners as f64;
    let rim =
        (0..corners).map(|i| in_plane(dim, round(radius * angle(i).cos()), round(radius * angle(i).sin())));
    iter::once(vec![0.0; dim]).chain(rim).collect()
}

/// {0, h, 2h}³ in the first three coordinates.
fn cube(dim: usize, h: f64) -> Pool {
    let mut pool = Vec::new();
    for code in 0..27_usize {
        let mut point = vec![0.0; dim];
        for (axis, unit) in [1, 3, 9].into_iter().enumerate() {
            point[axis] = (code / unit % 3) as f64 * h;
        }
        pool.push(point);
    }
    pool
}

/// The corners {0, h}^m of a cube in up to six coordinates, and its centre.
fn corners(dim: usize, h: f64) -> Pool {
    let axes = dim.min(6);
    let mut pool: Pool = (0..1_usize << axes)
        .map(|code| (0..dim).map(|axis| if axis < axes && code >> axis & 1 == 1 { h } else { 0.0 }).collect())
        .collect();
    pool.push((0..dim).map(|axis| if axis < axes { h / 2.0 } else { 0.0 }).collect());
    pool
}

fn in_plane(dim: usize, a: f64, b: f64) -> Vec<f64> {
    let mut point = vec![0.0; dim];
    point[0] = a;
    point[1] = b;
    point
}

/// The Euclidean norm.
pub fn norm(point: &[f64]) -> f64 {
    point.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// Four decimals for ordinary sizes, so that the printed point is the point.
pub fn round(value: f64) -> f64 {
    let digits = if value.abs() < 1e-2 { 1e7 } else { 1e4 };
    (value * digits).round() / digits
}
