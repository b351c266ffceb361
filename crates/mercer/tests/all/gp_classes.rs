//! Classification by Gaussian processes, and regression on inducing points.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::kernel::Kernel;
use mercer::learn::{
    Gp, LearnError, Learner, Learnt, Problem, ProcessRows, RowBlocks, TargetMoments, Targets,
};
use mercer::model::{Facts, Model, Predictor};
use mercer::session::Session;
use mercer::solve::{InducingSums, RowSlopes};

fn rows(n: usize) -> AnySamples<'static> {
    let entries = (0..n).flat_map(|i| {
        let t = i as f64;
        [(1.3 * t).sin() * 2.0, (0.7 * t + 1.0).cos() * 2.0]
    });
    AnySamples::F64(Samples::dense(n, 2, entries.collect::<Vec<f64>>()).unwrap())
}

fn at(samples: &AnySamples<'_>, row: usize) -> [f64; 2] {
    let mut out = [0.0; 2];
    samples.copy_row(row, &mut out);
    out
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

#[test]
fn classes_have_probabilities_that_survive_a_file() {
    let samples = rows(90);
    let session = Session::default();
    for classes in [2, 3] {
        let codes: Vec<usize> =
            (0..90).map(|i| ((at(&samples, i)[0] + 2.01) / 4.02 * classes as f64) as usize).collect();
        let problem = Problem::new(samples.view(), Targets::codes(&codes[..], classes));
        let fitted = Gp::new(kernel("?*rbf(sigma=[?])")).train(&problem, &session).unwrap();
        let p = fitted.model.predict(&samples, &session).unwrap();
        assert_eq!((p.nrows(), p.ncols()), (90, classes));
        let mut right = 0;
        for (i, &code) in codes.iter().enumerate() {
            let row = p.row(i);
            assert!(
                (row.iter().sum::<f64>() - 1.0).abs() < 1e-9 && row.iter().all(|p| (0.0..=1.0).contains(p))
            );
            right += usize::from(fitted.model.link().class(row) == code);
        }
        assert!(right >= 85, "{classes} classes: {right} of 90");
        // The second column does not determine the class.
        let parameters: Vec<Learnt> = fitted.facts.read("parameters").unwrap();
        assert!(parameters[2].value.0 > 2.0 * parameters[1].value.0, "{parameters:?}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.mercer");
        fitted.model.save(&path).unwrap();
        let again = Model::load(&path).unwrap();
        assert_eq!(again.predict(&samples, &session).unwrap(), p);
        assert!(matches!(again.predictor, Predictor::GaussianClasses(_)));
    }
}

#[test]
fn settings_of_regression_are_refused_for_classes() {
    let (samples, session) = (rows(10), Session::default());
    let codes: Vec<usize> = (0..10).map(|i| i % 2).collect();
    let train = |gp: Gp, weights: Option<Vec<f64>>| {
        let problem = Problem::new(samples.view(), Targets::codes(&codes[..], 2)).weighted(weights);
        gp.train(&problem, &session).map(|_| ())
    };
    let gp = || Gp::new(kernel("?*rbf(sigma=1)"));
    assert!(train(gp(), None).is_ok());
    for (gp, weights) in [
        (gp().noise(Some(0.1)), None),
        (gp().inducing(Some(3)), None),
        (gp().variance(false), None),
        (gp(), Some(vec![1.0; 10])),
        (Gp::new(kernel("rbf(sigma=?) + noise(value=?)")), None),
    ] {
        let found = train(gp, weights);
        assert!(matches!(found, Err(LearnError::Unsupported(_))), "{found:?}");
    }
}

fn regression(n: usize) -> (AnySamples<'static>, Matrix<f64>) {
    let samples = rows(n);
    let y = |i: usize| {
        let x = at(&samples, i);
        (2.0 * x[0]).sin() + 0.3 * x[1] + 0.1 * (7.9 * i as f64).cos()
    };
    let targets = Matrix::from_entries(n, 1, (0..n).map(y).collect());
    (samples, targets)
}

#[test]
fn bounds_on_inducing_points_have_the_gradient_of_finite_differences() {
    let (samples, targets) = regression(70);
    let session = Session::default();
    let weights: Vec<f64> = (0..70).map(|i| 0.5 + (i % 3) as f64).collect();
    for (text, theta) in [
        ("?*rbf(sigma=[?])", vec![0.3, -0.2, 0.4, -2.0]),
        ("?*matern(nu=1.5,length=?) + ?*linear", vec![0.1, 0.3, -1.0, -2.5]),
    ] {
        for weights in [None, Some(&weights[..])] {
            let problem = Problem::new(samples.view(), &targets).weighted(weights);
            let gp = Gp::new(kernel(text)).inducing(Some(12));
            let value = |theta: &[f64]| gp.objective_at(&problem, theta, &session).unwrap().unwrap();
            let (bound, gradient) = value(&theta);
            let exact = Gp::new(kernel(text)).objective_at(&problem, &theta, &session).unwrap().unwrap().0;
            assert!(bound < exact + 1e-6, "{text}: {bound} bounds {exact}");
            for p in 0..theta.len() {
                let moved = |by: f64| {
                    let mut moved = theta.clone();
                    moved[p] += by;
                    value(&moved).0
                };
                let h = 1e-4;
                let near = (moved(h) - moved(-h)) / (2.0 * h);
                let expected = (4.0 * near - (moved(2.0 * h) - moved(-2.0 * h)) / (4.0 * h)) / 3.0;
                // Values of about 100 have errors of about 1e-11 after the jitter of 1e-8.
                assert!(
                    (gradient[p] - expected).abs() < 1e-5 * expected.abs().max(1.0),
                    "{text}, {p}: {gradient:?} against {expected}"
                );
            }
        }
    }
}

#[test]
fn enough_inducing_points_give_the_exact_process() {
    let (samples, targets) = regression(60);
    let session = Session::default();
    let problem = Problem::new(samples.view(), &targets);
    let gp = || Gp::new(kernel("rbf(sigma=1)")).noise(Some(0.05));
    let exact = gp().train(&problem, &session).unwrap();
    let induced = gp().inducing(Some(60)).train(&problem, &session).unwrap();
    let queries = rows(90);
    let [a, b] = [&exact, &induced].map(|fitted| {
        let Predictor::GaussianProcess(process) = &fitted.model.predictor else { panic!("a process") };
        let mean = process.predict(&queries, &session).unwrap();
        (mean, process.deviations(&queries, true, &session).unwrap())
    });
    for (a, b) in [(a.0, b.0), (a.1, b.1)] {
        let worst = a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-4, "{worst}");
    }
    let bound = |fitted: &mercer::learn::Fitted| fitted.facts.number("log_likelihood").unwrap();
    assert!(bound(&induced) <= bound(&exact) + 1e-6 && bound(&induced) > bound(&exact) - 1e-2);
    // Fewer points than that, with learnt hyper-parameters: the model keeps them alone.
    let few = Gp::new(kernel("?*rbf(sigma=[?])")).inducing(Some(25)).train(&problem, &session).unwrap();
    let Predictor::GaussianProcess(process) = &few.model.predictor else { panic!("a process") };
    assert_eq!(process.mean.centres.nrows(), 25);
    let mean = process.predict(&samples, &session).unwrap();
    let squared: f64 = mean.entries().iter().zip(targets.entries()).map(|(m, y)| (m - y).powi(2)).sum();
    assert!((squared / 60.0).sqrt() < 0.2, "{squared}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mercer");
    few.model.save(&path).unwrap();
    let again = Model::load(&path).unwrap();
    assert_eq!(again.predictor, few.model.predictor);
}

#[test]
fn learning_on_a_part_first_ends_at_a_stationary_point_of_all_rows() {
    let (samples, targets) = regression(900);
    let session = Session::default();
    let problem = Problem::new(samples.view(), &targets);
    let gp = Gp::new(kernel("?*rbf(sigma=[?])")).inducing(Some(20));
    let fitted = gp.train(&problem, &session).unwrap();
    let first: Facts = fitted.facts.read("learnt_first").unwrap();
    assert_eq!(first.number("rows"), Some(200.0));
    assert!(first.number("steps").unwrap() > 3.0);
    let rows: Vec<Learnt> = fitted.facts.read("parameters").unwrap();
    let theta: Vec<f64> = rows.iter().map(|row| row.value.0.ln()).collect();
    let (value, gradient) = gp.objective_at(&problem, &theta, &session).unwrap().unwrap();
    assert!((value - fitted.facts.number("log_likelihood").unwrap()).abs() < 1e-9 * value.abs());
    // The curvature is of the order of the number of rows: this is less than a thousandth away from the optimum in each logarithm.
    let free = rows.iter().zip(&gradient).filter(|(row, _)| row.at_bound.is_none());
    assert!(free.clone().count() >= 3 && free.clone().all(|(_, slope)| slope.abs() < 1.0), "{gradient:?}");
    // The same bits again.
    assert_eq!(gp.train(&problem, &session).unwrap().model, fitted.model);
}

/// Two parts of the rows, whose sums and gradients are added.
struct Halves<'a>([RowBlocks<'a>; 2]);

impl ProcessRows for Halves<'_> {
    fn sums(&self, values: &[f64], session: &Session<'_>) -> Result<InducingSums, LearnError> {
        let [mut sums, other] = [0, 1].map(|part| self.0[part].sums(values, session).unwrap().to_numbers());
        sums.iter_mut().zip(other).for_each(|(sum, part)| *sum += part);
        Ok(InducingSums::from_numbers(&sums, 15, 1).unwrap())
    }

    fn gradient(
        &self,
        values: &[f64],
        slopes: &RowSlopes,
        session: &Session<'_>,
    ) -> Result<Vec<f64>, LearnError> {
        let [first, other] = [0, 1].map(|part| self.0[part].gradient(values, slopes, session).unwrap());
        Ok(first.into_iter().zip(other).map(|(a, b)| a + b).collect())
    }
}

#[test]
fn rows_in_parts_give_the_process_of_all_rows() {
    let (samples, targets) = regression(120);
    let session = Session::default();
    let weights: Vec<f64> = (0..120).map(|i| f64::from(i % 4)).collect();
    let problem = Problem::new(samples.view(), &targets).weighted(Some(&weights[..]));
    let gp = Gp::new(kernel("?*rbf(sigma=?)")).inducing(Some(15));
    let whole = gp.train(&problem, &session).unwrap();
    let counted: Vec<usize> = (0..120).filter(|i| i % 4 > 0).collect();
    let y: Vec<f64> = counted.iter().map(|&i| targets.row(i)[0]).collect();
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let squares = y.iter().map(|y| (y - mean).powi(2)).sum();
    let moments = TargetMoments { rows: y.len() as u64, means: vec![mean], squares: vec![squares] };
    let start = gp.process_start(&problem, &moments, &session).unwrap();
    let normalised = start.normalised(&targets);
    let part = |rows: std::ops::Range<usize>| {
        let rows: Vec<usize> = rows.collect();
        let weights: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
        let (samples, targets) = (samples.select(&rows), normalised.select(&rows));
        RowBlocks::new(&start.kernel, &start.points, &samples, &targets, Some(&weights), &session).unwrap()
    };
    let halves = Halves([part(0..50), part(50..120)]);
    let parts = gp.train_on_sums(&problem, &moments, &halves, &session).unwrap();
    let value = |fitted: &mercer::learn::Fitted| fitted.facts.number("log_likelihood").unwrap();
    assert!((value(&whole) - value(&parts)).abs() < 1e-6 * value(&whole).abs().max(1.0));
    assert_eq!(whole.model.predictor.ncols(), parts.model.predictor.ncols());
    let [a, b] = [&whole, &parts].map(|fitted| fitted.predict(samples.view()).unwrap());
    let worst = a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Two searches that stop where a step gains less than 1e-7 of the likelihood.
    assert!(worst < 1e-3, "{worst}");
    // Sums of another size.
    let sums = halves.sums(&[1.0, 1.0], &session).unwrap().to_numbers();
    assert_eq!(sums.len(), InducingSums::count(15, 1));
    assert!(InducingSums::from_numbers(&sums, 14, 1).is_none());
}

#[test]
fn invalid_inducing_points_are_refused() {
    let (samples, targets) = regression(20);
    let session = Session::default();
    let problem = Problem::new(samples.view(), &targets);
    for gp in [
        Gp::new(kernel("rbf(sigma=1)")).inducing(Some(21)),
        Gp::new(kernel("rbf(sigma=1)")).inducing(Some(0)),
        Gp::new(kernel("rbf(sigma=1)")).inducing(Some(5)).noise(Some(0.0)),
        Gp::new(kernel("rbf(sigma=1) + noise(value=1)")).inducing(Some(5)),
    ] {
        assert!(gp.train(&problem, &session).is_err());
    }
}
