//! A function of one variable with the data, its kernel terms, or the tube around it.

use super::axis::{Axis, extent};
use super::colour::{CATEGORIES, INK, SLATE, WHITE};
use super::error::{PlotError, check, check_length, check_points, check_some};
use super::figure::{Dot, Figure, Key, Mark, Panel, Point};
use super::scene::Stroke;
use super::ticks::number;

/// A fitted curve, f(x) = b + Σᵢ aᵢ k(cᵢ, x), or any curve with points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FittedCurve {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// Name of the variable.
    pub x_label: String,
    /// The name of the predicted quantity.
    pub y_label: String,
    /// The data; may be empty.
    pub points: Vec<Point>,
    /// The kind of data, such as `training rows`.
    pub points_name: String,
    /// The half width of the tube of a support vector regression.
    pub tube: Option<f64>,
    /// The data that are support vectors.
    pub support: Vec<Point>,
    /// The places of the curve and the bumps, rising.
    pub places: Vec<f64>,
    /// The curve at these places.
    pub curve: Vec<f64>,
    /// The bumps aᵢ k(cᵢ, ·) at these places; if there are many, those with the largest values are drawn.
    pub bumps: Vec<Vec<f64>>,
    /// b, the base line of the bumps if they share the panel of the curve.
    pub intercept: f64,
    /// The total number of bumps, if not all are given.
    pub all_bumps: usize,
    /// The lower and the upper end of a band around the curve; may be empty.
    pub band: Vec<(f64, f64)>,
    /// The name of the band.
    pub band_name: String,
    /// Draws from the posterior.
    pub draws: Vec<Vec<f64>>,
}

/// The most bumps with distinct colours.
pub const MOST_BUMPS: usize = 40;

/// Bumps share the panel of the curve if they fit within this many times the range of data and curve.
const SHARED_SPAN: f64 = 2.5;

impl FittedCurve {
    /// The figure.
    ///
    /// # Errors
    /// If there are no places, lists differ in length, or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        self.check()?;
        let x = Axis::around(
            &self.x_label,
            self.places.iter().copied().chain(self.points.iter().map(|p| p.0)),
            0.02,
        );
        let tube = self.tube.unwrap_or(0.0);
        let around = |f: &f64| [f - tube, f + tube];
        let banded = || self.band.iter().flat_map(|(low, high)| [*low, *high]);
        let heights =
            || self.curve.iter().flat_map(around).chain(self.points.iter().map(|p| p.1)).chain(banded());
        let bumps = self.largest();
        let (lo, hi) = extent(heights());
        let raised = || bumps.iter().flat_map(|bump| bump.iter().map(|v| v + self.intercept));
        let (lowest, highest) = extent(raised().chain(heights()));
        let shared = !bumps.is_empty() && highest - lowest <= SHARED_SPAN * (hi - lo);
        let (data, curve) = (dots(self.points.len()), Stroke::new(CATEGORIES[0], 2.2));
        let thin = Stroke::new(CATEGORIES[1], 1.0).faint(if bumps.len() > 12 { 0.45 } else { 0.75 });
        let mut legend = Vec::new();
        legend.extend((!self.points.is_empty()).then(|| Key::dot(data, &self.points_name)));
        legend.push(Key::line(curve, self.curve_name()));
        let bump_name = || Key::line(thin, self.bump_name(bumps.len(), shared));
        legend.extend((!bumps.is_empty()).then(bump_name));
        let (band, possible) = (CATEGORIES[0].mix(WHITE, 0.78), Stroke::new(CATEGORIES[0], 0.9).faint(0.5));
        legend.extend((!self.band.is_empty()).then(|| Key::line(Stroke::new(band, 7.0), &self.band_name)));
        legend.extend((!self.draws.is_empty()).then(|| Key::line(possible, "draws from the posterior")));
        let y = if shared {
            Axis::around(&self.y_label, raised().chain(heights()), 0.05)
        } else {
            Axis::around(&self.y_label, heights(), 0.06)
        };
        let mut main = Panel::new(x.clone(), y);
        let line = |values: &[f64], lift: f64, stroke| Mark::Line {
            points: self.places.iter().zip(values).map(|(x, y)| (*x, y + lift)).collect(),
            stroke,
        };
        let ground = |level: f64| {
            let points = vec![(x.lo, level), (x.hi, level)];
            Mark::Line { points, stroke: Stroke::new(SLATE, 0.8).dashed(3.0) }
        };
        if shared {
            main.marks.push(ground(self.intercept));
            main.marks.extend(bumps.iter().map(|bump| line(bump, self.intercept, thin)));
        }
        if !self.band.is_empty() {
            let low = self.places.iter().zip(&self.band).map(|(x, (low, _))| (*x, *low));
            let high = self.places.iter().zip(&self.band).map(|(x, (_, high))| (*x, *high));
            let ring: Vec<Point> = low.chain(high.rev()).collect();
            main.marks.insert(0, Mark::Area { rings: vec![ring], fill: band, outline: None, tone: 0.15 });
        }
        main.marks.extend(self.draws.iter().map(|draw| line(draw, 0.0, possible)));
        main.marks.push(Mark::Dots { points: self.points.clone(), dot: data });
        main.marks.push(line(&self.curve, 0.0, curve));
        if let Some(tube) = self.tube {
            let edge = Stroke::new(CATEGORIES[0], 1.2).dashed(4.0);
            main.marks.extend([-tube, tube].map(|lift| line(&self.curve, lift, edge)));
            legend.push(Key::line(edge, format!("f(x) ± ε, ε = {}", number(tube))));
        }
        if !self.support.is_empty() {
            let ring = Dot::ring(data.radius + 2.2, Stroke::new(CATEGORIES[1], 1.1)).shown_as('◎');
            legend.push(Key::dot(ring, format!("support vector ({})", self.support.len())));
            main.marks.push(Mark::Dots { points: self.support.clone(), dot: ring });
        }
        let mut panels = vec![main];
        let mut height = 440.0;
        if !bumps.is_empty() && !shared {
            // Large coefficients that cancel would flatten the curve, so the bumps get a separate axis.
            let own = Axis::around("aᵢ k(cᵢ, x)", bumps.iter().flat_map(|bump| bump.iter().copied()), 0.06);
            let mut below = Panel::new(x.clone(), own);
            below.share = 0.55;
            below.marks.push(ground(0.0));
            below.marks.extend(bumps.iter().map(|bump| line(bump, 0.0, thin)));
            panels[0].x.label.clear();
            panels[0].share = 1.0;
            panels.push(below);
            height = 560.0;
        }
        let mut figure = Figure::new(&self.title, panels).subtitled(&self.subtitle).sized(640.0, height);
        figure.legend = legend;
        Ok(figure)
    }

    fn check(&self) -> Result<(), PlotError> {
        check_some("the curve", &self.places)?;
        check("places of the curve", self.places.iter().copied())?;
        check_length("the curve", &self.curve, self.places.len())?;
        check("the curve", self.curve.iter().copied())?;
        check_points(self.points.iter().copied())?;
        check_points(self.support.iter().copied())?;
        check("the intercept and the tube", [self.intercept, self.tube.unwrap_or(0.0)])?;
        if !self.band.is_empty() {
            check_length("the band", &self.band, self.places.len())?;
            check("the band", self.band.iter().flat_map(|(low, high)| [*low, *high]))?;
        }
        for draw in &self.draws {
            check_length("a draw", draw, self.places.len())?;
            check("a draw", draw.iter().copied())?;
        }
        for (index, bump) in self.bumps.iter().enumerate() {
            check_length(&format!("bump {index}"), bump, self.places.len())?;
            check(&format!("bump {index}"), bump.iter().copied())?;
        }
        Ok(())
    }

    fn curve_name(&self) -> &'static str {
        match (self.bumps.is_empty(), self.intercept == 0.0) {
            (true, _) => "prediction",
            (false, true) => "Σᵢ aᵢ k(cᵢ, x)",
            (false, false) => "b + Σᵢ aᵢ k(cᵢ, x)",
        }
    }

    fn bump_name(&self, drawn: usize, shared: bool) -> String {
        let all = self.all_bumps.max(self.bumps.len());
        let lift = if shared && self.intercept != 0.0 {
            format!("b + aᵢ k(cᵢ, x), b = {}", number(self.intercept))
        } else {
            "aᵢ k(cᵢ, x)".into()
        };
        if drawn < all { format!("{lift}: the {drawn} largest of {all}") } else { lift }
    }

    /// The bumps with the largest values, in their order.
    fn largest(&self) -> Vec<&Vec<f64>> {
        let size = |bump: &[f64]| bump.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let mut order: Vec<usize> = (0..self.bumps.len()).collect();
        order.sort_by(|&a, &b| size(&self.bumps[b]).total_cmp(&size(&self.bumps[a])).then(a.cmp(&b)));
        order.truncate(MOST_BUMPS);
        order.sort_unstable();
        order.into_iter().map(|i| &self.bumps[i]).collect()
    }
}

/// The style of data points, smaller and fainter for larger numbers of points.
pub fn dots(count: usize) -> Dot {
    match count {
        0..=60 => Dot::disc(3.6, INK, 0.75),
        61..=300 => Dot::disc(2.8, INK, 0.6),
        301..=1_000 => Dot::disc(2.2, INK, 0.5),
        1_001..=5_000 => Dot::disc(1.6, INK, 0.4),
        _ => Dot::disc(1.2, INK, 0.3),
    }
}
