//! Values on a grid, and the areas above a level, by marching squares.

use super::axis::{Axis, extent};
use super::colour::ColourScale;
use super::error::{PlotError, check, check_length};
use super::figure::Point;

/// The values of a function of two variables on a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The columns of the grid, at least two, rising.
    pub xs: Vec<f64>,
    /// The rows of the grid, at least two, rising.
    pub ys: Vec<f64>,
    /// Its values, row by row: that at (xs\[i\], ys\[j\]) is `values[j * xs.len() + i]`.
    pub values: Vec<f64>,
}

/// A closed line around an area above a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Ring {
    /// Its points, with the area above to the left.
    pub points: Vec<Point>,
    /// Whether each point is on the edge of the grid, where the ring closes an area cut off by the grid.
    pub on_edge: Vec<bool>,
}

impl Ring {
    fn keeping(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.points.len()).filter(|&i| keep(i)).collect();
        Self {
            points: kept.iter().map(|&i| self.points[i]).collect(),
            on_edge: kept.iter().map(|&i| self.on_edge[i]).collect(),
        }
    }

    /// The pieces that follow the level, without those along the edge of the grid.
    pub fn level_lines(&self) -> Vec<Vec<Point>> {
        let n = self.points.len();
        let edge = |i: usize| self.on_edge[i % n] && self.on_edge[(i + 1) % n];
        let Some(first) = (0..n).find(|&i| edge(i)) else {
            let mut whole = self.points.clone();
            whole.extend(self.points.first());
            return vec![whole];
        };
        let mut lines: Vec<Vec<Point>> = Vec::new();
        let mut open = false;
        for i in first + 1..first + n {
            if edge(i) {
                open = false;
                continue;
            }
            if !open {
                lines.push(vec![self.points[i % n]]);
                open = true;
            }
            if let Some(line) = lines.last_mut() {
                line.push(self.points[(i + 1) % n]);
            }
        }
        lines
    }
}

impl Field {
    /// Rejects a grid with fewer than two rows or columns, one that does not increase, and values that cannot be drawn.
    pub fn check(&self, what: &str) -> Result<(), PlotError> {
        for (axis, places) in [("columns", &self.xs), ("rows", &self.ys)] {
            let name = format!("{what}, {axis} of the grid");
            check(&name, places.iter().copied())?;
            if places.len() < 2 {
                return Err(PlotError::Length { what: name, found: places.len(), expected: 2 });
            }
            if let Some(index) = (1..places.len()).find(|&i| places[i] <= places[i - 1]) {
                return Err(PlotError::NotRising { what: name, index, value: places[index] });
            }
        }
        check_length(what, &self.values, self.xs.len() * self.ys.len())?;
        check(what, self.values.iter().copied())
    }

    /// The ends of the grid: left, right, bottom, top.
    pub fn bounds(&self) -> [f64; 4] {
        let ends = |places: &[f64]| (places[0], places[places.len() - 1]);
        let ((left, right), (bottom, top)) = (ends(&self.xs), ends(&self.ys));
        [left, right, bottom, top]
    }

    /// The axes of the grid.
    pub fn axes(&self, [x, y]: &[String; 2]) -> [Axis; 2] {
        let [left, right, bottom, top] = self.bounds();
        [Axis::linear(x, left, right), Axis::linear(y, bottom, top)]
    }

    /// The values at the ends of a colour scale.
    pub fn colour_axis(&self, label: &str, scale: ColourScale) -> Axis {
        let (lo, hi) = extent(self.values.iter().copied());
        let (lo, hi) = scale.ends(lo, hi);
        Axis::linear(label, lo, hi)
    }

    /// The same grid with other values.
    pub fn with(&self, values: Vec<f64>) -> Self {
        Self { xs: self.xs.clone(), ys: self.ys.clone(), values }
    }

    /// The field on a grid `times` as fine, bilinear between its values.
    pub fn refined(&self, times: usize) -> Self {
        let finer = |places: &[f64]| -> Vec<f64> {
            let part = |pair: &[f64], k: usize| pair[0] + (pair[1] - pair[0]) * k as f64 / times as f64;
            let inner =
                places.windows(2).flat_map(|pair| (0..times).map(|k| part(pair, k)).collect::<Vec<_>>());
            inner.chain(places.last().copied()).collect()
        };
        let (xs, ys) = (finer(&self.xs), finer(&self.ys));
        let rows: Vec<Vec<f64>> = self.values.chunks(self.xs.len()).map(finer).collect();
        let columns: Vec<Vec<f64>> =
            (0..xs.len()).map(|i| finer(&rows.iter().map(|row| row[i]).collect::<Vec<_>>())).collect();
        let values = (0..ys.len()).flat_map(|j| columns.iter().map(move |column| column[j])).collect();
        Self { xs, ys, values }
    }

    /// The rings around {f ≥ level}, f linear along the edges of the grid; even-odd tells inside from outside.
    ///
    /// Marching squares (Lorensen and Cline, 1987, in the plane) on the grid with one more row and column of −∞ all around,
    /// which lie on its edge: so every ring closes. The mean of the corners decides a saddle. O(cells).
    pub fn above(&self, level: f64) -> Vec<Ring> {
        let march = March { field: self, level, width: self.xs.len() + 2, height: self.ys.len() + 2 };
        march.rings()
    }
}

struct March<'a> {
    field: &'a Field,
    level: f64,
    /// Nodes in a row, those of −∞ counted.
    width: usize,
    height: usize,
}

const NONE: usize = usize::MAX;

impl March<'_> {
    /// The value at a node; none at the nodes of −∞.
    fn value(&self, i: usize, j: usize) -> Option<f64> {
        let inside = (1..self.width - 1).contains(&i) && (1..self.height - 1).contains(&j);
        inside.then(|| self.field.values[(j - 1) * self.field.xs.len() + i - 1])
    }

    fn rings(&self) -> Vec<Ring> {
        let mut next = vec![NONE; 2 * self.width * self.height];
        for j in 0..self.height - 1 {
            for i in 0..self.width - 1 {
                self.cell(i, j, &mut next);
            }
        }
        let mut rings = Vec::new();
        for start in 0..next.len() {
            let mut ring = Ring { points: Vec::new(), on_edge: Vec::new() };
            let mut edge = start;
            while next[edge] != NONE {
                let (point, on_edge) = self.crossing(edge);
                ring.points.push(point);
                ring.on_edge.push(on_edge);
                edge = std::mem::replace(&mut next[edge], NONE);
            }
            let ring = straightened(&ring);
            if ring.points.len() > 2 {
                rings.push(ring);
            }
        }
        rings
    }

    /// Links the edges of one cell that the ring crosses: from where it leaves the area above, counterclockwise around
    /// the cell, to where it enters.
    fn cell(&self, i: usize, j: usize, next: &mut [usize]) {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.value(i, j));
        let above = corners.map(|value| value.is_some_and(|value| value >= self.level));
        let at = |i: usize, j: usize, upright: usize| 2 * (j * self.width + i) + upright;
        let edges = [at(i, j, 0), at(i + 1, j, 1), at(i, j + 1, 0), at(i, j, 1)];
        let enters = |k: usize| !above[k] && above[(k + 1) % 4];
        let leaves: Vec<usize> = (0..4).filter(|&k| above[k] && !above[(k + 1) % 4]).collect();
        for &k in &leaves {
            let to = if leaves.len() == 2 {
                let mean = corners.iter().flatten().sum::<f64>() / 4.0;
                if mean >= self.level { (k + 1) % 4 } else { (k + 3) % 4 }
            } else {
                (0..4).find(|&k| enters(k)).unwrap_or(k)
            };
            next[edges[k]] = edges[to];
        }
    }

    /// The crossing of the level with an edge, and whether it is on the edge of the grid.
    fn crossing(&self, edge: usize) -> (Point, bool) {
        let (node, upright) = (edge / 2, edge % 2);
        let (i, j) = (node % self.width, node / self.width);
        let (k, l) = if upright == 1 { (i, j + 1) } else { (i + 1, j) };
        let place = |i: usize, j: usize| {
            let (xs, ys) = (&self.field.xs, &self.field.ys);
            (xs[i.clamp(1, xs.len()) - 1], ys[j.clamp(1, ys.len()) - 1])
        };
        let (from, to) = (place(i, j), place(k, l));
        match (self.value(i, j), self.value(k, l)) {
            (Some(a), Some(b)) => {
                let t = ((self.level - a) / (b - a)).clamp(0.0, 1.0);
                let point = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
                let last = (self.width - 2, self.height - 2);
                let along = if upright == 1 { i == 1 || i == last.0 } else { j == 1 || j == last.1 };
                (point, along)
            }
            (Some(_), None) => (from, true),
            _ => (to, true),
        }
    }
}

/// The ring without points that repeat the one before, and without those that lie between others on a straight edge of
/// the grid.
fn straightened(ring: &Ring) -> Ring {
    let n = ring.points.len();
    let ring = &ring.keeping(|i| ring.points[i] != ring.points[(i + n - 1) % n]);
    let n = ring.points.len();
    let redundant = |i: usize| {
        let around = [(i + n - 1) % n, i, (i + 1) % n];
        let [a, b, c] = around.map(|k| ring.points[k]);
        around.iter().all(|&k| ring.on_edge[k]) && ((a.0 == b.0 && b.0 == c.0) || (a.1 == b.1 && b.1 == c.1))
    };
    ring.keeping(|i| !redundant(i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(n: usize, lo: f64, hi: f64, f: impl Fn(f64, f64) -> f64) -> Field {
        let places: Vec<f64> = (0..n).map(|i| lo + (hi - lo) * i as f64 / (n - 1) as f64).collect();
        let values =
            places.iter().flat_map(|y| places.iter().map(|x| f(*x, *y)).collect::<Vec<_>>()).collect();
        Field { xs: places.clone(), ys: places.clone(), values }
    }

    /// The area that rings enclose, minus holes: the area above is to the left, so outer rings count as positive.
    fn area(rings: &[Ring]) -> f64 {
        let twice = |points: &[Point]| -> f64 {
            let n = points.len();
            (0..n).map(|i| (points[i], points[(i + 1) % n])).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum()
        };
        rings.iter().map(|ring| 0.5 * twice(&ring.points)).sum()
    }

    #[test]
    fn a_disc_has_its_area_and_one_line() {
        let rings = grid(201, -2.0, 2.0, |x, y| 1.0 - x * x - y * y).above(0.0);
        assert_eq!(rings.len(), 1);
        assert!((area(&rings) - std::f64::consts::PI).abs() < 1e-3, "{}", area(&rings));
        assert!(rings[0].points.iter().all(|(x, y)| (x * x + y * y - 1.0).abs() < 1e-3));
        assert_eq!(rings[0].level_lines().len(), 1);
    }

    #[test]
    fn refining_keeps_bilinear_functions() {
        let f = |x: f64, y: f64| 1.0 + 2.0 * x - y + 3.0 * x * y;
        let (coarse, fine) = (grid(5, -1.0, 2.0, f), grid(13, -1.0, 2.0, f));
        let refined = coarse.refined(3);
        assert_eq!(refined.values.len(), fine.values.len());
        assert!(refined.values.iter().zip(&fine.values).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(refined.xs.iter().zip(&fine.xs).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn a_ring_has_a_hole() {
        let rings = grid(201, -2.0, 2.0, |x, y| 0.25 - ((x * x + y * y).sqrt() - 1.0).powi(2)).above(0.0);
        assert_eq!(rings.len(), 2);
        assert!((area(&rings) - std::f64::consts::PI * 2.0).abs() < 3e-3, "{}", area(&rings));
    }

    #[test]
    fn areas_cut_off_by_the_grid_are_closed_along_its_edge() {
        let half = grid(11, 0.0, 1.0, |x, _| x);
        let rings = half.above(0.55);
        assert_eq!(rings.len(), 1);
        assert!((area(&rings) - 0.45).abs() < 1e-12);
        let lines = rings[0].level_lines();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].iter().all(|(x, _)| (x - 0.55).abs() < 1e-12), "{lines:?}");
        let everything = half.above(-1.0);
        assert!((area(&everything) - 1.0).abs() < 1e-12);
        assert!(everything[0].level_lines().is_empty());
        assert_eq!(everything[0].points.len(), 4, "corners only");
        assert!(half.above(2.0).is_empty());
    }

    proptest! {
        #[test]
        fn above_and_below_make_the_whole(values in prop::collection::vec(-1.0f64..1.0, 36), level in -0.9f64..0.9) {
            let places: Vec<f64> = (0..6).map(f64::from).collect();
            let field = Field { xs: places.clone(), ys: places, values };
            let below = field.with(field.values.iter().map(|v| -v).collect());
            let whole = area(&field.above(level)) + area(&below.above(-level));
            prop_assert!((whole - 25.0).abs() < 1e-9, "{}", whole);
        }
    }
}
