//! Scales far from 1: hyper-parameters and data near the limits of a double.

use crate::oracle::{self, noise};
use mercer::data::{AnySamples, Matrix, Samples, Schema};
use mercer::data::{Encoding, FeatureColumn, Features, Missing, Reading, ScaleMethod, Scaling};
use mercer::design::{Approximation, DesignError, RandomSpec};
use mercer::gram::{CpuEngine, DenseGram, Engine, Metric};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Knn, LearnError, Learner, Problem, Ridge, Targets};
use mercer::model::Model;
use mercer::session::Session;
use mercer::solve::{SolveError, Status};
use mercer::watch::Unwatched;

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn dense(ncols: usize, entries: Vec<f64>) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(entries.len() / ncols, ncols, entries).unwrap())
}

/// The kernel matrix by tiles, checked entry by entry against `eval`.
fn gram(text: &str, ncols: usize, entries: &[f64]) -> Vec<f64> {
    let kernel = kernel(text);
    let resident = CpuEngine.load(&dense(ncols, entries.to_vec())).unwrap();
    let gram = DenseGram::<f64>::compute(&*resident, &kernel, &Unwatched).unwrap();
    let (n, found) = (entries.len() / ncols, gram.entries().to_vec());
    for (i, x) in entries.chunks_exact(ncols).enumerate() {
        for (j, z) in entries.chunks_exact(ncols).enumerate() {
            let (found, expected) = (found[i * n + j], kernel.eval(x, z).unwrap());
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
                "{text} at {i}, {j}: {found} {expected}"
            );
        }
    }
    found
}

#[test]
fn the_diagonal_is_one_at_any_width() {
    let points = [0.3, -1.0, 0.3, -1.0, 2.0, 0.7];
    assert_eq!(gram("rbf(sigma=4e-324)", 2, &points)[..3], [1.0, 1.0, 0.0]);
    for width in ["1e-160", "1e-300", "1e-100", "1e100", "1e160", "1e300"] {
        for family in [
            "rbf(sigma=W)",
            "matern(nu=0.5, length=W)",
            "matern(nu=2.5, length=W)",
            "rq(alpha=1.5, length=W)",
            "wendland(k=1, radius=W)",
            "periodic(period=W)",
            "rbf(sigma=[W,1])",
            "periodic(period=1, length=W)",
        ] {
            let text = family.replace('W', width);
            let found = gram(&text, 2, &points);
            for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1)] {
                assert_eq!(found[3 * i + j], 1.0, "{text} at {i}, {j}");
            }
            let tiny = width.contains('-') && width != "1e-100" && !family.starts_with("periodic");
            assert!(!tiny || found[2] < 1e-100, "{text}: {}", found[2]);
        }
    }
}

#[test]
fn a_width_as_small_or_large_as_the_data_gives_usual_values() {
    for scale in [1e-200, 1e-160, 1e160, 1e200] {
        let points: Vec<f64> = [0.3, -1.0, 0.3, -1.5, 2.0, 0.7].iter().map(|v| v * scale).collect();
        for family in ["rbf(sigma=W)", "matern(nu=1.5, length=W)", "rq(length=W)"] {
            let found = gram(&family.replace('W', &format!("{scale:e}")), 2, &points);
            assert!(
                (found[1] - gram(&family.replace('W', "1"), 2, &[0.3, -1.0, 0.3, -1.5])[1]).abs() < 1e-12
            );
        }
        for text in ["cosine", "arccos(order=0)"] {
            let found = gram(text, 2, &points);
            assert!((found[0] - 1.0).abs() < 1e-14 && (found[1] - 1.0).abs() < 0.2, "{text}: {found:?}");
        }
    }
}

#[test]
fn neighbours_are_found_at_any_scale() {
    let plain = noise(400, 5);
    let expected = CpuEngine.load(&dense(2, plain.clone())).unwrap();
    let expected = expected.nearest(&*expected, 4, Metric::Euclidean, &Unwatched).unwrap();
    // Powers of two: the rows differ by their exponents alone.
    for scale in [2f64.powi(-660), 2f64.powi(-500), 2f64.powi(660)] {
        let scaled = dense(2, plain.iter().map(|v| v * scale).collect());
        let resident = CpuEngine.load(&scaled).unwrap();
        let found = resident.nearest(&*resident, 4, Metric::Euclidean, &Unwatched).unwrap();
        assert_eq!(found.rows, expected.rows, "{scale:e}");
        let close = |(a, b): (&f64, &f64)| (a / scale - b).abs() <= 1e-12;
        assert!(found.distances.iter().zip(&expected.distances).all(close), "{scale:e}");
        let y = Matrix::from_entries(200, 1, plain.iter().step_by(2).copied().collect());
        let knn = Knn::new(1);
        assert_eq!(
            knn.fit(&scaled, &y).unwrap().predict(&scaled).unwrap(),
            y,
            "each row is its own neighbour"
        );
    }
}

#[test]
fn random_features_refuse_rows_whose_phases_are_lost() {
    let features = RandomSpec::new(kernel("rbf(sigma=1)"), 64, 0).draw(2).unwrap();
    let fill =
        |row: [f64; 2]| features.fill(&dense(2, row.to_vec()), 0..1, (&mut vec![0.0; 64]).into(), &Unwatched);
    assert!(fill([1e12, -1e3]).is_ok());
    let error = fill([0.5, -1e20]).unwrap_err();
    assert!(matches!(error, DesignError::Phase { row: 0, column: 1, .. }), "{error}");
    assert!(error.to_string().contains("column 1"), "{error}");
    let x = dense(1, (0..30).map(|i| 1e20 * (1.0 + 0.1 * i as f64)).collect());
    let y = Matrix::from_entries(30, 1, noise(30, 3));
    assert!(Ridge::on((kernel("rbf(sigma=1)"), Approximation::fourier(32))).fit(&x, &y).is_err());
}

#[test]
fn a_margin_that_vanishes_is_an_error() {
    let x = [0.0, 0.0, 1.0, 1.0];
    let codes = [0, 1, 0, 1];
    let fit = |text: &str, nu: f64| {
        let problem = Problem::new(dense(1, x.to_vec()), Targets::codes(&codes[..], 2));
        Svm::new(kernel(text), Machine::NuSvc { nu }).train(&problem, &Session::default())
    };
    for text in ["rbf(sigma=1)", "linear", "poly(degree=2)", "1e6*rbf(sigma=1)", "1e-6*rbf(sigma=1)"] {
        for nu in [0.1, 0.5, 0.9, 1.0] {
            let error = fit(text, nu).unwrap_err();
            assert!(matches!(error, LearnError::Solve(SolveError::NoMargin { .. })), "{text} {nu}: {error}");
            assert!(error.to_string().contains("svc"), "{error}");
        }
    }
    // The same rows with one label each have a margin; so have C-classification and ν-regression an answer.
    let told_apart = Problem::new(dense(1, x.to_vec()), Targets::codes(&[0, 0, 1, 1][..], 2));
    assert!(
        Svm::new(kernel("rbf(sigma=1)"), Machine::NuSvc { nu: 0.5 })
            .train(&told_apart, &Session::default())
            .is_ok()
    );
    let problem = Problem::new(dense(1, x.to_vec()), Targets::codes(&codes[..], 2));
    assert!(
        Svm::new(kernel("rbf(sigma=1)"), Machine::Svc { c: 1.0 })
            .train(&problem, &Session::default())
            .is_ok()
    );
    let y = Matrix::from_entries(4, 1, vec![0.0, 1.0, 0.0, 1.0]);
    let problem = Problem::new(dense(1, x.to_vec()), &y);
    let fitted = Svm::new(kernel("rbf(sigma=1)"), Machine::NuSvr { c: 1.0, nu: 0.5 })
        .train(&problem, &Session::default());
    let (expansion, _) = oracle::expansion(fitted.unwrap());
    assert!(expansion.coefficients.entries().iter().all(|a| a.abs() <= 1.0));
}

#[test]
fn one_class_estimation_says_that_it_decides_nothing() {
    let x = dense(1, vec![-1.0, 1.0, -2.0, 2.0]);
    let fit = |text: &str| {
        let problem = Problem::new(x.view(), Targets::None);
        Svm::new(kernel(text), Machine::OneClass { nu: 0.5 })
            .train(&problem, &Session::default())
            .unwrap()
            .report
            .unwrap()
    };
    assert!(fit("linear").warnings.iter().any(|text| text.contains("zero everywhere")));
    assert!(fit("rbf(sigma=1)").warnings.is_empty());
}

#[test]
fn a_penalty_that_is_lost_in_rounding_is_reported() {
    let x = dense(2, noise(200, 4));
    let y = Matrix::from_entries(100, 1, noise(100, 9));
    let report = |text: &str, lambda: f64| {
        Ridge::new(kernel(text)).lambda(lambda).fit(&x, &y).unwrap().report.unwrap()
    };
    let lost = report("rbf(sigma=1e9)", 1e-12);
    assert!(lost.status == Status::Stagnated && lost.residual > 1e-6, "{lost:?}");
    assert!(lost.reasons[0].contains("larger λ"), "{lost:?}");
    let fine = report("rbf(sigma=1)", 1e-6);
    assert!(fine.status == Status::Converged && fine.warnings.is_empty(), "{fine:?}");
}

/// Names and scaling of very many columns are longer than the header of a container may be: these, as long as those of a million.
#[test]
fn a_model_of_very_many_columns_is_saved() {
    let columns = 3_000;
    let row: Vec<f64> = (0..columns).map(|j| 1.0 / (j as f64 + 3.0)).collect();
    let x = dense(columns, row.iter().copied().chain(row.iter().map(|v| v * v)).collect());
    let (scaling, _) = Scaling::of(ScaleMethod::Standard, &x).unwrap();
    let y = Matrix::from_entries(2, 1, vec![0.0, 1.0]);
    let mut model =
        Ridge::new(kernel("linear")).lambda(1.0).fit(scaling.apply(x.view()).unwrap(), &y).unwrap().model;
    let column = |position: usize| FeatureColumn {
        name: format!("{position:07}").repeat(1_000),
        position,
        encoding: Encoding::NUMBER,
    };
    model.scaling = scaling;
    model.schema = Some(Schema {
        features: Features::Columns((0..columns).map(column).collect()),
        targets: Vec::new(),
        named: true,
        missing: Missing::Error,
        dtype: model.predictor.dtype(),
        reading: Reading::default(),
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.mercer");
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert!(loaded == model);
    assert_eq!(
        loaded.predict(&x, &Session::default()).unwrap(),
        model.predict(&x, &Session::default()).unwrap()
    );
}

#[test]
fn more_features_than_rows_are_solved_in_the_dual() {
    let (x, y) = (dense(4, noise(480, 7)), Matrix::from_entries(120, 2, noise(240, 8)));
    let map = |text: &str| text.parse::<mercer::design::FeatureMap>().unwrap();
    // 135,751 features: their own equations would take 147 GB.
    let fitted = Ridge::on(map("monomials(degree=40)")).lambda(1e-3).fit(&x, &y).unwrap();
    let report = fitted.report.clone().unwrap();
    assert!(report.solver.contains("dual") && report.residual < 1e-9, "{report:?}");
    // Features of 1e30 next to features of 1 leave no correct digits, which gives a warning or an error.
    for size in [3.0, 6.0] {
        let far = dense(4, noise(480, 7).into_iter().map(|v| size * v).collect());
        match Ridge::on(map("monomials(degree=40)")).lambda(1e-3).fit(&far, &y) {
            Ok(fitted) => {
                let report = fitted.report.unwrap();
                let warned = report.reasons.iter().any(|w| w.contains("differ so much"));
                assert!(
                    if report.residual > 1e-6 {
                        report.status == Status::Stagnated && warned
                    } else {
                        !warned
                    },
                    "{report:?}"
                );
            }
            Err(error) => {
                let is_named =
                    matches!(error, LearnError::Solve(SolveError::Overflow | SolveError::Unresolved { .. }));
                assert!(is_named, "{error}");
            }
        }
    }
    // Primal and dual agree for every intercept, every weights and every number of λ.
    let weights: Vec<f64> = (0..40).map(|i| 0.5 + f64::from(i % 3)).collect();
    let (x, y) = (dense(3, noise(120, 2)), Matrix::from_entries(40, 2, noise(80, 6)));
    for intercept in
        [mercer::learn::Intercept::None, mercer::learn::Intercept::Centred, mercer::learn::Intercept::Column]
    {
        let dual = Ridge::on(map("monomials(degree=6)")).lambdas(vec![0.1, 0.3]).intercept(intercept);
        let (linear, report) =
            oracle::linear(oracle::train(&dual, &x, &y, Some(&weights), &Session::default()).unwrap());
        assert!(report.solver.contains("dual"), "{report:?}");
        // Each row twice with half the weight: 80 rows are still fewer than 84 features, 240 are not.
        let six: Vec<f64> = (0..6).flat_map(|_| (0..40).map(|i| weights[i] / 6.0)).collect();
        let rows: Vec<usize> = (0..6).flat_map(|_| 0..40).collect();
        let (many, of_many) = (x.select(&rows), y.select(&rows));
        let (primal, report) =
            oracle::linear(oracle::train(&dual, &many, &of_many, Some(&six), &Session::default()).unwrap());
        assert!(!report.solver.contains("dual"), "{report:?}");
        let apart = linear.weights.entries().iter().zip(primal.weights.entries()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-9, "{intercept:?}");
        assert!(
            linear.intercepts.iter().zip(&primal.intercepts).all(|(a, b)| (a - b).abs() < 1e-9),
            "{intercept:?}"
        );
    }
}

#[test]
fn the_error_names_the_numbers_of_penalties_and_targets() {
    let (x, y) = (dense(1, noise(404, 4)), Matrix::from_entries(404, 2, noise(808, 9)));
    let error = Ridge::new(kernel("linear")).lambdas(vec![1.0; 3]).fit(&x, &y).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are 3 values of lambda for 2 targets; give one for all targets or one for each"
    );
}
