//! Numbers and names that are hard to draw.

use super::samples::{self, scatter, spread};
use super::structure::check;
use crate::plot::*;

fn with_points(points: Vec<(f64, f64)>, curve: Vec<f64>) -> Result<Figure, PlotError> {
    let places = spread(0.0, 1.0, curve.len().max(2));
    FittedCurve { points, places, curve, x_label: "x".into(), y_label: "y".into(), ..FittedCurve::default() }
        .figure()
}

#[test]
fn one_point_and_equal_values() {
    check("one point", &with_points(vec![(0.5, 3.0)], vec![3.0, 3.0]).unwrap());
    let one = Agreement {
        title: "one".into(),
        subtitle: String::new(),
        label: "y".into(),
        points_name: "rows".into(),
        actual: vec![2.0],
        predicted: vec![2.0],
    };
    check("one row", &one.figure().unwrap());
    check("one residual", &one.residuals().unwrap());
    let mut flat = samples::contour();
    flat.field.values.fill(0.0);
    check("flat contour", &flat.figure().unwrap());
    let mut flat = samples::surface();
    flat.field.values.fill(7.0);
    check("flat surface", &flat.figure().unwrap());
    let mut single = samples::gram();
    single.order = 1;
    single.values = vec![1.0];
    check("one by one", &single.figure().unwrap());
    let mut single = samples::tuning(false);
    single.values.truncate(1);
    single.validation.truncate(1);
    single.training.truncate(1);
    single.best = Some((0, "best".into()));
    check("one value", &single.figure().unwrap());
}

#[test]
fn huge_tiny_and_far_values() {
    for scale in [1e299, 1e150, 1e6, 1e-6, 1e-150, 1e-299] {
        let values: Vec<f64> = (0..50).map(|i| scale * scatter(i)).collect();
        let points = (0..50).map(|i| (scatter(i + 99).abs(), scale * scatter(i + 7))).collect();
        check(&format!("curve at {scale:e}"), &with_points(points, values.clone()).unwrap());
        let figure = Agreement {
            title: "t".into(),
            subtitle: String::new(),
            label: "y".into(),
            points_name: "rows".into(),
            actual: values.clone(),
            predicted: values.iter().map(|v| 0.9 * v).collect(),
        };
        check(&format!("agreement at {scale:e}"), &figure.figure().unwrap());
        check(&format!("residuals at {scale:e}"), &figure.residuals().unwrap());
        let mut map = samples::contour();
        map.field.values.iter_mut().for_each(|v| *v *= scale);
        map.points.clear();
        check(&format!("contour at {scale:e}"), &map.figure().unwrap());
        let mut heat = samples::gram();
        heat.values.iter_mut().for_each(|v| *v = scale * (*v - 0.5));
        check(&format!("heat at {scale:e}"), &heat.figure().unwrap());
    }
    let far = (0..20).map(|i| (scatter(i).abs(), 1e9 + 1e-3 * scatter(i))).collect();
    check("far and narrow", &with_points(far, vec![1e9; 5]).unwrap());
}

#[test]
fn non_finite_values_are_refused_by_name() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e305] {
        let error = with_points(vec![(0.1, 0.0), (0.2, bad)], vec![0.0, 1.0]).unwrap_err();
        assert!(
            matches!(&error, PlotError::NotFinite { index: 1, what, .. } if what.contains('y')),
            "{error}"
        );
        let mut map = samples::contour();
        map.field.values[5] = bad;
        assert!(map.figure().is_err());
        let mut classes = samples::two_classes();
        classes.points[3].at.0 = bad;
        assert!(classes.figure().is_err());
    }
    let mut classes = samples::three_classes();
    classes.points[7].class = 3;
    assert_eq!(classes.figure().unwrap_err(), PlotError::Class { index: 7, found: 3, classes: 3 });
    classes.classes.truncate(1);
    assert!(matches!(classes.figure().unwrap_err(), PlotError::Classes { found: 1, .. }));
    let mut tuning = samples::tuning(true);
    tuning.values[0] = 0.0;
    assert!(matches!(tuning.figure().unwrap_err(), PlotError::NotPositive { index: 0, .. }));
    let mut tuning = samples::tuning(true);
    tuning.values.swap(1, 2);
    assert!(matches!(tuning.figure().unwrap_err(), PlotError::NotRising { index: 2, .. }));
    let mut map = samples::contour();
    map.field.values.pop();
    assert!(matches!(map.figure().unwrap_err(), PlotError::Length { .. }));
    assert!(matches!(with_points(vec![], vec![]).unwrap_err(), PlotError::Length { .. }));
}

#[test]
fn fits_that_failed_leave_a_gap() {
    let mut tuning = samples::tuning(true);
    tuning.validation[4] = None;
    check("gap", &tuning.figure().unwrap());
    tuning.validation.fill(None);
    assert!(matches!(tuning.figure().unwrap_err(), PlotError::Empty { .. }));
}

#[test]
fn a_hundred_thousand_points_stay_small() {
    let points: Vec<_> = (0..100_000).map(|i| (scatter(i).abs(), scatter(i + 1_000_000))).collect();
    let actual: Vec<f64> = points.iter().map(|p| p.1).collect();
    let figure = with_points(points, vec![0.0; 50]).unwrap();
    let size = figure.to_svg().len();
    assert!(size < 600_000, "{size} bytes");
    check("a crowd", &figure);
    let agreement = Agreement {
        title: "crowd".into(),
        subtitle: String::new(),
        label: "y".into(),
        points_name: "rows".into(),
        predicted: actual.iter().map(|y| y * y).collect(),
        actual,
    };
    assert!(agreement.figure().unwrap().to_svg().len() < 600_000);
    let count = 2_000;
    let heat = HeatMap { order: count, values: (0..count * count).map(scatter).collect(), ..samples::gram() };
    let size = heat.figure().unwrap().to_svg().len();
    assert!(size < 1_500_000, "{size} bytes");
}

#[test]
fn long_and_strange_names() {
    let long =
        "a_column_name_that_is_much_longer_than_anything_that_fits_beside_an_axis_of_this_size ".repeat(3);
    for name in [long.as_str(), "<b>&\"'</b>\u{1}\u{fffe}", "温度", "", "x\ny\tz"] {
        let mut curve = samples::curve();
        (curve.title, curve.subtitle) = (name.into(), name.into());
        (curve.x_label, curve.y_label) = (name.into(), name.into());
        check(name, &curve.figure().unwrap());
        let mut map = samples::contour();
        (map.labels, map.value_label) = ([name.into(), name.into()], name.into());
        check(name, &map.figure().unwrap());
        let mut surface = samples::surface();
        (surface.labels, surface.value_label) = ([name.into(), name.into()], name.into());
        check(name, &surface.figure().unwrap());
        let mut classes = samples::three_classes();
        classes.classes = vec![name.into(), name.into(), name.into()];
        check(name, &classes.figure().unwrap());
        let text = curve.figure().unwrap().to_text(Terminal { width: 60, height: 20, colour: false });
        assert!(text.lines().all(|line| line.chars().count() <= 60));
        assert!(!text.contains('\u{1}') && !text.contains('\t'));
    }
}
