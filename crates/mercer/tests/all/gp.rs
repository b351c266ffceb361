//! Gaussian processes against formulas that share no code with them.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::kernel::Kernel;
use mercer::learn::{Gp, GpObjective, GpSolver, LearnError, Learner, Learnt, Problem, Shape};
use mercer::model::{GaussianProcess, Model, ModelError, Predictor};
use mercer::session::Session;

use crate::oracle::{eliminate, noise};

fn samples(n: usize, d: usize, seed: u64) -> (Vec<f64>, AnySamples<'static>) {
    let entries = noise(n * d, seed);
    (entries.clone(), AnySamples::F64(Samples::dense(n, d, entries).unwrap()))
}

fn targets(x: &[f64], d: usize, outputs: usize) -> Matrix<f64> {
    let n = x.len() / d;
    let rough = noise(n * outputs, 99);
    let entry = |k: usize| {
        (3.0 * x[k / outputs * d]).sin() + (k % outputs) as f64 * x[k / outputs * d] + 0.2 * rough[k]
    };
    Matrix::from_entries(n, outputs, (0..n * outputs).map(entry).collect())
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// K + σ²/w by the kernel's own definition.
fn matrix(kernel: &Kernel, x: &[f64], d: usize, variance: f64, weights: Option<&[f64]>) -> Vec<Vec<f64>> {
    let n = x.len() / d;
    let row = |i: usize| &x[i * d..(i + 1) * d];
    let entry = |i: usize, j: usize| {
        let own = if i == j { variance / weights.map_or(1.0, |w| w[i]) } else { 0.0 };
        kernel.eval(row(i), row(j)).unwrap() + own
    };
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

fn columns(matrix: &Matrix<f64>) -> Vec<Vec<f64>> {
    (0..matrix.nrows()).map(|i| matrix.row(i).to_vec()).collect()
}

/// log|A| by elimination without pivoting, which a positive definite matrix does not need.
fn log_determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for k in 0..n {
        sum += a[k][k].ln();
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, below) = a.split_at_mut(i);
            below[0][k..].iter_mut().zip(&above[k][k..]).for_each(|(x, y)| *x -= factor * y);
        }
    }
    sum
}

fn log_normal(y: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((y - mean).powi(2) / variance + variance.ln() + (2.0 * std::f64::consts::PI).ln())
}

/// The two objectives by their definitions.
fn objective(which: GpObjective, a: &[Vec<f64>], y: &Matrix<f64>) -> f64 {
    let n = a.len();
    match which {
        GpObjective::Likelihood => {
            let alpha = eliminate(a.to_vec(), columns(y));
            let determinant = log_determinant(a.to_vec());
            (0..y.ncols())
                .map(|o| {
                    let fit: f64 = (0..n).map(|i| y.row(i)[o] * alpha[i][o]).sum();
                    -0.5 * (fit + determinant + n as f64 * (2.0 * std::f64::consts::PI).ln())
                })
                .sum()
        }
        GpObjective::LeaveOneOut => {
            let mut sum = 0.0;
            for left in 0..n {
                let rest: Vec<usize> = (0..n).filter(|&i| i != left).collect();
                let inner: Vec<Vec<f64>> =
                    rest.iter().map(|&i| rest.iter().map(|&j| a[i][j]).collect()).collect();
                let crossed: Vec<Vec<f64>> = rest.iter().map(|&i| vec![a[i][left]]).collect();
                let solved = eliminate(inner, crossed);
                let explained: f64 = rest.iter().zip(&solved).map(|(&i, s)| a[i][left] * s[0]).sum();
                for o in 0..y.ncols() {
                    let mean: f64 = rest.iter().zip(&solved).map(|(&i, s)| s[0] * y.row(i)[o]).sum();
                    sum += log_normal(y.row(left)[o], mean, a[left][left] - explained);
                }
            }
            sum
        }
    }
}

#[test]
fn objectives_and_gradients_match_their_definitions() {
    let (n, d) = (23, 2);
    let (x, all) = samples(n, d, 5);
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    for (text, outputs, weights, given) in [
        ("?*rbf(sigma=[?])", 1, None, None),
        ("?*matern(nu=2.5, length=?) + ?*linear", 2, Some(&weights[..]), None),
        ("?*rq(alpha=?, length=?)*periodic(period=?, length=?)[0] + noise(value=?)", 1, None, None),
        ("?*laplacian(gamma=[?]) + ?", 1, None, Some(0.05)),
    ] {
        let y = targets(&x, d, outputs);
        for which in [GpObjective::Likelihood, GpObjective::LeaveOneOut] {
            let open = kernel(text);
            let gp = Gp::new(open.clone()).normalise(false).objective(which).noise(given);
            let problem = Problem::new(all.view(), &y).weighted(weights);
            let session = Session::default();
            let open = open.resolve_auto(&session.scales(&all)).unwrap();
            let own = open.tunables().unwrap().len();
            let learnt = gp.start(&problem, &session).unwrap().len() - own;
            assert_eq!(learnt, usize::from(given.is_none() && !text.contains("noise")), "{text}");
            let theta: Vec<f64> = (0..own + learnt).map(|p| 0.2 * (p as f64).cos() - 0.3).collect();
            let by_definition = |theta: &[f64]| {
                let values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
                let filled = open.with_values(&values[..own]).unwrap();
                let variance = if learnt == 1 { values[own] } else { given.unwrap_or(0.0) };
                objective(which, &matrix(&filled, &x, d, variance, weights), &y)
            };
            let (value, gradient) = gp.objective_at(&problem, &theta, &session).unwrap().unwrap();
            let expected = by_definition(&theta);
            assert!((value - expected).abs() <= 1e-10 * expected.abs(), "{text}: {value} is not {expected}");
            for p in 0..theta.len() {
                let h = 1e-3;
                let at = |steps: f64| {
                    let mut moved = theta.clone();
                    moved[p] += steps * h;
                    by_definition(&moved)
                };
                let pair = |steps: f64| at(steps) - at(-steps);
                // Order 6: the error is that of rounding, eps·|objective|/h.
                let slope = (45.0 * pair(1.0) - 9.0 * pair(2.0) + pair(3.0)) / (60.0 * h);
                assert!(
                    (gradient[p] - slope).abs() <= 1e-8 * (1.0 + expected.abs()),
                    "{text}, {which:?}, {p}: {} is not {slope}",
                    gradient[p]
                );
            }
        }
    }
}

fn process(model: &Model) -> &GaussianProcess {
    let Predictor::GaussianProcess(process) = &model.predictor else { panic!("a Gaussian process") };
    process
}

#[test]
fn means_deviations_and_covariances_match_conditioning() {
    let (n, d) = (31, 2);
    let (x, all) = samples(n, d, 8);
    let y = targets(&x, d, 2);
    let (z, queries) = samples(7, d, 9);
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    let text = "1.5*rbf(sigma=0.7) + 0.3*linear";
    let gp = Gp::new(kernel(text)).noise(Some(0.02)).normalise(false);
    let session = Session::default();
    let fitted = gp.train(&Problem::new(all.view(), &y).weighted(Some(&weights[..])), &session).unwrap();
    let process = process(&fitted.model);
    let a = matrix(&kernel(text), &x, d, 0.02, Some(&weights));
    let k = |x: &[f64], i: usize, z: &[f64], j: usize| {
        kernel(text).eval(&x[i * d..(i + 1) * d], &z[j * d..(j + 1) * d]).unwrap()
    };
    let crossed: Vec<Vec<f64>> = (0..n).map(|i| (0..7).map(|q| k(&x, i, &z, q)).collect()).collect();
    let solved = eliminate(a, crossed.clone());
    let mean = fitted.predict(queries.view()).unwrap();
    let covariance = process.covariance(&queries, false, &session).unwrap();
    let deviations = process.deviations(&queries, true, &session).unwrap();
    for q in 0..7 {
        for o in 0..2 {
            let expected: f64 = (0..n).map(|i| solved[i][q] * y.row(i)[o]).sum();
            assert!((mean.row(q)[o] - expected).abs() < 1e-10, "mean {q}, {o}");
        }
        for r in 0..7 {
            let explained: f64 = (0..n).map(|i| solved[i][q] * crossed[i][r]).sum();
            let expected = k(&z, q, &z, r) - explained;
            assert!((covariance.row(q)[r] - expected).abs() < 1e-10, "covariance {q}, {r}");
            if q == r {
                assert!((deviations.row(q)[1].powi(2) - expected - 0.02).abs() < 1e-10, "deviation {q}");
            }
        }
    }
    // Draws have the mean and the covariance of the posterior.
    let draws = process.draws(&queries, 1, 4_000, &session).unwrap();
    for q in 0..7 {
        let average = draws.row(q).iter().sum::<f64>() / 4_000.0;
        let spread = covariance.row(q)[q].sqrt();
        assert!((average - mean.row(q)[1]).abs() < 5.0 * spread / 4_000f64.sqrt(), "draws at {q}");
    }
}

#[test]
fn learning_finds_a_maximum_and_the_columns_that_matter() {
    let (n, d) = (120, 3);
    let (x, all) = samples(n, d, 3);
    let y = targets(&x, d, 1);
    let session = Session::default();
    let gp = Gp::default();
    let problem = Problem::new(all.view(), &y);
    let fitted = gp.train(&problem, &session).unwrap();
    let parameters: Vec<Learnt> = fitted.facts.read("parameters").unwrap();
    let log: Vec<f64> = parameters.iter().map(|p| p.value.0.ln()).collect();
    let (value, gradient) = gp.objective_at(&problem, &log, &session).unwrap().unwrap();
    assert!((value - fitted.facts.number("log_likelihood").unwrap()).abs() < 1e-6 * value.abs());
    for (p, slope) in gradient.iter().enumerate() {
        assert!(slope.abs() < 1e-2 || parameters[p].at_bound.is_some(), "{p}: {slope}");
    }
    // Only the first column matters; the noise was uniform on ±0.2.
    assert!(log[1] < log[2] - 1.5 && log[1] < log[3] - 1.5, "{log:?}");
    let process = process(&fitted.model);
    let deviation = process.noise.sqrt() * process.scales[0];
    assert!((0.08..0.16).contains(&deviation), "{deviation}");
    // A second fit gives the same bits, and restarts never a smaller likelihood.
    assert_eq!(gp.train(&problem, &session).unwrap(), fitted);
    let restarted = gp.clone().restarts(2).train(&problem, &session).unwrap();
    assert!(restarted.facts.number("log_likelihood").unwrap() >= value - 1e-6 * value.abs());
}

#[test]
fn priors_pull_hyper_parameters() {
    let (x, all) = samples(40, 1, 4);
    let y = targets(&x, 1, 1);
    let session = Session::default();
    let sigma = |text: &str| {
        let fitted = Gp::new(kernel(text)).train(&Problem::new(all.view(), &y), &session).unwrap();
        fitted.facts.read::<Vec<Learnt>>("parameters").unwrap()[1].value.0
    };
    let free = sigma("?*rbf(sigma=?)");
    assert!((sigma("?*rbf(sigma=?~lognormal(3, 0.001))").ln() - 3.0).abs() < 0.01);
    assert!((sigma("?*rbf(sigma=?~lognormal(0, 1000))") - free).abs() < 1e-3 * free);
    assert_eq!(sigma("?*rbf(sigma=?0.01..0.02)"), 0.02, "the nearest bound");
}

#[test]
fn model_files_keep_the_variance_by_default() {
    let (x, all) = samples(20, 2, 6);
    let y = targets(&x, 2, 1);
    let session = Session::default();
    let folder = tempfile::tempdir().unwrap();
    for keeps in [true, false] {
        let fitted = Gp::default().variance(keeps).train(&Problem::new(all.view(), &y), &session).unwrap();
        let path = folder.path().join("m.mercer");
        fitted.save(&path).unwrap();
        let model = Model::load(&path).unwrap();
        assert_eq!(model, fitted.model);
        let deviations = process(&model).deviations(&all, true, &session);
        match keeps {
            true => assert!(deviations.unwrap().entries().iter().all(|d| *d > 0.0)),
            false => assert!(matches!(deviations, Err(ModelError::NoVariance))),
        }
    }
}

#[test]
fn bad_input_is_refused_or_reported() {
    let (x, all) = samples(12, 1, 7);
    let y = targets(&x, 1, 1);
    let session = Session::default();
    let train =
        |gp: &Gp, all: &AnySamples<'_>, y: &Matrix<f64>| gp.train(&Problem::new(all.view(), y), &session);
    let text = |result: Result<mercer::learn::Fitted, LearnError>| result.unwrap_err().to_string();
    let refuted = Gp::new(kernel("?*sigmoid(gamma=1, c=-1)"));
    assert!(matches!(train(&refuted, &all, &y), Err(LearnError::NotAKernel { .. })));
    assert!(text(train(&Gp::new(kernel("matern(nu=?)")), &all, &y)).contains("nu is a choice"));
    assert!(text(train(&Gp::new(kernel("rbf(sigma=?{1,2})")), &all, &y)).contains("?lo..hi"));
    assert!(text(train(&Gp::default().noise(Some(-1.0)), &all, &y)).contains("noise is -1"));
    let mut broken = y.clone();
    broken.row_mut(3)[0] = f64::NAN;
    assert!(text(train(&Gp::default(), &all, &broken)).contains("target of row 3"));
    let hole = AnySamples::F64(Samples::dense(2, 1, vec![1.0, f64::NAN]).unwrap());
    assert!(
        text(train(&Gp::default(), &hole, &Matrix::from_entries(2, 1, vec![1.0, 2.0])))
            .contains("feature of row 1")
    );

    let warnings = |fitted: &mercer::learn::Fitted| fitted.report.as_ref().unwrap().warnings.join("\n");
    let constant = Matrix::from_entries(12, 1, vec![0.1; 12]);
    for gp in [Gp::default(), Gp::default().solver(GpSolver::Cg), Gp::default().inducing(Some(4))] {
        let fitted = train(&gp, &all, &constant).unwrap();
        assert!(warnings(&fitted).contains("same in every row"), "{}", warnings(&fitted));
        assert!((fitted.predict(&[[0.3]]).unwrap().row(0)[0] - 0.1).abs() < 1e-15);
    }
    let one = AnySamples::F64(Samples::dense(1, 1, vec![1.0]).unwrap());
    train(&Gp::default(), &one, &Matrix::from_entries(1, 1, vec![4.0])).unwrap();
    // Two equal rows with different targets and no noise.
    let twice = AnySamples::F64(Samples::dense(3, 1, vec![1.0, 1.0, 2.0]).unwrap());
    let conflict = Matrix::from_entries(3, 1, vec![1.0, 2.0, 3.0]);
    let plain = Gp::new(kernel("rbf")).noise(Some(0.0));
    let fitted = train(&plain, &twice, &conflict).unwrap();
    assert!(warnings(&fitted).contains("rows 0 and 1 (counted from 0) are equal"), "{}", warnings(&fitted));
    // Rows are those of the data, also after one that does not count.
    let more = AnySamples::F64(Samples::dense(4, 1, vec![5.0, 1.0, 1.0, 2.0]).unwrap());
    let targets = Matrix::from_entries(4, 1, vec![0.0, 1.0, 2.0, 3.0]);
    let weighted = Problem::new(more.view(), &targets).weighted(Some(&[0.0, 1.0, 1.0, 1.0][..]));
    let fitted = plain.train(&weighted, &session).unwrap();
    assert!(warnings(&fitted).contains("rows 1 and 2 (counted from 0) are equal"), "{}", warnings(&fitted));
}

/// The estimate differs from the likelihood by a few of its standard errors, and so does its gradient, whose standard error is that
/// between seeds; both are deterministic.
#[test]
fn conjugate_gradients_estimate_the_likelihood_and_its_gradient() {
    const SEEDS: u64 = 12;
    let (n, d) = (250, 2);
    let (x, all) = samples(n, d, 11);
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    let session = Session::default();
    for (text, outputs, weights) in
        [("?*rbf(sigma=[?])", 1, None), ("?*matern(nu=1.5, length=?) + ?*linear", 2, Some(&weights[..]))]
    {
        let y = targets(&x, d, outputs);
        let problem = Problem::new(all.view(), &y).weighted(weights);
        let exact = Gp::new(kernel(text)).solver(GpSolver::Cholesky);
        let unknowns = exact.start(&problem, &session).unwrap().len();
        let theta: Vec<f64> =
            (0..unknowns).map(|p| if p + 1 == unknowns { -3.0 } else { 0.3 * (p as f64).cos() }).collect();
        let (value, gradient) = exact.objective_at(&problem, &theta, &session).unwrap().unwrap();
        let estimate = Gp::new(kernel(text)).solver(GpSolver::Cg);
        let fixed = estimate.clone().initial(Some(theta.clone())).learn(false);
        let error = fixed.train(&problem, &session).unwrap().facts.number("log_likelihood_error").unwrap();
        assert!(error < 0.02 * value.abs(), "{text}: the standard error is {error} of {value}");
        let at = |seed| {
            let session = Session::default().with_seed(seed);
            estimate.objective_at(&problem, &theta, &session).unwrap().unwrap()
        };
        let found: Vec<_> = (0..SEEDS).map(at).collect();
        assert_eq!(at(0), found[0]);
        // Conjugate gradients stop at residuals of 1e-4, which is squared in the quadratic form but not in the gradient.
        let about = found[0].0;
        assert!(
            (about - value).abs() < 5.0 * error + 1e-5 * value.abs(),
            "{text}: {about} is not {value} ± {error}"
        );
        let size = gradient.iter().fold(1.0, |m: f64, g| m.max(g.abs()));
        for (p, exact) in gradient.iter().enumerate() {
            let mean = found.iter().map(|(_, slopes)| slopes[p]).sum::<f64>() / SEEDS as f64;
            let squares: f64 = found.iter().map(|(_, slopes)| (slopes[p] - mean).powi(2)).sum();
            let error = (squares / (SEEDS * (SEEDS - 1)) as f64).sqrt();
            assert!(error < 0.05 * size, "{text}, {p}: the standard error of {mean} is {error}");
            assert!(
                (mean - exact).abs() < 5.0 * error + 1e-3 * size,
                "{text}, {p}: {mean} ± {error} is not {exact}"
            );
        }
    }
}

/// The mean is that of the factor, and no variance is smaller than that given all targets.
#[test]
fn conjugate_gradients_give_the_mean_and_no_variance_that_is_too_small() {
    let (n, d) = (300, 2);
    let (x, all) = samples(n, d, 12);
    let (y, (_, queries)) = (targets(&x, d, 2), samples(40, d, 13));
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    let session = Session::default();
    let problem = Problem::new(all.view(), &y).weighted(Some(&weights[..]));
    let gp = Gp::new(kernel("1.2*rbf(sigma=0.6) + 0.2*linear")).noise(Some(0.05));
    let exact = gp.clone().solver(GpSolver::Cholesky).train(&problem, &session).unwrap();
    let found = gp.solver(GpSolver::Cg).train(&problem, &session).unwrap();
    assert!(found.report.as_ref().unwrap().solver.contains("conjugate gradients"));
    let (mean, expected) = (found.predict(queries.view()).unwrap(), exact.predict(queries.view()).unwrap());
    for (m, e) in mean.entries().iter().zip(expected.entries()) {
        assert!((m - e).abs() < 1e-4, "{m} is not {e}");
    }
    let deviations = |model: &Model| process(model).deviations(&queries, true, &session).unwrap();
    for (s, e) in deviations(&found.model).entries().iter().zip(deviations(&exact.model).entries()) {
        assert!(*s >= e - 1e-9 && *s < 1.05 * e, "{s} against {e}");
    }
    let path = tempfile::tempdir().unwrap().keep().join("m.mercer");
    found.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap(), found.model);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn auto_chooses_an_affordable_solver() {
    let gp = Gp::default();
    let session = Session::default();
    let resolved = |gp: &Gp, rows: usize, session: &Session<'_>| {
        gp.resolved(Shape { rows, columns: 3, targets: 1 }, session)
    };
    assert_eq!(resolved(&gp, 1_000, &session), gp);
    assert_eq!(resolved(&gp, 5_000, &session.with_memory(300 << 20)).solver, GpSolver::Cg);
    assert_eq!(resolved(&gp, 1_000_000, &session).inducing, Some(1_024));
    // Settings that need a factor, and explicit solvers, are kept.
    for fixed in [
        gp.clone().solver(GpSolver::Cholesky),
        gp.clone().objective(GpObjective::LeaveOneOut),
        Gp::new(kernel("rbf + noise(value=?)")),
    ] {
        assert_eq!(resolved(&fixed, 1_000_000, &session), fixed);
    }
    let (x, all) = samples(30, 1, 4);
    let y = targets(&x, 1, 1);
    let refused = gp.solver(GpSolver::Cg).noise(Some(0.0)).train(&Problem::new(all.view(), &y), &session);
    assert!(refused.unwrap_err().to_string().contains("noise above 0"));
}
