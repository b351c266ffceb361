//! The search for a kernel: refused input, stopping, and the result.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::learn::{LearnError, Problem};
use mercer::select::discover::Discover;
use mercer::session::Session;
use mercer::watch::Watch;

use crate::oracle::noise;

/// Four years of months: a trend, a yearly cycle and noise.
fn months() -> (AnySamples<'static>, Matrix<f64>) {
    let x: Vec<f64> = (0..48).map(|i| f64::from(i) / 12.0).collect();
    let rough = noise(48, 5);
    let target = |(x, e): (&f64, &f64)| x + (2.0 * std::f64::consts::PI * x).sin() + 0.1 * e;
    let y = x.iter().zip(&rough).map(target).collect();
    (AnySamples::F64(Samples::dense(48, 1, x).unwrap()), Matrix::from_entries(48, 1, y))
}

/// Stops after this many formulas, or when the final model is learnt.
struct Stop {
    formulas: usize,
    tried: AtomicUsize,
    last: AtomicBool,
}

impl Stop {
    fn after(formulas: usize) -> Self {
        Self { formulas, tried: AtomicUsize::new(0), last: AtomicBool::new(false) }
    }
}

impl Watch for Stop {
    fn begin(&self, stage: &str, _total: u64) {
        self.last.fetch_or(stage == "Gaussian process", Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.tried.fetch_add(amount as usize, Ordering::Relaxed);
    }

    fn stop_requested(&self) -> bool {
        self.last.load(Ordering::Relaxed) || self.tried.load(Ordering::Relaxed) >= self.formulas
    }
}

#[test]
fn a_search_that_is_stopped_keeps_the_best_formula() {
    let (x, y) = months();
    let problem = Problem::new(x.view(), &y);
    for (formulas, candidates) in [(4, 80), (usize::MAX, 6)] {
        let stop = Stop::after(formulas);
        let session = Session::default().with_watch(&stop);
        let search = Discover::default().candidates(candidates);
        let found = search.run(&problem, &session).unwrap();
        assert!(stop.stop_requested() && found.ended_early, "{formulas}");
        assert_eq!(found.tried, formulas.min(candidates));
        let again = search.refit(&found, &problem, &session).unwrap();
        for fitted in [&found.fitted, &again] {
            assert!(fitted.predict(x.view()).unwrap().entries().iter().all(|f| f.is_finite()));
        }
        // The values are those that were learnt on the sample, which is all rows here.
        let likelihood = found.fitted.facts.number("log_likelihood").unwrap();
        assert!((likelihood - found.winner().log_likelihood).abs() < 1e-6 * likelihood.abs());
    }
    // Before the first formula there is nothing to keep.
    let stop = Stop::after(0);
    let error = Discover::default().run(&problem, &Session::default().with_watch(&stop)).unwrap_err();
    assert!(error.is_stop(), "{error}");
}

#[test]
fn the_seed_decides_without_a_limit_on_time() {
    let (x, y) = months();
    let problem = Problem::new(x.view(), &y);
    let run = |search: Discover| search.candidates(20).run(&problem, &Session::default()).unwrap();
    let found = run(Discover::default());
    assert_eq!(found, run(Discover::default()));
    assert!(!found.ended_early && found.winner().formula.text(1).contains("periodic"), "{found:?}");
    // The first formula is tried for any limit.
    let hurried = run(Discover::default().seconds(Some(1e-9)));
    assert_eq!((hurried.tried, hurried.ladder.len(), hurried.ended_early), (1, 1, true));
}

#[test]
fn constant_targets_are_refused() {
    let session = Session::default();
    let (x, y) = months();
    let error = Discover::default().candidates(0).run(&Problem::new(x.view(), &y), &session).unwrap_err();
    assert!(error.to_string().contains("candidates is 0"), "{error}");
    let one = AnySamples::F64(Samples::dense(1, 1, vec![1.0]).unwrap());
    for (samples, rows) in [(&x, 48), (&one, 1)] {
        let constant = Matrix::from_entries(rows, 1, vec![4.0; rows]);
        let found = Discover::default().run(&Problem::new(samples.view(), &constant), &session);
        assert_eq!(found, Err(LearnError::ConstantTargets { value: 4.0 }));
    }
}
