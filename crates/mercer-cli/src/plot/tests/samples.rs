//! One picture of each kind.

use crate::plot::*;

/// Numbers that look random and are always the same, from −1 to 1.
pub fn scatter(index: usize) -> f64 {
    let x = (index as f64 * 12.9898 + 78.233).sin() * 43_758.545;
    2.0 * (x - x.floor()) - 1.0
}

pub fn spread(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| lo + (hi - lo) * i as f64 / (count - 1) as f64).collect()
}

/// A function on a grid.
pub fn field(xs: Vec<f64>, ys: Vec<f64>, f: impl Fn(f64, f64) -> f64) -> Field {
    let values = ys.iter().flat_map(|y| xs.iter().map(|x| f(*x, *y)).collect::<Vec<_>>()).collect();
    Field { xs, ys, values }
}

/// Four Gaussian bumps, one of them downwards.
pub fn four_bumps(x: f64, y: f64) -> f64 {
    let bump =
        |a: f64, cx: f64, cy: f64, s: f64| a * (-((x - cx).powi(2) + (y - cy).powi(2)) / (2.0 * s * s)).exp();
    bump(1.0, -1.2, 0.9, 0.6) + bump(0.75, 1.1, 1.2, 0.55) + bump(0.55, 0.6, -1.0, 0.7)
        - bump(0.6, -1.1, -1.1, 0.6)
}

pub fn curve() -> FittedCurve {
    let (centres, sizes) = ([-2.2, -1.0, 0.2, 1.3, 2.4], [0.8, -0.6, 1.1, 0.7, -0.5]);
    let bump = |c: f64, a: f64, x: f64| a * (-(x - c).powi(2) / (2.0 * 0.6 * 0.6)).exp();
    let f = |x: f64| 0.3 + centres.iter().zip(sizes).map(|(c, a)| bump(*c, a, x)).sum::<f64>();
    let places = spread(-3.5, 3.5, 141);
    FittedCurve {
        title: "Ridge regression of y on x".into(),
        subtitle: "rbf(sigma=0.6), λ = 0.01".into(),
        x_label: "x".into(),
        y_label: "y".into(),
        points_name: "training rows".into(),
        tube: None,
        support: Vec::new(),
        points: (0..60)
            .map(|i| (3.4 * scatter(i), i))
            .map(|(x, i)| (x, f(x) + 0.12 * scatter(1000 + i)))
            .collect(),
        curve: places.iter().map(|x| f(*x)).collect(),
        bumps: centres
            .iter()
            .zip(sizes)
            .map(|(c, a)| places.iter().map(|x| bump(*c, a, *x)).collect())
            .collect(),
        places,
        intercept: 0.3,
        all_bumps: 5,
        ..FittedCurve::default()
    }
}

/// Bumps that are much larger than their sum.
pub fn cancelling() -> FittedCurve {
    let mut figure = curve();
    figure.bumps = figure.bumps.iter().map(|bump| bump.iter().map(|v| 40.0 * v).collect()).collect();
    figure.all_bumps = 60;
    figure
}

pub fn slice() -> FittedCurve {
    let places = spread(0.0, 40.0, 81);
    let f = |x: f64| 20.0 + 5.0 * (x / 9.0).sin() + 0.1 * x;
    FittedCurve {
        title: "yield along temperature".into(),
        subtitle: "the other 7 columns at their median".into(),
        x_label: "temperature".into(),
        y_label: "yield".into(),
        points_name: "rows of the data".into(),
        points: (0..400)
            .map(|i| (20.0 + 20.0 * scatter(i), i))
            .map(|(x, i)| (x, f(x) + 2.5 * scatter(i + 999)))
            .collect(),
        curve: places.iter().map(|x| f(*x)).collect(),
        places,
        ..FittedCurve::default()
    }
}

pub fn contour() -> ContourMap {
    let points = (0..60).map(|i| (2.9 * scatter(i), 2.4 * scatter(i + 500)));
    ContourMap {
        title: "Ridge regression of height on east and north".into(),
        subtitle: "rbf(sigma=0.6), λ = 0.01".into(),
        labels: ["east".into(), "north".into()],
        value_label: "height".into(),
        field: field(spread(-3.0, 3.0, 61), spread(-2.5, 2.5, 51), four_bumps),
        points: points
            .map(|(x, y)| ((x, y), Some(four_bumps(x, y) + 0.05 * scatter((100.0 * x) as usize))))
            .collect(),
        points_name: "training rows".into(),
        support: Vec::new(),
        scale: ColourScale::Sequential,
    }
}

pub fn diverging() -> ContourMap {
    ContourMap { points: Vec::new(), scale: ColourScale::Diverging, ..contour() }
}

pub fn surface() -> Surface {
    Surface {
        title: "A sum of four Gaussian bumps".into(),
        subtitle: "rbf(sigma=0.6)".into(),
        labels: ["x0".into(), "x1".into()],
        value_label: "h".into(),
        field: field(spread(-3.0, 3.0, 41), spread(-3.0, 3.0, 41), four_bumps),
        points: Vec::new(),
        points_name: "training rows".into(),
        scale: ColourScale::Sequential,
    }
}

pub fn agreement() -> Agreement {
    let actual: Vec<f64> = (0..200).map(|i| 25.0 + 12.0 * scatter(i)).collect();
    Agreement {
        title: "Predicted and actual yield".into(),
        subtitle: "200 rows · RMSE 0.645 · R² 0.99".into(),
        label: "yield".into(),
        points_name: "training rows".into(),
        predicted: actual
            .iter()
            .enumerate()
            .map(|(i, y)| y + 2.0 * scatter(i + 777) * scatter(i + 333))
            .collect(),
        actual,
    }
}

/// A search over σ, or over σ and λ.
pub fn tuning(both: bool) -> Tuning {
    let sigmas: Vec<f64> = (0..13).map(|i| 10f64.powf(-1.5 + 3.0 * f64::from(i) / 12.0)).collect();
    let lambdas: Vec<f64> = (0..9).map(|i| 10f64.powf(-6.0 + 0.75 * f64::from(i))).collect();
    let error = |s: f64, l: f64| {
        let (s, l) = (s.log10(), l.log10() + 3.0);
        0.35 + 0.3 * (s - 0.1 * l).powi(2) + 0.02 * l.powi(2) + (-12.0 * (s + 0.9)).exp()
    };
    let train = |s: f64| 0.35 / (1.0 + (-2.2 * (s.log10() + 0.5)).exp());
    let lowest = |s: f64| lambdas.iter().map(|l| error(s, *l)).fold(f64::INFINITY, f64::min);
    let best = (0..13).min_by(|a, b| lowest(sigmas[*a]).total_cmp(&lowest(sigmas[*b]))).unwrap();
    let trials = sigmas.iter().flat_map(|s| lambdas.iter().map(|l| ((*s, *l), error(*s, *l)))).collect();
    Tuning {
        title: "Tuning sigma and lambda".into(),
        subtitle: "600 rows, 117 trials, leave-one-out".into(),
        parameter: "sigma".into(),
        values: sigmas.clone(),
        score: "RMSE".into(),
        validation: sigmas.iter().map(|s| Some(lowest(*s))).collect(),
        validation_name: "error on rows left out, at the best lambda".into(),
        training: sigmas.iter().map(|s| Some(train(*s))).collect(),
        best: Some((best, format!("best: sigma = {:.3}, lambda = 0.001; RMSE 0.352", sigmas[best]))),
        ends: Some(["← variance".into(), "bias →".into()]),
        map: both.then(|| TuningMap {
            parameter: "lambda".into(),
            trials,
            best: Some((sigmas[best], lambdas[4])),
        }),
    }
}

pub fn gram() -> HeatMap {
    let places: Vec<f64> = (0..40).map(|i| 3.0 * scatter(i)).collect();
    let mut places = places;
    places.sort_by(f64::total_cmp);
    let values =
        places.iter().flat_map(|x| places.iter().map(|z| (-(x - z).powi(2) / 0.8).exp()).collect::<Vec<_>>());
    HeatMap {
        title: "Kernel matrix".into(),
        subtitle: "rbf(sigma=0.63), 40 rows".into(),
        label: "row".into(),
        order: 40,
        value_label: "k(x, z)".into(),
        values: values.collect(),
    }
}

pub fn two_classes() -> ClassMap {
    let (xs, ys) = (spread(-3.0, 3.0, 61), spread(-2.5, 2.5, 51));
    let p = field(xs.clone(), ys.clone(), |x, y| 1.0 / (1.0 + (-4.0 * (y - (1.6 * x).sin())).exp())).values;
    let points = (0..120).map(|i| (2.9 * scatter(i), 2.4 * scatter(i + 500)));
    ClassMap {
        title: "Kernel logistic regression".into(),
        subtitle: "rbf(sigma=0.8), C = 10".into(),
        labels: ["x0".into(), "x1".into()],
        classes: vec!["no".into(), "yes".into()],
        xs,
        ys,
        confidence: Confidence::Probabilities(vec![p.iter().map(|p| 1.0 - p).collect(), p]),
        points: points
            .map(|at| ClassPoint { at, class: usize::from(at.1 > (1.6 * at.0).sin()), support: false })
            .collect(),
    }
}

pub fn support_vectors() -> ClassMap {
    let map = two_classes();
    let f = field(map.xs.clone(), map.ys.clone(), |x, y| 1.6 * (y - (1.6 * x).sin()));
    let points = map.points.iter().map(|p| {
        let f = 1.6 * (p.at.1 - (1.6 * p.at.0).sin());
        ClassPoint { support: f.abs() < 1.0, ..*p }
    });
    ClassMap {
        title: "Support vector machine".into(),
        points: points.collect(),
        confidence: Confidence::Decision(f.values),
        ..map.clone()
    }
}

pub fn three_classes() -> ClassMap {
    let (xs, ys) = (spread(-3.0, 3.0, 61), spread(-2.5, 2.5, 51));
    let centres = [(-1.2, -0.8), (1.3, -0.6), (0.1, 1.2)];
    let weight =
        |x: f64, y: f64, k: usize| (-1.2 * ((x - centres[k].0).powi(2) + (y - centres[k].1).powi(2))).exp();
    let of = |k: usize| {
        let p = |x: f64, y: f64| weight(x, y, k) / (0..3).map(|k| weight(x, y, k)).sum::<f64>();
        field(xs.clone(), ys.clone(), p).values
    };
    let points = (0..90).map(|i| {
        let class = i % 3;
        let at = (centres[class].0 + 0.9 * scatter(i), centres[class].1 + 0.9 * scatter(i + 500));
        ClassPoint { at, class, support: false }
    });
    ClassMap {
        title: "Three classes".into(),
        subtitle: "the stronger the colour, the more probable the class".into(),
        labels: ["petal length".into(), "petal width".into()],
        classes: vec!["setosa".into(), "versicolor".into(), "virginica".into()],
        confidence: Confidence::Probabilities((0..3).map(of).collect()),
        points: points.collect(),
        xs,
        ys,
    }
}

pub fn reliability() -> Reliability {
    let bin = |i: usize| {
        let ends = (i as f64 / 10.0, (i + 1) as f64 / 10.0);
        let predicted = 0.5 * (ends.0 + ends.1);
        ReliabilityBin {
            ends,
            count: 20 + 13 * (i as i64 - 5).unsigned_abs().pow(2) as usize,
            predicted,
            observed: (predicted + 0.12 * (6.0 * predicted).sin()).clamp(0.0, 1.0),
        }
    };
    Reliability {
        title: "Reliability".into(),
        subtitle: "expected calibration error 0.076".into(),
        bins: (0..10).map(bin).collect(),
    }
}

/// A support vector regression.
pub fn tube() -> FittedCurve {
    let figure = curve();
    let at = |x: f64| figure.curve[((x + 3.5) / 0.05).round() as usize];
    FittedCurve {
        support: figure.points.iter().copied().filter(|(x, y)| (y - at(*x)).abs() > 0.09).collect(),
        tube: Some(0.1),
        bumps: Vec::new(),
        ..figure
    }
}

/// One-class estimation: a boundary without a margin.
pub fn one_class() -> ClassMap {
    let map = two_classes();
    let f = |x: f64, y: f64| 0.4 * (2.0 - x * x - y * y);
    let inside = |(x, y): (f64, f64)| usize::from(f(x, y) > 0.0);
    ClassMap {
        title: "One-class estimation".into(),
        classes: vec!["outlier".into(), "inlier".into()],
        points: map.points.iter().map(|p| ClassPoint { class: inside(p.at), ..*p }).collect(),
        confidence: Confidence::Boundary(field(map.xs.clone(), map.ys.clone(), f).values),
        ..map
    }
}

pub fn lift() -> LiftedPoints {
    let (xs, ys) = (spread(-2.0, 2.0, 41), spread(-2.0, 2.0, 41));
    let f = |x: f64, y: f64| x * x + y * y - 1.5;
    let points = (0..150).map(|i| (1.9 * scatter(i), 1.9 * scatter(i + 500)));
    LiftedPoints {
        title: "Lift of two rings".into(),
        subtitle: "f(x) = x₁² + x₂² − 1.5".into(),
        labels: ["x1".into(), "x2".into()],
        value_label: "f(x)".into(),
        classes: vec!["inside".into(), "outside".into()],
        points: points.map(|(x, y)| ((x, y), f(x, y), usize::from(f(x, y) > 0.0))).collect(),
        field: field(xs, ys, f),
    }
}

pub fn confusion() -> Confusion {
    Confusion {
        title: "Confusion matrix of species".into(),
        subtitle: "150 training rows · accuracy 0.973".into(),
        classes: vec!["setosa".into(), "versicolor".into(), "virginica".into()],
        counts: vec![vec![50, 0, 0], vec![0, 48, 2], vec![0, 2, 48]],
    }
}

pub fn roc() -> LinePlot {
    let curve = |power: f64| spread(0.0, 1.0, 41).into_iter().map(|x| (x, x.powf(power))).collect();
    let line = |name: &str, power: f64| NamedLine { name: name.into(), points: curve(power), marked: false };
    let axes = [
        Scale::linear("false positive rate").between(0.0, 1.0),
        Scale::linear("true positive rate").between(0.0, 1.0),
    ];
    LinePlot {
        references: vec![("chance".into(), vec![(0.0, 0.0), (1.0, 1.0)])],
        square: true,
        ..LinePlot::new(
            "ROC curve of species",
            axes,
            vec![line("a: AUC 0.909", 0.1), line("b: AUC 0.769", 0.3)],
        )
    }
}

pub fn spectrum() -> LinePlot {
    let points = (1..=40).map(|i| (f64::from(i), 30.0 * (-0.6 * f64::from(i)).exp())).collect();
    let lines = vec![NamedLine { name: "40 eigenvalues".into(), points, marked: true }];
    LinePlot {
        references: vec![("λ = 0.001".into(), vec![(1.0, 1e-3), (40.0, 1e-3)])],
        ..LinePlot::new("Spectrum", [Scale::linear("number"), Scale::log("eigenvalue")], lines)
    }
}

pub fn partial_dependence() -> LinePlot {
    let places = spread(0.0, 40.0, 41);
    let line = |lift: f64| -> Vec<(f64, f64)> {
        places.iter().map(|x| (*x, 20.0 + lift + 5.0 * (x / 9.0).sin())).collect()
    };
    let lines = vec![NamedLine { name: "mean prediction of yield".into(), points: line(0.0), marked: false }];
    LinePlot {
        background: ("single rows".into(), (0..30).map(|i| line(3.0 * scatter(i))).collect()),
        ..LinePlot::new(
            "Partial dependence of yield on temperature",
            [Scale::linear("temperature"), Scale::linear("yield")],
            lines,
        )
    }
}

/// Every kind with a name.
pub fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("curve", curve().figure().unwrap()),
        ("cancelling", cancelling().figure().unwrap()),
        ("slice", slice().figure().unwrap()),
        ("contour", contour().figure().unwrap()),
        ("diverging", diverging().figure().unwrap()),
        ("surface", surface().figure().unwrap()),
        ("agreement", agreement().figure().unwrap()),
        ("residuals", agreement().residuals().unwrap()),
        ("tuning", tuning(false).figure().unwrap()),
        ("tuning-map", tuning(true).figure().unwrap()),
        ("gram", gram().figure().unwrap()),
        ("two-classes", two_classes().figure().unwrap()),
        ("support-vectors", support_vectors().figure().unwrap()),
        ("three-classes", three_classes().figure().unwrap()),
        ("reliability", reliability().figure().unwrap()),
        ("tube", tube().figure().unwrap()),
        ("one-class", one_class().figure().unwrap()),
        ("lift", lift().figure().unwrap()),
        ("confusion", confusion().figure().unwrap()),
        ("roc", roc().figure().unwrap()),
        ("spectrum", spectrum().figure().unwrap()),
        ("partial-dependence", partial_dependence().figure().unwrap()),
    ]
}
