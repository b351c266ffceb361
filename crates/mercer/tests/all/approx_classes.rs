//! Classifiers on approximate features against the exact ones, which landmarks at every sample give.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{
    Approximation, Design, DesignError, Labelled, LabelledDesign, LabelledRows, Loss, LossSums, Parts,
    Recomputed, Rounding,
};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{AnyLearner, Fitted, Intercept, LearnError, Learner, Logistic, Problem, Targets, cost};
use mercer::linalg::NormalEquations;
use mercer::model::{Expansion, Predictor};
use mercer::session::Session;
use mercer::solve::Status;
use mercer::solve::svm::SvmSettings;
use mercer::watch::Watch;

/// Points in the square and a class by the angle, some of them wrong.
fn problem(rows: usize, classes: usize) -> (AnySamples<'static>, Vec<usize>) {
    let points: Vec<f64> =
        (0..rows * 2).map(|k| ((k / 2) as f64 * [0.618_034, 0.754_878][k % 2]).fract() * 2.0 - 1.0).collect();
    let class = |(i, p): (usize, &[f64])| {
        let turn = p[1].atan2(p[0]) / std::f64::consts::TAU + 0.5;
        (((turn * classes as f64) as usize).min(classes - 1) + usize::from(i % 17 == 0)) % classes
    };
    let codes = points.chunks_exact(2).enumerate().map(class).collect();
    (AnySamples::F64(Samples::dense(rows, 2, points).unwrap()), codes)
}

fn kernel() -> Kernel {
    "rbf(sigma=0.7)".parse().unwrap()
}

fn logistic(approximation: Approximation, lambda: f64) -> Logistic {
    Logistic::on((kernel(), approximation)).lambda(lambda)
}

fn svc(approximation: Approximation, c: f64) -> Svm {
    Svm::on((kernel(), approximation), Machine::Svc { c })
}

fn expansion(fitted: &Fitted) -> &Expansion {
    let Predictor::Expansion(expansion) = &fitted.model.predictor else { panic!("landmarks") };
    expansion
}

fn largest_difference(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn logistic_regression_on_all_landmarks_is_exact() {
    for classes in [2, 4] {
        let (samples, codes) = problem(150, classes);
        let targets = || Targets::codes(&codes[..], classes);
        let exact = Logistic::new(kernel()).lambda(0.5).fit(&samples, targets()).unwrap();
        let truth = exact.predict(&samples).unwrap();
        let fitted = logistic(Approximation::nystrom(150), 0.5).fit(&samples, targets()).unwrap();
        let report = fitted.report.as_ref().unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
        assert_eq!(fitted.facts.text("approx"), Some("nystrom:150"));
        let found = fitted.predict(&samples).unwrap();
        let difference = largest_difference(&found, &truth);
        assert!(difference < 1e-3, "{classes} classes: {difference}");
    }
}

/// In the precision of the samples, with random features, weights and without an intercept.
#[test]
fn other_settings_come_near_the_exact_machine() {
    let (samples, codes) = problem(300, 2);
    let AnySamples::F64(double) = &samples else { panic!("double") };
    let narrow: Vec<f32> = double.stored_values().iter().map(|v| *v as f32).collect();
    let single = AnySamples::F32(Samples::dense(300, 2, narrow).unwrap());
    let weights: Vec<f64> = (0..300).map(|i| 0.5 + (i % 3) as f64).collect();
    let train = |logistic: Logistic, samples: &AnySamples<'_>| {
        let problem = Problem::new(samples, Targets::codes(&codes[..], 2)).weighted(Some(&weights[..]));
        logistic.intercept(Intercept::None).train(&problem, &Session::default()).unwrap()
    };
    let truth = train(Logistic::new(kernel()), &samples).predict(&samples).unwrap();
    for samples in [&samples, &single] {
        let fitted = train(logistic(Approximation::fourier(2_000), 1.0), samples);
        let found = fitted.predict(samples).unwrap();
        let difference = largest_difference(&found, &truth);
        assert!(difference < 0.25, "{difference}");
    }
}

/// With features that are held, and with a budget that the sums fit but the features do not.
#[test]
fn the_support_vector_machine_has_the_objective_of_the_exact_one() {
    let (samples, codes) = problem(200, 2);
    let c = 3.0;
    let svc = svc(Approximation::nystrom(200), c);
    let problem = Problem::new(&samples, Targets::codes(&codes[..], 2));
    let session = Session::default();
    let fitted = svc.train(&problem, &session).unwrap();
    let needed = cost::sums_bytes(expansion(&fitted).centres.nrows(), 0);
    for (memory, solver, within) in
        [(session.memory(), "semismooth newton on features", 1e-4), (needed + 1, "l-bfgs on features", 5e-3)]
    {
        let fitted = svc.train(&problem, &session.with_memory(memory)).unwrap();
        let report = fitted.report.as_ref().unwrap();
        assert_eq!((report.status, report.solver.as_str()), (Status::Converged, solver));
        let found = expansion(&fitted);
        let values = fitted.predict(&samples).unwrap();
        let sign = |i: usize| if codes[i] == 1 { 1.0 } else { -1.0 };
        let hinge: f64 = (0..200).map(|i| (1.0 - sign(i) * values.row(i)[0]).max(0.0)).sum();
        // ½‖f‖² = ½aᵀ(f − b) at the landmarks, which are all the samples in another order.
        let at_centres = found.predict(&found.centres, &session).unwrap();
        let norm: f64 = (0..found.centres.nrows())
            .map(|j| found.coefficients.row(j)[0] * (at_centres.row(j)[0] - found.intercepts[0]))
            .sum();
        let objective = 0.5 * norm + c * hinge;
        let exact = exact_objective(&samples, &codes, c);
        assert!(report.residual <= 1e-3, "{report:?}");
        assert!(objective >= exact * (1.0 - 1e-4), "{solver}: {objective} {exact}");
        assert!(objective <= exact * (1.0 + within), "{solver}: {objective} {exact}");
    }
}

/// The optimal value of the machine, from the dual solution of the exact one.
fn exact_objective(samples: &AnySamples<'_>, codes: &[usize], c: f64) -> f64 {
    let settings = SvmSettings { tol: 1e-6, ..SvmSettings::default() };
    let svm = Svm::new(kernel(), Machine::Svc { c }).solver(settings);
    let problem = Problem::new(samples.view(), Targets::codes(codes, 2));
    let fitted = svm.machines(&problem, &Session::default()).unwrap();
    let mut x = [0.0; 2];
    let rows: Vec<[f64; 2]> = (0..samples.nrows())
        .map(|i| {
            samples.copy_row(i, &mut x);
            x
        })
        .collect();
    let signed: Vec<(usize, f64)> =
        fitted.support.iter().enumerate().map(|(s, &row)| (row, fitted.coefficients.row(s)[0])).collect();
    let k = kernel();
    let norm: f64 = signed
        .iter()
        .flat_map(|(i, a)| signed.iter().map(move |(j, b)| (i, a, j, b)))
        .map(|(i, a, j, b)| a * b * k.eval(&rows[*i], &rows[*j]).unwrap())
        .sum();
    signed.iter().map(|(_, a)| a.abs()).sum::<f64>() - 0.5 * norm
}

/// One decision per class, each against all others, tells classes apart.
#[test]
fn several_classes_are_distinguished() {
    let (samples, codes) = problem(400, 3);
    let svc = |approximation| Box::new(svc(approximation, 10.0));
    let learners: [Box<dyn Learner>; 3] = [
        svc(Approximation::fourier(256)),
        svc(Approximation::nystrom(60)),
        Box::new(logistic(Approximation::fourier(256), 0.1)),
    ];
    for (place, learner) in learners.iter().enumerate() {
        let problem = Problem::new(&samples, Targets::codes(&codes[..], 3));
        let found = learner.train(&problem, &Session::default()).unwrap().predict(&samples).unwrap();
        let right = |i: &usize| {
            let row = found.row(*i);
            (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])) == Some(codes[*i])
        };
        let share = (0..400).filter(right).count() as f64 / 400.0;
        assert!(share > 0.88, "learner {place}: {share}");
    }
}

#[test]
fn bad_input_is_named() {
    let (samples, codes) = problem(50, 2);
    let base = svc(Approximation::fourier(16), 1.0);
    let solver = SvmSettings::default();
    let session = Session::default();
    let problem = |codes| Problem::new(&samples, Targets::codes(codes, 2));
    let fails = |learner: &dyn Learner, session: &Session<'_>, message: &str| {
        let error = learner.train(&problem(&codes[..]), session).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    for (machine, message) in [
        (svc(Approximation::fourier(16), 0.0), "C is 0"),
        (svc(Approximation::fourier(16), f64::NAN), "C is NaN"),
        (base.clone().solver(SvmSettings { tol: -1.0, ..solver }), "tol is -1"),
        (base.clone().solver(SvmSettings { max_iter: Some(0), ..solver }), "max_iter is 0"),
        (base.clone().probability(true), "without probabilities"),
        (Svm::on(base.lift.clone(), Machine::NuSvc { nu: 0.5 }), "C-classification"),
        (svc(Approximation::fourier(0), 1.0), "number of features is 0"),
        (svc(Approximation::nystrom(51), 1.0), "number of landmarks is 51"),
    ] {
        fails(&machine, &session, message);
    }
    fails(&base, &session.with_memory(100), "the sums over the features");
    fails(&logistic(Approximation::fourier(16), 0.0), &session, "C is inf");
    let one = vec![0; 50];
    assert!(matches!(base.train(&problem(&one), &session), Err(LearnError::Classes { .. })));
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert!(base.train(&problem(&codes), &session.with_watch(&stop)).unwrap_err().is_stop());
}

/// Rows in several parts, as machines of a cluster hold them.
struct InParts<'a>(Vec<LabelledDesign<'a>>);

impl LabelledRows for InParts<'_> {
    fn nrows(&self) -> u64 {
        self.0.iter().map(LabelledRows::nrows).sum()
    }

    fn features(&self) -> usize {
        self.0[0].features()
    }

    fn outputs(&self) -> usize {
        self.0[0].outputs()
    }

    fn loss(
        &self,
        loss: Loss,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        gradient: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<LossSums, DesignError> {
        let mut sums = LossSums { value: 0.0, pull: vec![0.0; intercepts.len()], curvature: Some(0.0) };
        gradient.entries_mut().fill(0.0);
        for part in &self.0 {
            let mut of_part = Matrix::zeros(gradient.nrows(), gradient.ncols());
            sums.add(&part.loss(loss, weights, intercepts, &mut of_part, watch)?);
            gradient.entries_mut().iter_mut().zip(of_part.entries()).for_each(|(to, from)| *to += from);
        }
        Ok(sums)
    }

    fn rounding(
        &self,
        width: f64,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        watch: &dyn Watch,
    ) -> Result<Rounding, DesignError> {
        let mut sums = Rounding::default();
        for part in &self.0 {
            let Rounding { taken, rounded } = part.rounding(width, weights, intercepts, watch)?;
            sums = Rounding { taken: sums.taken + taken, rounded: sums.rounded + rounded };
        }
        Ok(sums)
    }
}

/// The answer is that of the same solver on all rows, up to the rounding of sums in another order.
#[test]
fn sums_over_parts_of_the_rows_give_the_same_classifier() {
    let (c, features, rows) = (2.0, 60, 240);
    // Room for the sums, not for the features, so that the support vector machine works from sums, too.
    let session = Session::default().with_memory(cost::sums_bytes(features, 0) + 1);
    let approximation = Approximation::fourier(features);
    for classes in [2, 3] {
        let (samples, codes) = problem(rows, classes);
        let weights: Vec<f64> = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        let (outputs, scaled) =
            (if classes == 2 { 1 } else { classes }, weights.iter().map(|w| c * w).collect::<Vec<f64>>());
        for learner in
            [AnyLearner::from(logistic(approximation, 1.0 / c)), AnyLearner::from(svc(approximation, c))]
        {
            let problem =
                Problem::new(&samples, Targets::codes(&codes[..], classes)).weighted(Some(&weights[..]));
            let expected = learner.train(&problem, &session).unwrap();
            let prepared = learner.prepare((&samples, rows as u64), &session).unwrap();
            let ranges = [0..100, 100..rows];
            let parts = ranges.clone().map(|range| samples.select(&range.collect::<Vec<_>>()));
            let designs = parts.each_ref().map(|part| {
                Recomputed::new(prepared.features.ready(2, None, &session).unwrap(), part).unwrap()
            });
            let mut sums = [NormalEquations::new(features, 0)];
            let labelled = designs.iter().zip(ranges).map(|(design, range)| {
                let (codes, weights) = (&codes[range.clone()], &scaled[range]);
                let none = Matrix::zeros(design.nrows(), 0);
                design.normal_equations(&none, Some(weights), &Parts::All, &mut sums, &session).unwrap();
                LabelledDesign { design, labels: Labelled { codes, outputs, weights } }
            });
            let labelled = InParts(labelled.collect());
            let found = learner.train_on_sums(&prepared, &labelled, &sums[0], classes, &session).unwrap();
            let difference =
                largest_difference(&found.predict(&samples).unwrap(), &expected.predict(&samples).unwrap());
            // The machine stops where its objective is within a tolerance of the minimum, which sums in another order reach at
            // another step.
            let bound = if matches!(learner, AnyLearner::Svm(_)) { 1e-2 } else { 1e-9 };
            assert!(difference < bound, "{classes} classes, {}: {difference}", learner.method());
            assert_eq!(found.model.settings, expected.model.settings);
            assert_eq!(found.model.report.number("rows"), expected.model.report.number("rows"));
        }
    }
    let ridge: AnyLearner = mercer::learn::Ridge::on((kernel(), approximation)).into();
    let (samples, _) = problem(rows, 2);
    let prepared = ridge.prepare((&samples, rows as u64), &session).unwrap();
    let none = InParts(vec![]);
    let error =
        ridge.train_on_sums(&prepared, &none, &NormalEquations::new(features, 0), 2, &session).unwrap_err();
    assert!(matches!(error, LearnError::Unsupported(_)), "{error}");
}
