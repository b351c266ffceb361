//! Logistic regression against answers found another way: Newton's method on explicit features by Gaussian elimination,
//! and the objective itself, written out on `kernel::eval`.

use std::sync::atomic::AtomicBool;

use crate::oracle::{eliminate, noise};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{CpuEngine, DenseGram, Engine, Gram, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::{
    self, ClassWeight, Coefficients, Fitted, Inputs, Intercept, LearnError, Learner, Logistic,
    LogisticSolver, Step, Targets,
};
use mercer::model::{Expansion, Predictor, probabilities};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{Report, SolveError, Status};

struct Problem {
    x: Vec<Vec<f64>>,
    codes: Vec<usize>,
    classes: usize,
}

impl Problem {
    /// Overlapping classes in three columns.
    fn new(rows: usize, classes: usize, seed: u64) -> Self {
        let x: Vec<Vec<f64>> = noise(rows * 3, seed).chunks(3).map(<[f64]>::to_vec).collect();
        let jitter = noise(rows, seed + 100);
        let place = |x: &Vec<f64>, e: f64| (x[0] + x[1] * x[1] - 0.5 * x[2] + 0.7 * e + 1.2) / 2.9;
        let codes = x
            .iter()
            .zip(jitter)
            .map(|(x, e)| ((place(x, e) * classes as f64) as usize).min(classes - 1))
            .collect();
        Self { x, codes, classes }
    }

    fn samples(&self) -> AnySamples<'static> {
        AnySamples::F64(Samples::dense(self.x.len(), self.x[0].len(), self.x.concat()).unwrap())
    }

    fn gram(&self, kernel: &Kernel) -> DenseGram<'static, f64> {
        let entries = self.x.iter().flat_map(|a| self.x.iter().map(|b| kernel.eval(a, b).unwrap()));
        DenseGram::new(self.x.len(), entries.collect::<Vec<_>>())
    }

    /// The problem on its samples.
    fn weighted<'a>(&'a self, weights: Option<&'a [f64]>) -> learn::Problem<'a> {
        let targets = Targets::codes(&self.codes[..], self.classes);
        learn::Problem::new(self.samples(), targets).weighted(weights)
    }

    fn train(&self, logistic: &Logistic) -> Result<Fitted, LearnError> {
        logistic.train(&self.weighted(None), &Session::default())
    }

    fn fit(&self, logistic: &Logistic, weights: Option<&[f64]>) -> Matrix<f64> {
        let fitted = logistic.train(&self.weighted(weights), &Session::default()).unwrap();
        assert_eq!(report(&fitted).status, Status::Converged, "{:?}", fitted.report);
        probabilities(&fitted.predict(self.samples()).unwrap())
    }

    fn path(&self, logistic: &Logistic, gram: &dyn Gram, lambdas: &[f64]) -> Vec<Coefficients> {
        let targets = Targets::codes(&self.codes[..], self.classes);
        let problem = learn::Problem::new(Inputs::Gram(gram), targets);
        logistic.path(&problem, lambdas, &Session::default()).unwrap()
    }

    fn coefficients(&self, logistic: &Logistic) -> Coefficients {
        let gram = self.gram(logistic.lift.kernel().unwrap());
        self.path(logistic, &gram, &[logistic.lambda]).remove(0)
    }
}

fn report(fitted: &Fitted) -> &Report {
    fitted.report.as_ref().unwrap()
}

fn expansion(fitted: &Fitted) -> &Expansion {
    let Predictor::Expansion(expansion) = &fitted.model.predictor else { panic!("an expansion") };
    expansion
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn softmax(f: &[f64]) -> Vec<f64> {
    let top = f.iter().copied().fold(f64::MIN, f64::max);
    let e: Vec<f64> = f.iter().map(|f| (f - top).exp()).collect();
    let sum: f64 = e.iter().sum();
    e.iter().map(|e| e / sum).collect()
}

/// Probabilities of the penalised primal model Σ w·loss + (λ/2)‖θ‖², the intercept (a column of ones, put last) free.
/// Two classes have one logit; with more, the flat direction of the intercepts is held by a tiny penalty.
fn primal(
    features: &[Vec<f64>],
    codes: &[usize],
    classes: usize,
    weights: &[f64],
    lambda: f64,
) -> Vec<Vec<f64>> {
    let phi: Vec<Vec<f64>> = features.iter().map(|x| [x.clone(), vec![1.0]].concat()).collect();
    let (d, m) = (phi[0].len(), if classes == 2 { 1 } else { classes });
    let penalty = |j: usize| {
        if j % d < d - 1 {
            lambda
        } else if m > 1 {
            1e-10
        } else {
            0.0
        }
    };
    let logits = |theta: &[f64], x: &[f64]| -> Vec<f64> {
        theta.chunks(d).map(|t| t.iter().zip(x).map(|(t, x)| t * x).sum()).collect()
    };
    let odds = |f: &[f64]| if m == 1 { softmax(&[0.0, f[0]]) } else { softmax(f) };
    let objective = |theta: &[f64]| -> f64 {
        let loss: f64 =
            (0..phi.len()).map(|i| -weights[i] * odds(&logits(theta, &phi[i]))[codes[i]].ln()).sum();
        loss + theta.iter().enumerate().map(|(j, t)| 0.5 * penalty(j) * t * t).sum::<f64>()
    };
    let mut theta = vec![0.0; d * m];
    for _ in 0..60 {
        let mut gradient: Vec<f64> = theta.iter().enumerate().map(|(j, t)| penalty(j) * t).collect();
        let mut hessian = vec![vec![0.0; d * m]; d * m];
        (0..d * m).for_each(|j| hessian[j][j] = penalty(j));
        for (i, x) in phi.iter().enumerate() {
            let all = odds(&logits(&theta, x));
            let p = if m == 1 { &all[1..] } else { &all[..] };
            for k in 0..m {
                let y = f64::from(u8::from(codes[i] == if m == 1 { 1 } else { k }));
                for u in 0..d {
                    gradient[k * d + u] += weights[i] * (p[k] - y) * x[u];
                    for l in 0..m {
                        let c = p[k] * (f64::from(u8::from(k == l)) - p[l]);
                        (0..d).for_each(|v| hessian[k * d + u][l * d + v] += weights[i] * c * x[u] * x[v]);
                    }
                }
            }
        }
        let step = eliminate(hessian, gradient.into_iter().map(|g| vec![g]).collect()).concat();
        let now = objective(&theta);
        let mut t = 1.0;
        loop {
            let next: Vec<f64> = theta.iter().zip(&step).map(|(a, s)| a - t * s).collect();
            if objective(&next) <= now + 1e-12 * now.abs() || t < 1e-8 {
                theta = next;
                break;
            }
            t *= 0.5;
        }
    }
    phi.iter().map(|x| odds(&logits(&theta, x))).collect()
}

fn assert_close(found: &Matrix<f64>, expected: &[Vec<f64>], tolerance: f64) {
    for (i, expected) in expected.iter().enumerate() {
        for (f, e) in found.row(i).iter().zip(expected) {
            assert!((f - e).abs() <= tolerance, "row {i}: {f} is not {e}");
        }
    }
}

fn rows(matrix: &Matrix<f64>) -> Vec<Vec<f64>> {
    (0..matrix.nrows()).map(|i| matrix.row(i).to_vec()).collect()
}

#[test]
fn the_linear_kernel_is_logistic_regression_on_the_columns() {
    for classes in [2, 4] {
        let problem = Problem::new(90, classes, 1);
        let expected = primal(&problem.x, &problem.codes, classes, &[1.0; 90], 0.3);
        let logistic = Logistic::new(kernel("linear")).lambda(0.3).tol(1e-8);
        assert_close(&problem.fit(&logistic, None), &expected, 1e-6);
    }
}

#[test]
fn a_polynomial_kernel_is_logistic_regression_on_its_features() {
    // (⟨x,z⟩ + 1)² = ⟨φ(x), φ(z)⟩ with the squares, √2 times the products and the columns, and 1; the 1 is penalised.
    let root = 2f64.sqrt();
    let lift = |x: &Vec<f64>| {
        let [a, b, c] = x[..] else { panic!("three columns") };
        vec![a * a, b * b, c * c, root * a * b, root * a * c, root * b * c, root * a, root * b, root * c, 1.0]
    };
    for classes in [2, 3] {
        let problem = Problem::new(80, classes, 2);
        let lifted: Vec<Vec<f64>> = problem.x.iter().map(lift).collect();
        let expected = primal(&lifted, &problem.codes, classes, &[1.0; 80], 0.5);
        let logistic = Logistic::new(kernel("(<x,z>+1)^2")).lambda(0.5).tol(1e-8);
        assert_close(&problem.fit(&logistic, None), &expected, 1e-6);
    }
}

#[test]
fn the_gradient_vanishes_at_the_solution_and_agrees_with_the_residual() {
    let intercepts = [Intercept::Centred, Intercept::None];
    for (classes, intercept) in [2, 3].into_iter().flat_map(|classes| intercepts.map(|i| (classes, i))) {
        let problem = Problem::new(60, classes, 3);
        let logistic = Logistic::new(kernel("rbf(sigma=0.7)")).lambda(0.05).tol(1e-8).intercept(intercept);
        let found = problem.coefficients(&logistic);
        let gram = problem.gram(logistic.lift.kernel().unwrap());
        let (n, m) = (60, found.intercepts.len());
        let k = |i: usize, j: usize| gram.entries()[i * n + j];
        let logits = |a: &Matrix<f64>, b: &[f64], i: usize| -> Vec<f64> {
            (0..m).map(|c| (0..n).map(|j| k(i, j) * a.row(j)[c]).sum::<f64>() + b[c]).collect()
        };
        let odds = |f: &[f64]| if m == 1 { softmax(&[0.0, f[0]]) } else { softmax(f) };
        let mut squares = 0.0;
        for i in 0..n {
            let p = odds(&logits(&found.dual, &found.intercepts, i));
            for c in 0..m {
                let class = if m == 1 { 1 } else { c };
                let y = f64::from(u8::from(problem.codes[i] == class));
                squares += (0.05 * found.dual.row(i)[c] + p[class] - y).powi(2);
            }
        }
        assert!(squares.sqrt() <= 1e-8, "{classes} classes: {:e}", squares.sqrt());
        assert!(found.report.residual <= 1e-8);
        let objective = |a: &Matrix<f64>, b: &[f64]| -> f64 {
            let loss: f64 = (0..n).map(|i| -odds(&logits(a, b, i))[problem.codes[i]].ln()).sum();
            let penalty: f64 = (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .map(|(i, j)| k(i, j) * a.row(i).iter().zip(a.row(j)).map(|(u, v)| u * v).sum::<f64>())
                .sum();
            loss + 0.5 * 0.05 * penalty
        };
        // Central differences: exact to h² times a third derivative of order 1, and to rounding over h.
        let h = 1e-4;
        for i in (0..n).step_by(7) {
            for c in 0..m {
                let moved = |by: f64| {
                    let mut a = found.dual.clone();
                    a.row_mut(i)[c] += by;
                    objective(&a, &found.intercepts)
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert!(slope.abs() < 1e-6, "row {i}: {slope}");
            }
        }
        if intercept != Intercept::None {
            for c in 0..m {
                let moved = |by: f64| {
                    let mut b = found.intercepts.clone();
                    b[c] += by;
                    objective(&found.dual, &b)
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert!(slope.abs() < 1e-6, "intercept {c}: {slope}");
            }
        }
    }
}

#[test]
fn a_weight_is_a_number_of_copies() {
    for classes in [2, 3] {
        let problem = Problem::new(50, classes, 4);
        let copies: Vec<usize> = (0..50).map(|i| [1, 2, 0, 3][i % 4]).collect();
        let weights: Vec<f64> = copies.iter().map(|&c| c as f64).collect();
        let repeated: Vec<usize> = (0..50).flat_map(|i| vec![i; copies[i]]).collect();
        let long = Problem {
            x: repeated.iter().map(|&i| problem.x[i].clone()).collect(),
            codes: repeated.iter().map(|&i| problem.codes[i]).collect(),
            classes,
        };
        let logistic = Logistic::new(kernel("rbf(sigma=1)")).lambda(0.2).tol(1e-9);
        let short = logistic.train(&problem.weighted(Some(&weights)), &Session::default()).unwrap();
        let long = long.train(&logistic).unwrap();
        let counted: Vec<usize> = (0..50).filter(|&i| copies[i] > 0).collect();
        assert_eq!(short.centres, Some(counted), "rows that do not count are no centres");
        assert_eq!(expansion(&short).centres.nrows(), short.centres.as_ref().unwrap().len());
        let expected = long.predict(problem.samples()).unwrap();
        let found = short.predict(problem.samples()).unwrap();
        assert_close(&found, &rows(&expected), 1e-6);
    }
}

#[test]
fn class_weights_multiply_those_of_the_rows() {
    let problem = Problem::new(60, 3, 5);
    let mut counts = [0.0; 3];
    problem.codes.iter().for_each(|&c| counts[c] += 1.0);
    let balanced: Vec<f64> = counts.iter().map(|c| 60.0 / (3.0 * c)).collect();
    let by_row: Vec<f64> = problem.codes.iter().map(|&c| balanced[c]).collect();
    let plain = Logistic::new(kernel("rbf(sigma=1)")).lambda(0.2).tol(1e-9);
    let expected = rows(&problem.fit(&plain, Some(&by_row)));
    let named = (0..3).map(|class| (format!("{class}.0"), balanced[class])).collect();
    for class_weight in [ClassWeight::Balanced, ClassWeight::Named(named), ClassWeight::Each(balanced)] {
        assert_close(&problem.fit(&plain.clone().class_weight(class_weight), None), &expected, 1e-9);
    }
}

#[test]
fn balanced_classes_have_the_same_weight() {
    let problem = Problem::new(60, 3, 5);
    let weights: Vec<f64> = (0..60).map(|i| 0.5 + (i % 4) as f64).collect();
    let mut sums = [0.0; 3];
    problem.codes.iter().zip(&weights).for_each(|(&c, w)| sums[c] += w);
    let total: f64 = sums.iter().sum();
    let by_row: Vec<f64> =
        problem.codes.iter().zip(&weights).map(|(&c, w)| w * total / (3.0 * sums[c])).collect();
    let plain = Logistic::new(kernel("rbf(sigma=1)")).lambda(0.2).tol(1e-9);
    let expected = rows(&problem.fit(&plain, Some(&by_row)));
    assert_close(&problem.fit(&plain.class_weight(ClassWeight::Balanced), Some(&weights)), &expected, 1e-9);
}

#[test]
fn every_way_to_the_minimum_ends_there() {
    for classes in [2, 3] {
        let problem = Problem::new(40, classes, 6);
        let newton = Logistic::new(kernel("rbf(sigma=1)")).tol(1e-7);
        let expected = rows(&problem.fit(&newton, None));
        let ways = [
            (LogisticSolver::Gd, Step::Auto),
            (LogisticSolver::Gd, Step::Value(0.05)),
            (LogisticSolver::Sgd, Step::Auto),
            (LogisticSolver::Sgd, Step::Value(0.3)),
        ];
        for (solver, step) in ways {
            let logistic = newton.clone().solver(solver).step(step).max_iter(Some(20_000)).tol(1e-6);
            assert_close(&problem.fit(&logistic, None), &expected, 1e-5);
        }
    }
}

#[test]
fn a_step_that_is_too_large_is_reported() {
    let problem = Problem::new(40, 2, 6);
    let logistic = Logistic::new(kernel("rbf(sigma=1)")).solver(LogisticSolver::Gd).step(Step::Value(50.0));
    let error = problem.train(&logistic).unwrap_err();
    assert!(
        matches!(error, LearnError::Solve(SolveError::Diverges { step: 50.0, largest }) if largest < 1.0),
        "{error}"
    );
}

#[test]
fn factored_iterated_and_never_stored_agree() {
    // λ small enough for many products: with room for a factor the later steps are factored.
    for (classes, lambda) in [(2, 1e-3), (2, 0.5), (3, 0.05)] {
        let problem = Problem::new(600, classes, 7);
        let roomy = Logistic::new(kernel("rbf(sigma=0.3)")).lambda(lambda).tol(1e-8);
        let expected = problem.fit(&roomy, None);
        let tight = Session::default().with_memory(0);
        let tight = roomy.train(&problem.weighted(None), &tight).unwrap();
        let found = probabilities(&tight.predict(problem.samples()).unwrap());
        assert_close(&found, &rows(&expected), 1e-7);
        let fitted = problem.train(&roomy).unwrap();
        let report = report(&fitted);
        let factored = report.solver.contains("cholesky");
        assert_eq!(factored, classes == 2 && lambda < 0.1, "{}", report.solver);
    }
}

#[test]
fn has_the_same_bits_for_every_number_of_threads() {
    for (rows, classes) in [(300, 2), (700, 2), (600, 4)] {
        let problem = Problem::new(rows, classes, 8);
        let logistic = Logistic::new(kernel("rbf(sigma=0.5)")).lambda(0.1);
        let fit = |threads| pool::with(Some(threads), || problem.train(&logistic).unwrap());
        let one = fit(1);
        assert!(one == fit(2) && one == fit(3), "{rows} rows");
    }
}

#[test]
fn a_path_gives_the_answers_of_each_lambda_in_fewer_steps() {
    let problem = Problem::new(150, 3, 9);
    let logistic = Logistic::new(kernel("rbf(sigma=0.5)")).tol(1e-8);
    let gram = problem.gram(logistic.lift.kernel().unwrap());
    let lambdas = [1.0, 0.8, 0.6, 0.5];
    let path = problem.path(&logistic, &gram, &lambdas);
    let (mut warm, mut cold) = (0, 0);
    for (&lambda, found) in lambdas.iter().zip(&path).skip(1) {
        let alone = problem.coefficients(&logistic.clone().lambda(lambda));
        assert_close(&found.dual, &rows(&alone.dual), 1e-6);
        warm += found.report.iterations;
        cold += alone.report.iterations;
    }
    assert!(warm < cold, "{warm} and {cold}");
}

#[test]
fn without_a_penalty_it_is_maximum_likelihood_or_an_error() {
    for classes in [2, 3] {
        let problem = Problem::new(90, classes, 10);
        let free = Logistic::new(kernel("linear")).lambda(0.0).tol(1e-7);
        let expected = primal(&problem.x, &problem.codes, classes, &[1.0; 90], 0.0);
        assert_close(&problem.fit(&free, None), &expected, 1e-5);
        // A Gaussian separates any rows that differ.
        for solver in [LogisticSolver::Newton, LogisticSolver::Gd] {
            let logistic =
                free.clone().lift(kernel("rbf(sigma=0.1)").into()).solver(solver).max_iter(Some(100_000));
            let error = problem.train(&logistic).unwrap_err();
            assert_eq!(error, LearnError::Solve(SolveError::Separable));
        }
    }
}

#[test]
fn classes_separated_in_part_are_warned_of() {
    // At x = 0 the classes overlap; everywhere else they are separated, so the slope has no largest value that is best.
    let x = [-2.0, -1.0, 0.0, 0.0, 1.0, 2.0];
    let samples = AnySamples::F64(Samples::dense(6, 1, x.to_vec()).unwrap());
    let logistic = Logistic::new(kernel("linear")).lambda(0.0);
    let fitted = logistic.fit(&samples, Targets::codes(vec![0, 0, 0, 1, 1, 1], 2)).unwrap();
    let report = report(&fitted);
    assert!(report.warnings.iter().any(|w| w.contains("separated in part")), "{report:?}");
}

#[test]
fn huge_logits_stay_finite() {
    let problem = Problem::new(80, 3, 11);
    let logistic = Logistic::new(kernel("1e6*rbf(sigma=0.5)")).lambda(1e-3);
    let fitted = problem.train(&logistic).unwrap();
    let f = fitted.predict(problem.samples()).unwrap();
    assert!(f.entries().iter().all(|f| f.is_finite()) && report(&fitted).residual.is_finite());
    let p = probabilities(&f);
    assert!((0..80).all(|i| (p.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-14));
}

#[test]
fn a_class_of_one_row_is_learnt() {
    let mut problem = Problem::new(40, 2, 12);
    problem.codes[7] = 2;
    problem.classes = 3;
    let p = problem.fit(&Logistic::new(kernel("rbf(sigma=0.3)")).lambda(0.01), None);
    assert!(p.row(7)[2] > 0.5, "{:?}", p.row(7));
}

#[test]
fn invalid_input_is_reported() {
    let problem = Problem::new(20, 2, 13);
    let logistic = Logistic::new(kernel("linear"));
    let fit = |logistic: &Logistic, codes: &[usize], classes: usize, weights: Option<&[f64]>| {
        let task = learn::Problem::new(problem.samples(), Targets::codes(codes, classes)).weighted(weights);
        logistic.train(&task, &Session::default()).unwrap_err()
    };
    let codes = &problem.codes;
    assert_eq!(fit(&logistic, &[1; 20], 2, None), LearnError::Classes { found: 1 });
    assert_eq!(fit(&logistic, codes, 3, None), LearnError::EmptyClass { class: 2, classes: 3 });
    assert_eq!(
        fit(&logistic, &[0, 1].repeat(9), 2, None),
        LearnError::Length { what: "class labels", rows: 20, found: 18 }
    );
    let mut wild = codes.clone();
    wild[3] = 9;
    assert_eq!(fit(&logistic, &wild, 2, None), LearnError::Code { row: 3, code: 9, classes: 2 });
    let one_sided: Vec<f64> = codes.iter().map(|&c| c as f64).collect();
    assert_eq!(fit(&logistic, codes, 2, Some(&one_sided)), LearnError::Classes { found: 1 });
    for (weights, word) in [(vec![0.0; 20], "more than 0"), (vec![-1.0; 20], "0 or more")] {
        let error = fit(&logistic, codes, 2, Some(&weights));
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(matches!(fit(&logistic, codes, 2, Some(&[f64::NAN; 20])), LearnError::NonFinite { .. }));
    let bad = [
        logistic.clone().lambda(-1.0),
        logistic.clone().lambda(f64::NAN),
        logistic.clone().tol(0.0),
        logistic.clone().max_iter(Some(0)),
        logistic.clone().solver(LogisticSolver::Gd).step(Step::Value(0.0)),
        logistic.clone().class_weight(ClassWeight::Each(vec![1.0])),
        logistic.clone().class_weight(ClassWeight::Each(vec![1.0, -1.0])),
    ];
    for logistic in bad {
        assert!(matches!(fit(&logistic, codes, 2, None), LearnError::Parameter { .. }), "{logistic:?}");
    }
    let mut entries = vec![1.0; 400];
    entries[3 * 20 + 5] = f64::NAN;
    let gram = DenseGram::<f64>::new(20, entries);
    let error = logistic.fit(Inputs::Gram(&gram), Targets::codes(&codes[..], 2)).unwrap_err();
    assert_eq!(error, LearnError::KernelValue { row: 3, column: 5 });
    let named = ClassWeight::Named(vec![("oak".into(), 2.0)]);
    let error = logistic.class_weight(named).fit(problem.samples(), &["ash", "elm"].repeat(10)[..]);
    assert_eq!(error.unwrap_err().to_string(), "there is no class `oak`; the classes are ash, elm");
}

#[test]
fn stops_when_asked() {
    let problem = Problem::new(600, 2, 14);
    let stop = AtomicBool::new(true);
    for solver in [LogisticSolver::Newton, LogisticSolver::Gd, LogisticSolver::Sgd] {
        let logistic = Logistic::new(kernel("rbf(sigma=1)")).solver(solver);
        let session = Session::default().with_watch(&stop);
        let error = logistic.train(&problem.weighted(None), &session).unwrap_err();
        assert!(error.is_stop(), "{error}");
    }
}

#[test]
fn running_out_of_iterations_is_a_status_and_not_an_error() {
    let problem = Problem::new(60, 2, 15);
    let logistic = Logistic::new(kernel("rbf(sigma=1)")).lambda(0.01).max_iter(Some(1)).tol(1e-9);
    let resident = CpuEngine.load(&problem.samples()).unwrap();
    let gram = resident.gram(logistic.lift.kernel().unwrap(), Wanted::Exact).unwrap();
    let found = problem.path(&logistic, &*gram, &[0.01]).remove(0);
    assert_eq!(found.report.status, Status::OutOfIterations);
    assert_eq!(found.report.iterations, 1);
}
