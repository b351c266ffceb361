//! Learners on rows that are read in passes, against the same rows in memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mercer::data::{
    AnySamples, Chunk, FilePasses, HeldOut, Matrix, PassError, Passes, ReadOptions, ScaleMethod, Source,
    Survey, SurveyOptions, TrainingChunks,
};
use mercer::design::{Approximation, Design, DesignError, Held, Labelled, Loss, Parts, RowLoss, Streamed};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{
    Fitted, LearnError, Learner, Lift, Lms, Logistic, Problem, Ridge, RidgeSolver, TargetSizes, Targets, cost,
};
use mercer::linalg::{Intercept, NormalEquations};
use mercer::model::{Errors, Method};
use mercer::real::Precision;
use mercer::session::{Checkpoint, Session};
use mercer::watch::{Stopped, Unwatched};

/// A file of a smooth function of two columns.
fn passes(rows: usize, per_chunk: usize, held_out: f64) -> FilePasses {
    file(rows, per_chunk, held_out, Precision::Double)
}

fn in_single(rows: usize, held_out: f64) -> FilePasses {
    file(rows, 1_000, held_out, Precision::Single)
}

fn file(rows: usize, per_chunk: usize, held_out: f64, dtype: Precision) -> FilePasses {
    let row = |i: usize| {
        let (a, b) = ((i as f64 * 0.618_034).fract() * 4.0, (i as f64 * 0.754_878).fract() * 4.0);
        format!("{a},{b},{},{}\n", a.sin() + 0.5 * b, a * b)
    };
    let text = "a,b,y,z\n".to_owned() + &(0..rows).map(row).collect::<String>();
    let target = ["y", "z"].map(|name| name.parse().unwrap()).to_vec();
    let options = ReadOptions { target, dtype, ..ReadOptions::default() };
    let source = Source::bytes("d.csv", text.into_bytes());
    let chunks = TrainingChunks::open(source, &options, &Unwatched).unwrap().rows_per_chunk(per_chunk);
    let survey = SurveyOptions { scale: ScaleMethod::Standard, sample: 10_000, seed: 5, held_out, memory: 0 };
    FilePasses::new(chunks, &survey, &Unwatched).unwrap()
}

fn ridge() -> Ridge {
    let kernel: Kernel = "rbf(sigma=1)".parse().unwrap();
    Ridge::on((kernel, Approximation::fourier(64))).lambda(0.1)
}

fn session() -> Session<'static> {
    Session::default().with_seed(5)
}

/// The chunks of all rows that are held out, or of all that are not.
fn rows(passes: &FilePasses, held: bool) -> Vec<(AnySamples<'static>, Matrix<f64>)> {
    let mut found = Vec::new();
    let all: &dyn Passes = passes;
    all.for_each::<LearnError>(|chunk| {
        let number = |row: usize| chunk.first + row as u64;
        let some: Vec<usize> = (0..chunk.samples.nrows())
            .filter(|&row| passes.survey().held_out.contains(number(row)) == held)
            .collect();
        found.push((chunk.samples.select(&some), chunk.targets.select(&some)));
        Ok(())
    })
    .unwrap();
    found
}

fn predictions(fitted: &Fitted, samples: &AnySamples<'_>) -> Matrix<f64> {
    fitted.model.predictor.predict(samples, &session()).unwrap()
}

#[test]
fn a_stream_has_the_model_of_its_rows_in_memory() {
    let stream = passes(500, 64, 0.0);
    let fitted = ridge().train(&Problem::stream(&stream), &session()).unwrap();
    let whole = passes(500, 1_000, 0.0);
    let (samples, targets) = rows(&whole, false).pop().unwrap();
    let in_memory = ridge().train(&Problem::new(&samples, &targets), &session()).unwrap();
    let (ours, theirs) = (predictions(&fitted, &samples), predictions(&in_memory, &samples));
    for (a, b) in ours.entries().iter().zip(theirs.entries()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    assert!(fitted.held_out.is_none());
    assert_eq!(fitted.model.outputs, ["y", "z"]);
    assert_eq!(fitted.model.scaling, stream.survey().scaling);
    assert_eq!(fitted.model.schema.as_ref(), stream.schema());
    assert_eq!(fitted.facts.read::<Vec<TargetSizes>>("sizes").unwrap()[1].target, "z");
}

#[test]
fn the_error_on_held_out_rows_matches_a_fit_to_the_others() {
    let stream = passes(400, 1_000, 0.3);
    let fitted = ridge().train(&Problem::stream(&stream), &session()).unwrap();
    let (samples, targets) = rows(&stream, false).pop().unwrap();
    let others = ridge().train(&Problem::new(&samples, &targets), &session()).unwrap();
    let (samples, targets) = rows(&stream, true).pop().unwrap();
    let found = predictions(&others, &samples);
    let errors = fitted.held_out.unwrap();
    for (o, error) in errors.iter().enumerate() {
        let Errors::Numbers(error) = error else { panic!("{error:?}") };
        let n = samples.nrows() as f64;
        let residual = |i: usize| found.row(i)[o] - targets.row(i)[o];
        let rmse = ((0..samples.nrows()).map(|i| residual(i).powi(2)).sum::<f64>() / n).sqrt();
        let mae = (0..samples.nrows()).map(|i| residual(i).abs()).sum::<f64>() / n;
        assert_eq!(error.rows, samples.nrows() as u64);
        assert!((error.rmse - rmse).abs() < 1e-9 * rmse, "{error:?} {rmse}");
        assert!((error.mae - mae).abs() < 1e-9 * mae, "{error:?} {mae}");
    }
}

/// Counts the passes over another stream.
struct Counted<'a> {
    stream: &'a FilePasses,
    passes: AtomicUsize,
}

impl Passes for Counted<'_> {
    fn survey(&self) -> &Survey {
        self.stream.survey()
    }

    fn pass(&self, visit: &mut (dyn FnMut(&Chunk) -> Result<(), Stopped> + Send)) -> Result<(), PassError> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.stream.pass(visit)
    }
}

/// Where the features of all rows fit the memory they are stored in one pass; where they do not, they are added to sums. Both solve
/// the same problem, and held-out rows take another pass.
#[test]
fn a_stream_whose_features_fit_the_memory_has_the_fit_of_the_sums() {
    for (rows, held_out, approximation) in
        [(7_680, 0.0, Approximation::nystrom(960)), (19_300, 0.2, Approximation::fourier(1_920))]
    {
        let stream = in_single(rows, held_out);
        let kernel: Kernel = "matern(nu=1.5, length=0.3)".parse().unwrap();
        let ridge = Ridge::on((kernel, approximation)).lambda(0.1);
        let features = approximation.features();
        // Room for half of the features.
        let little = cost::sums_bytes(features, 2) + 2 * (rows * features) as u64;
        let [held, summed] = [session(), session().with_memory(little)].map(|session| {
            let counted = Counted { stream: &stream, passes: AtomicUsize::new(0) };
            let fitted = ridge.train(&Problem::stream(&counted), &session).unwrap();
            assert_eq!(counted.passes.into_inner(), 1 + usize::from(held_out > 0.0));
            fitted
        });
        for (fit, solver) in [(&held, "conjugate gradients"), (&summed, "cholesky")] {
            let report = fit.report.as_ref().unwrap();
            assert!(report.solver.contains(solver), "{report:?}");
        }
        let sample = stream.survey().sample.select(&(0..500).collect::<Vec<_>>());
        let (ours, theirs) = (predictions(&held, &sample), predictions(&summed, &sample));
        for (a, b) in ours.entries().iter().zip(theirs.entries()) {
            assert!((a - b).abs() < 1e-3, "{approximation}: {a} {b}");
        }
        assert_eq!(held.held_out.is_some(), held_out > 0.0);
        for (a, b) in held.held_out.iter().flatten().zip(summed.held_out.iter().flatten()) {
            let (Errors::Numbers(a), Errors::Numbers(b)) = (a, b) else { panic!("{a:?}") };
            assert_eq!((a.rows, a.target.as_str()), (b.rows, b.target.as_str()));
            assert!((a.mae - b.mae).abs() < 1e-2 * b.mae, "{a:?} {b:?}");
        }
    }
}

/// Keeps every state, and stops the work after some of them.
#[derive(Default)]
struct Kept {
    states: Mutex<Vec<(u64, Vec<u8>)>>,
    stop: AtomicBool,
}

impl Checkpoint for Kept {
    fn load(&self, work: u64) -> Option<Vec<u8>> {
        let states = self.states.lock().unwrap();
        states.iter().rev().find(|(of, _)| *of == work).map(|(_, state)| state.clone())
    }

    fn due(&self) -> bool {
        true
    }

    fn save(&self, work: u64, state: Vec<u8>) {
        let mut states = self.states.lock().unwrap();
        states.push((work, state));
        self.stop.store(states.len() == 3, Ordering::Relaxed);
    }
}

#[test]
fn a_pass_resumes_from_its_checkpoint_with_the_same_bits() {
    let stream = passes(500, 64, 0.2);
    let problem = Problem::stream(&stream);
    let whole = ridge().train(&problem, &session()).unwrap();
    let kept = Kept::default();
    let resumed = session().with_checkpoint(&kept);
    let error = ridge().train(&problem, &resumed.with_watch(&kept.stop)).unwrap_err();
    assert!(error.is_stop(), "{error}");
    assert_eq!(ridge().train(&problem, &resumed).unwrap(), whole);
    assert_eq!(kept.states.lock().unwrap().len(), 8, "no chunk was added twice");
    // A state for another λ, or a damaged state, is not used.
    let states = kept.states.lock().unwrap().len();
    ridge().lambda(1.0).train(&problem, &resumed).unwrap();
    assert_eq!(kept.states.lock().unwrap().len(), states + 8);
    kept.states.lock().unwrap().iter_mut().for_each(|(_, state)| state.truncate(40));
    assert_eq!(ridge().train(&problem, &resumed).unwrap(), whole);
}

#[test]
fn methods_that_need_all_rows_refuse_a_stream() {
    let stream = passes(50, 64, 0.0);
    let problem = Problem::stream(&stream);
    let kernel: Kernel = "rbf(sigma=1)".parse().unwrap();
    let error = |learner: &dyn Learner| learner.train(&problem, &session()).unwrap_err().to_string();
    assert!(error(&Lms::new(kernel.clone())).contains("numbers"));
    assert!(error(&Ridge::new(kernel.clone())).contains("approximation"));
    assert!(error(&ridge().solver(RidgeSolver::Cg)).contains("auto and primal"));
    // Few rows are for the kernel as it is.
    let (lift, reason) = Lift::Auto(kernel.clone()).resolved(&problem, &session()).unwrap();
    assert_eq!((lift, reason), (Lift::Kernel(kernel), None));
}

/// Every operation that reads rows in order, against the rows in memory.
#[test]
fn a_streamed_design_matches_its_rows() {
    let (stream, whole) = (passes(300, 64, 0.0), passes(300, 1_000, 0.0));
    let (samples, _) = rows(&whole, false).pop().unwrap();
    let kernel: Kernel = "rbf(sigma=1)".parse().unwrap();
    let (session, n, d) = (session(), 300, 32);
    let features = Approximation::fourier(d).of(&kernel, &samples, &session).unwrap();
    let streamed = Streamed::new(&features, &stream, &session).unwrap();
    let held = Held::of(&*features.design(&samples, &session).unwrap(), &session).unwrap();
    let entry = |k: usize| (k as f64 * 0.7311).sin();
    let matrix =
        |rows, columns| Matrix::from_entries(rows, columns, (0..rows * columns).map(entry).collect());
    let (v, u) = (matrix(d, 2), matrix(n, 2));
    let codes: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
    let labels = Labelled { codes: &codes, outputs: 3, weights: &weights };
    let loss = RowLoss { loss: Loss::Logistic, labels };
    let table: Vec<Option<usize>> = (0..n).map(|i| [Some(0), None, Some(1)][i % 3]).collect();
    let of = |design: &dyn Design| {
        assert_eq!((design.nrows(), design.ncols()), (n, d));
        let (mut a, mut b, mut c) = (Matrix::zeros(n, 2), Matrix::zeros(d, 2), Matrix::zeros(d, 2));
        let mut gradient = Matrix::zeros(d, 3);
        design.apply(&v, &mut a, &session).unwrap();
        design.apply_transposed(&u, &mut b, &session).unwrap();
        design.normal(&v, Some(&weights), &mut c, &session).unwrap();
        let found = design.loss(&loss, &matrix(d, 3), &[0.1, 0.2, 0.3], &mut gradient, &session).unwrap();
        let mut sums = vec![NormalEquations::new(d, 2); 2];
        design.normal_equations(&u, Some(&weights), &Parts::Table(&table), &mut sums, &session).unwrap();
        let fit = sums[1].ridge(0.5, Intercept::Centred, &session).unwrap();
        let mut all = [a, b, c, gradient, fit.weights].map(Matrix::into_entries).concat();
        all.extend(found.pull.into_iter().chain([found.value, found.curvature.unwrap()]));
        all
    };
    for (a, b) in of(&streamed).into_iter().zip(of(&held)) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    }
    let refused = streamed.dots_at(&[3], &vec![0.0; d], &mut [0.0], &session);
    assert_eq!(refused, Err(DesignError::Sequential));
}

#[test]
fn classifiers_learn_the_same_from_a_stream_and_from_its_rows() {
    let (stream, whole) = (passes(300, 64, 0.0), passes(300, 1_000, 0.0));
    let (samples, targets) = rows(&whole, false).pop().unwrap();
    let codes: Vec<usize> = (0..300).map(|i| usize::from(targets.row(i)[0] > 1.0)).collect();
    let kernel: Kernel = "rbf(sigma=1)".parse().unwrap();
    let approximation = Approximation::fourier(32);
    let svc = Svm::on((kernel.clone(), approximation), Machine::Svc { c: 1.0 });
    let learners: [&dyn Learner; 2] = [&Logistic::on((kernel, approximation)).lambda(0.1), &svc];
    // Room for the sums, but not for the features: the machine of the rows in memory reads them in order, too.
    let session = session().with_memory(cost::sums_bytes(32, 0) + 1_000);
    for learner in learners {
        let labels = || Targets::codes(&codes[..], 2);
        let fitted = learner.train(&Problem::stream(&stream).with_targets(labels()), &session).unwrap();
        let in_memory = learner.train(&Problem::new(&samples, labels()), &session).unwrap();
        let (ours, theirs) = (predictions(&fitted, &samples), predictions(&in_memory, &samples));
        for (a, b) in ours.entries().iter().zip(theirs.entries()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

/// Three classes; of the third there is one row, which is held out by its number but trained on.
fn classes(rows: usize, held_out: f64) -> FilePasses {
    let row = |i: usize| {
        let (a, b) = ((i as f64 * 0.618_034).fract() * 4.0, (i as f64 * 0.754_878).fract() * 4.0);
        let of_row = HeldOut::new(rows as u64, 0.25, 5);
        let first = (0..rows).find(|&row| of_row.contains(row as u64));
        let class = if Some(i) == first {
            "odd"
        } else if a > b {
            "high"
        } else {
            "low"
        };
        format!("{a},{b},{class}\n")
    };
    let text = "a,b,y\n".to_owned() + &(0..rows).map(row).collect::<String>();
    let options = ReadOptions { target: vec!["y".parse().unwrap()], ..ReadOptions::default() };
    let source = Source::bytes("d.csv", text.into_bytes());
    let chunks = TrainingChunks::open_classes(source, &options, &Unwatched).unwrap().rows_per_chunk(64);
    let survey = SurveyOptions { scale: ScaleMethod::None, sample: 10_000, seed: 5, held_out, memory: 0 };
    FilePasses::new(chunks, &survey, &Unwatched).unwrap()
}

/// The held-out rows of a stream of classes are scored by a fit to the others, whether or not the features fit the memory.
#[test]
fn classifiers_are_scored_on_held_out_rows() {
    let (stream, whole) = (classes(300, 0.25), classes(300, 0.0));
    let kernel: Kernel = "rbf(sigma=1)".parse().unwrap();
    let approximation = Approximation::fourier(32);
    let svc = Svm::on((kernel.clone(), approximation), Machine::Svc { c: 1.0 });
    let learners: [&dyn Learner; 2] = [&Logistic::on((kernel, approximation)).lambda(0.1), &svc];
    for learner in learners {
        for session in [session(), session().with_memory(cost::sums_bytes(32, 0) + 1_000)] {
            let fitted = learner.train(&Problem::stream(&stream), &session).unwrap();
            let of_all = learner.train(&Problem::stream(&whole), &session).unwrap();
            assert_eq!(fitted.model.predictor, of_all.model.predictor);
            assert_eq!(of_all.held_out, None);
            let Some([Errors::Classes(errors)]) = fitted.held_out.as_deref() else { panic!("{fitted:?}") };
            assert_eq!(
                (errors.rows, &errors.classes[..]),
                (74, &["high", "low", "odd"].map(String::from)[..])
            );
            assert!((0.9..1.0).contains(&errors.accuracy), "{errors:?}");
            assert_eq!(errors.log_loss.is_some(), learner.method() == Method::Logistic);
        }
    }
}
