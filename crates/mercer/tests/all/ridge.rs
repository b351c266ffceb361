//! Ridge regression against answers found another way: Gaussian elimination on `kernel::eval`.

use crate::oracle::{self, eliminate, noise};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{DenseGram, NumericalRank};
use mercer::kernel::Kernel;
use mercer::kernel::check::Domain;
use mercer::learn::{self, Inputs, Intercept, KernelCheck, LearnError, Learner, Ridge, RidgeSolver};
use mercer::model::{Expansion, ModelError};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{Report, SolveError};

const KERNEL: &str = "0.5*rbf(sigma=2) + (<x,z>+1)^2";

fn samples(rows: usize, columns: usize, seed: u64) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(rows, columns, noise(rows * columns, seed)).unwrap())
}

fn row(samples: &AnySamples<'_>, i: usize) -> Vec<f64> {
    let mut out = vec![0.0; samples.ncols()];
    samples.copy_row(i, &mut out);
    out
}

fn gram(kernel: &Kernel, x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    x.iter().map(|a| x.iter().map(|b| kernel.eval(a, b).unwrap()).collect()).collect()
}

struct Problem {
    kernel: Kernel,
    x: AnySamples<'static>,
    y: Matrix<f64>,
    queries: AnySamples<'static>,
}

fn problem(rows: usize) -> Problem {
    Problem {
        kernel: KERNEL.parse().unwrap(),
        x: samples(rows, 3, 1),
        y: Matrix::from_entries(rows, 2, noise(rows * 2, 2).into_iter().map(|v| 3.0 + v).collect()),
        queries: samples(17, 3, 3),
    }
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn fit(
    ridge: &Ridge,
    x: &AnySamples<'_>,
    y: &Matrix<f64>,
    weights: Option<&[f64]>,
) -> Result<(Expansion, Report), LearnError> {
    oracle::train(ridge, x, y, weights, &Session::default()).map(oracle::expansion)
}

fn predictions(problem: &Problem, ridge: &Ridge, weights: Option<&[f64]>) -> Matrix<f64> {
    let (model, _) = fit(ridge, &problem.x, &problem.y, weights).unwrap();
    model.predict(&problem.queries, &Session::default()).unwrap()
}

fn assert_close(found: &Matrix<f64>, expected: &[Vec<f64>], tolerance: f64) {
    for (i, expected) in expected.iter().enumerate() {
        for (f, e) in found.row(i).iter().zip(expected) {
            assert!((f - e).abs() <= tolerance * e.abs().max(1.0), "row {i}: {f} is not {e}");
        }
    }
}

fn plain(x: &AnySamples<'_>) -> Vec<Vec<f64>> {
    (0..x.nrows()).map(|i| row(x, i)).collect()
}

fn targets(y: &Matrix<f64>) -> Vec<Vec<f64>> {
    (0..y.nrows()).map(|i| y.row(i).to_vec()).collect()
}

/// Σᵢ aᵢ k(xᵢ, q) + b at every query.
fn expand(kernel: &Kernel, x: &[Vec<f64>], a: &[Vec<f64>], b: &[f64], queries: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let at = |q: &Vec<f64>, c: usize| {
        x.iter().zip(a).map(|(x, a)| a[c] * kernel.eval(x, q).unwrap()).sum::<f64>() + b[c]
    };
    queries.iter().map(|q| (0..b.len()).map(|c| at(q, c)).collect()).collect()
}

#[test]
fn without_bias_it_is_the_closed_form() {
    let problem = problem(60);
    let (x, lambda) = (plain(&problem.x), 0.01);
    let mut system = gram(&problem.kernel, &x);
    (0..x.len()).for_each(|i| system[i][i] += lambda);
    let a = eliminate(system, targets(&problem.y));
    let expected = expand(&problem.kernel, &x, &a, &[0.0; 2], &plain(&problem.queries));
    let ridge = Ridge::new(problem.kernel.clone()).lambda(lambda).intercept(Intercept::None);
    assert_close(&predictions(&problem, &ridge, None), &expected, 1e-8);
}

#[test]
fn centred_is_ridge_with_an_unpenalised_intercept() {
    let problem = problem(60);
    let (x, lambda) = (plain(&problem.x), 0.01);
    let n = x.len();
    // Stationarity in a and b: (K + λI)a + b·1 = y and 1ᵀa = 0, one bordered system.
    let mut system = gram(&problem.kernel, &x);
    for (i, row) in system.iter_mut().enumerate() {
        row[i] += lambda;
        row.push(1.0);
    }
    system.push([vec![1.0; n], vec![0.0]].concat());
    let mut rhs = targets(&problem.y);
    rhs.push(vec![0.0; 2]);
    let mut a = eliminate(system, rhs);
    let b = a.pop().unwrap();
    let expected = expand(&problem.kernel, &x, &a, &b, &plain(&problem.queries));
    let ridge = Ridge::new(problem.kernel.clone()).lambda(lambda).intercept(Intercept::Centred);
    assert_close(&predictions(&problem, &ridge, None), &expected, 1e-8);
}

#[test]
fn column_centres_the_data_and_adds_a_constant_to_the_kernel() {
    let problem = problem(60);
    let lambda = 0.01;
    let (mut x, mut y) = (plain(&problem.x), targets(&problem.y));
    let n = x.len() as f64;
    let mean = |m: &[Vec<f64>], c: usize| m.iter().map(|r| r[c]).sum::<f64>() / n;
    let (mx, my): (Vec<f64>, Vec<f64>) =
        ((0..3).map(|c| mean(&x, c)).collect(), (0..2).map(|c| mean(&y, c)).collect());
    let shift = |m: &mut [Vec<f64>], by: &[f64]| {
        m.iter_mut().for_each(|row| row.iter_mut().zip(by).for_each(|(v, b)| *v -= b));
    };
    shift(&mut x, &mx);
    shift(&mut y, &my);
    let kernel: Kernel = format!("{KERNEL} + 1").parse().unwrap();
    let mut system = gram(&kernel, &x);
    (0..x.len()).for_each(|i| system[i][i] += lambda);
    let a = eliminate(system, y);
    let mut queries = plain(&problem.queries);
    shift(&mut queries, &mx);
    let expected = expand(&kernel, &x, &a, &my, &queries);
    let ridge = Ridge::new(problem.kernel.clone()).lambda(lambda).intercept(Intercept::Column);
    assert_close(&predictions(&problem, &ridge, None), &expected, 1e-8);
}

/// A weight of 2 is a row that stands twice; a weight of 0 is a row that is not there.
#[test]
fn weights_count_rows() {
    for bias in [Intercept::None, Intercept::Centred, Intercept::Column] {
        let problem = problem(30);
        let ridge = Ridge::new(problem.kernel.clone()).lambda(0.1).intercept(bias);
        let weights: Vec<f64> = (0..30).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
        let weighted = predictions(&problem, &ridge, Some(&weights));
        let rows: Vec<usize> = (0..30).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let entries = rows.iter().flat_map(|&i| problem.y.row(i).to_vec()).collect();
        let repeated = Problem {
            x: problem.x.select(&rows),
            y: Matrix::from_entries(rows.len(), 2, entries),
            queries: problem.queries.clone(),
            kernel: problem.kernel.clone(),
        };
        let expected = targets(&predictions(&repeated, &ridge, None));
        assert_close(&weighted, &expected, 1e-8);
    }
}

#[test]
fn each_target_may_have_its_own_lambda() {
    let problem = problem(40);
    let both = Ridge::new(problem.kernel.clone()).lambdas(vec![0.5, 0.01]);
    let found = predictions(&problem, &both, None);
    for (column, lambda) in [0.5, 0.01].into_iter().enumerate() {
        let alone = predictions(&problem, &Ridge::new(problem.kernel.clone()).lambda(lambda), None);
        for i in 0..found.nrows() {
            assert!((found.row(i)[column] - alone.row(i)[column]).abs() < 1e-10);
        }
    }
}

#[test]
fn mixed_precision_reaches_the_double_answer() {
    let mut problem = problem(700);
    problem.kernel = "rbf(sigma=0.5)".parse().unwrap();
    let by = |method| {
        let ridge = Ridge::new(problem.kernel.clone()).lambda(0.1).solver(method);
        fit(&ridge, &problem.x, &problem.y, None).unwrap()
    };
    let ((double, _), (mixed, report)) = (by(RidgeSolver::Cholesky), by(RidgeSolver::Mixed));
    assert!(report.solver.contains("f32"), "{}", report.solver);
    assert!(report.residual < 1e-12, "{}", report.residual);
    // The condition number is below 1e4, so both are within 1e4·n·ε of the exact answer.
    for (m, d) in mixed.coefficients.entries().iter().zip(double.coefficients.entries()) {
        assert!((m - d).abs() < 1e-9 * d.abs().max(1.0), "{m} is not {d}");
    }
}

#[test]
fn a_hopeless_refinement_falls_back_to_double() {
    let mut problem = problem(200);
    problem.kernel = "rbf(sigma=5)".parse().unwrap();
    let ridge = Ridge::new(problem.kernel.clone()).lambda(1e-10).solver(RidgeSolver::Mixed);
    let (_, report) = fit(&ridge, &problem.x, &problem.y, None).unwrap();
    assert_eq!(report.solver, "cholesky f64");
}

#[test]
fn a_singular_system_is_reported_with_its_rank_and_a_sufficient_lambda() {
    let mut entries = noise(20 * 2, 5);
    let repeated = entries[..10].to_vec();
    entries[10..20].copy_from_slice(&repeated);
    let x = AnySamples::F64(Samples::dense(20, 2, entries).unwrap());
    let y = Matrix::from_entries(20, 1, noise(20, 6));
    let ridge = |lambda| Ridge::new(kernel("rbf(sigma=0.3)")).lambda(lambda).intercept(Intercept::None);
    let error = fit(&ridge(0.0), &x, &y, None).unwrap_err();
    let LearnError::Solve(SolveError::Singular { rank, order: 20, suggestion }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(rank, NumericalRank::Exactly(15));
    assert!(fit(&ridge(suggestion), &x, &y, None).is_ok());
}

#[test]
fn mismatched_input_is_refused() {
    let problem = problem(10);
    let ridge = Ridge::new(problem.kernel.clone());
    let refused =
        |ridge: &Ridge, y: &Matrix<f64>, w: Option<&[f64]>| fit(ridge, &problem.x, y, w).unwrap_err();
    let short = Matrix::from_entries(3, 1, vec![1.0; 3]);
    assert!(matches!(refused(&ridge, &short, None), LearnError::Length { rows: 10, found: 3, .. }));
    assert!(matches!(refused(&ridge, &problem.y, Some(&[1.0])), LearnError::Length { found: 1, .. }));
    let mut broken = problem.y.clone();
    broken.row_mut(4)[1] = f64::NAN;
    assert!(matches!(refused(&ridge, &broken, None), LearnError::NonFinite { row: 4, .. }));
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        let bad = Ridge::new(problem.kernel.clone()).lambda(lambda);
        assert!(matches!(refused(&bad, &problem.y, None), LearnError::Parameter { parameter: "lambda", .. }));
    }
    let small = Session::default().with_memory(100);
    let error = oracle::train(&ridge, &problem.x, &problem.y, None, &small).unwrap_err();
    assert!(matches!(error, LearnError::Memory { needed: 800, budget: 100, .. }), "{error}");
    let undefined = Ridge::new(kernel("log(<x,z>)")).kernel_check(KernelCheck::Assume);
    assert!(matches!(refused(&undefined, &problem.y, None), LearnError::KernelValue { .. }));
    let missing = Ridge::new(kernel("linear[7]"));
    assert!(matches!(refused(&missing, &problem.y, None), LearnError::Kernel(_)));
}

#[test]
fn a_refuted_kernel_is_refused_and_an_assumed_one_is_not() {
    let problem = problem(20);
    let ridge = Ridge::new(kernel("exp(|x-z|^2/2)")).lambda(100.0);
    let error = fit(&ridge, &problem.x, &problem.y, None).unwrap_err();
    assert!(matches!(error, LearnError::NotAKernel { .. }), "{error}");
    let assumed = ridge.kernel_check(KernelCheck::Assume);
    assert_eq!(fit(&assumed, &problem.x, &problem.y, None).unwrap().0.domain, None);
}

/// 1/(1−⟨x,z⟩) is a kernel inside of the unit ball alone: training keeps the ball, prediction enforces it.
#[test]
fn the_domain_of_the_proof_is_kept_and_enforced() {
    let mut problem = problem(20);
    problem.kernel = "1/(1-<x,z>)".parse().unwrap();
    let halved = noise(60, 1).into_iter().map(|v| 0.5 * v).collect::<Vec<_>>();
    problem.x = AnySamples::F64(Samples::dense(20, 3, halved).unwrap());
    let ridge = Ridge::new(problem.kernel.clone()).lambda(0.1);
    let (model, _) = fit(&ridge, &problem.x, &problem.y, None).unwrap();
    assert!(matches!(model.domain, Some(Domain::Ball(radius)) if radius < 0.9), "{:?}", model.domain);
    assert!(model.predict(&problem.x, &Session::default()).is_ok());
    let outside = AnySamples::F64(Samples::dense(2, 3, vec![0.0, 0.0, 0.0, 0.0, 2.0, 0.0]).unwrap());
    let error = model.predict(&outside, &Session::default()).unwrap_err();
    assert!(matches!(error, ModelError::OutsideDomain { row: 1, .. }), "{error}");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let problem = problem(600);
    for method in [RidgeSolver::Cholesky, RidgeSolver::Mixed] {
        let ridge = Ridge::new(kernel("rbf(sigma=0.7) + 0.1*linear")).lambda(0.1).solver(method);
        let on = |threads| {
            pool::with(Some(threads), || fit(&ridge, &problem.x, &problem.y, None).unwrap().0.coefficients)
        };
        assert!(on(1) == on(2) && on(1) == on(3));
    }
}

/// A kernel matrix gives the coefficients of its samples, and a model that predicts at rows of kernel values.
#[test]
fn a_kernel_matrix_is_fitted_as_its_samples_are() {
    let problem = problem(40);
    let weights: Vec<f64> = (0..40).map(|i| 0.5 + (i % 3) as f64).collect();
    let ridge = Ridge::new(problem.kernel.clone()).lambda(0.1);
    let (expected, _) = fit(&ridge, &problem.x, &problem.y, Some(&weights)).unwrap();
    let entries = gram(&problem.kernel, &plain(&problem.x)).concat();
    let matrix = DenseGram::new(40, &entries);
    let given = learn::Problem::new(Inputs::Gram(&matrix), &problem.y).weighted(Some(weights));
    let (found, _) = oracle::expansion(ridge.train(&given, &Session::default()).unwrap());
    for (f, e) in found.coefficients.entries().iter().zip(expected.coefficients.entries()) {
        assert!((f - e).abs() < 1e-8 * e.abs().max(1.0), "{f} is not {e}");
    }
    let cross: Vec<f64> = plain(&problem.queries)
        .iter()
        .flat_map(|q| {
            plain(&problem.x).iter().map(|x| problem.kernel.eval(q, x).unwrap()).collect::<Vec<_>>()
        })
        .collect();
    let cross = AnySamples::F64(Samples::dense(17, 40, cross).unwrap());
    let expected = expected.predict(&problem.queries, &Session::default()).unwrap();
    assert_close(&found.predict(&cross, &Session::default()).unwrap(), &targets(&expected), 1e-8);
    let column = ridge.intercept(Intercept::Column).train(&given, &Session::default()).unwrap_err();
    assert!(matches!(column, LearnError::Unsupported(_)), "{column}");
}

/// `auto` in a kernel is resolved from the samples.
#[test]
fn auto_is_resolved_from_the_samples() {
    let problem = problem(30);
    let (model, _) =
        fit(&Ridge::new(kernel("rbf(sigma=auto)")).lambda(0.1), &problem.x, &problem.y, None).unwrap();
    assert!(model.kernel.is_resolved(), "{}", model.kernel);
}
