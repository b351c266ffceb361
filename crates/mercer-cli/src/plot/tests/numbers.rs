//! The numbers in figures: marks are at the positions of the data.

use super::samples;
use crate::plot::figure::{Cell, Mark, Point, Symbol};
use crate::plot::{Figure, Tuning};

fn lines(figure: &Figure, panel: usize) -> Vec<&Vec<Point>> {
    let marks = figure.panels[panel].marks.iter();
    let points = marks.filter_map(|mark| match mark {
        Mark::Line { points, .. } => Some(points),
        _ => None,
    });
    points.collect()
}

fn dots(figure: &Figure, panel: usize) -> Vec<&Vec<Point>> {
    let marks = figure.panels[panel].marks.iter();
    let points = marks.filter_map(|mark| match mark {
        Mark::Dots { points, .. } => Some(points),
        _ => None,
    });
    points.collect()
}

fn cells(figure: &Figure, panel: usize) -> &[Cell] {
    let mut marks = figure.panels[panel].marks.iter();
    let cells = marks.find_map(|mark| match mark {
        Mark::Cells(cells) => Some(&cells[..]),
        _ => None,
    });
    cells.unwrap_or(&[])
}

fn labels(figure: &Figure) -> Vec<&str> {
    figure.legend.iter().map(|key| key.label.as_str()).collect()
}

#[test]
fn a_tube_is_epsilon_above_and_below_the_curve() {
    let data = samples::tube();
    let figure = data.figure().unwrap();
    let lines = lines(&figure, 0);
    let [curve, below, above] = lines[..] else { panic!("{} lines", lines.len()) };
    for (i, (x, y)) in curve.iter().enumerate() {
        assert_eq!((below[i].0, above[i].0), (*x, *x));
        assert!((y - below[i].1 - 0.1).abs() < 1e-12 && (above[i].1 - y - 0.1).abs() < 1e-12);
    }
    assert_eq!(dots(&figure, 0)[1], &data.support);
    let count = format!("support vector ({})", data.support.len());
    assert!(labels(&figure).contains(&"f(x) ± ε, ε = 0.1") && labels(&figure).contains(&count.as_str()));
}

#[test]
fn the_minimum_of_a_search_is_visible() {
    // An error of 10⁹ at one end would flatten the rest.
    let mut search: Tuning = samples::tuning(true);
    search.validation[0] = Some(1e9);
    if let Some(map) = &mut search.map {
        map.trials[0].1 = 1e9;
    }
    let figure = search.figure().unwrap();
    let (y, bar) = (&figure.panels[0].y, &figure.bar.as_ref().unwrap().axis);
    assert!(y.hi < 3.0 && y.lo >= 0.0 && bar.hi < 3.0, "{y:?} {bar:?}");
    assert!(figure.subtitle.contains("cut off"), "{}", figure.subtitle);
    let (place, label) = search.best.clone().unwrap();
    let best = (search.values[place], search.validation[place].unwrap());
    assert_eq!(dots(&figure, 0).last().unwrap()[..], [best]);
    assert_eq!(dots(&figure, 1).last().unwrap()[..], [search.map.as_ref().unwrap().best.unwrap()]);
    assert!(label.contains("sigma = ") && label.contains("lambda = ") && labels(&figure).contains(&&*label));
}

#[test]
fn a_cell_of_a_map_has_the_colour_of_the_nearest_trial() {
    let search = samples::tuning(true);
    let figure = search.figure().unwrap();
    let bar = &figure.bar.as_ref().unwrap().axis;
    for ((sigma, lambda), error) in &search.map.as_ref().unwrap().trials {
        let holds = |(lo, hi): (f64, f64), v: f64| lo <= v && v <= hi;
        let cell =
            cells(&figure, 1).iter().find(|cell| holds(cell.x, *sigma) && holds(cell.y, *lambda)).unwrap();
        assert!((cell.tone - bar.fraction(*error).clamp(0.0, 1.0)).abs() < 0.02, "{sigma} {lambda}");
    }
}

#[test]
fn a_confusion_matrix_writes_its_counts() {
    let figure = samples::confusion().figure().unwrap();
    let words = |(x, y): Point| {
        figure.panels[0].marks.iter().find_map(|mark| match mark {
            Mark::Words { at, words, .. } if *at == (x, y) => Some(words.clone()),
            _ => None,
        })
    };
    // The first class is at the left and at the top.
    assert_eq!(words((0.5, 2.5)).as_deref(), Some("50"));
    assert_eq!(words((2.5, 1.5)).as_deref(), Some("2"), "true versicolor, predicted virginica");
    assert_eq!(
        (figure.panels[0].x.label.as_str(), figure.panels[0].y.label.as_str()),
        ("predicted class", "true class")
    );
}

#[test]
fn one_class_has_a_boundary_and_no_margin() {
    let figure = samples::one_class().figure().unwrap();
    assert_eq!(labels(&figure), ["boundary f = 0", "outlier", "inlier"]);
    let margins =
        figure.legend.iter().filter(|key| matches!(key.symbol, Symbol::Line(stroke) if stroke.dash > 0.0));
    assert_eq!(margins.count(), 0);
    // f = 0 is the circle of radius √2.
    for (x, y) in lines(&figure, 0).into_iter().flatten() {
        assert!((x.hypot(*y) - 2f64.sqrt()).abs() < 0.01, "{x} {y}");
    }
}

#[test]
fn lifted_points_lie_on_their_side_of_the_plane() {
    let figure = samples::lift().figure().unwrap();
    let marks = &figure.panels[0].marks;
    let plane = marks.iter().position(|mark| matches!(mark, Mark::Sheet { .. })).unwrap();
    let count = |marks: &[Mark]| marks.iter().filter(|mark| matches!(mark, Mark::Dots { .. })).count();
    let above = samples::lift().points.iter().filter(|(_, height, _)| *height >= 0.0).count();
    assert_eq!(count(&marks[plane..]), above, "those above are drawn over the plane");
    assert_eq!(count(&marks[..plane]), samples::lift().points.len() - above);
}
