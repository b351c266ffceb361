//! Fits ridge regression on the GPU in all its forms: checks them against the host, and times them.
//!
//! ```text
//! gpu_dense [check] [repeat] [memory] [stop] [exact] [cg] [landmarks] [fourier]     all where none is named
//! ```
//!
//! Times are from host arrays to a model, by the learners alone; a first small fit of every kind compiles what they need. Ends with
//! status 1 where a check fails, and with a line and status 0 where there is no GPU.

#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::Approximation;
use mercer::gram::Engine;
use mercer::kernel::Kernel;
use mercer::learn::{Fitted, LearnError, Learner, Problem, Ridge, RidgeSolver};
use mercer::session::Session;
use mercer::watch::Watch;
use mercer_cuda::CudaEngine;
use rayon::prelude::*;

/// Numbers from 0 to 1 that repeat in every run.
fn number(k: usize) -> f64 {
    let mixed = (k as u64 ^ 0x9e37_79b9).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Normally distributed numbers, by Box and Muller's transform.
fn normal(k: usize) -> f64 {
    let (radius, angle) = (number(2 * k), number(2 * k + 1));
    (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Standardised columns, of which some say something about the target, and noise.
fn problem(n: usize, d: usize, double: bool) -> (AnySamples<'static>, Matrix<f64>) {
    let values: Vec<f64> = (0..n * d).into_par_iter().map(normal).collect();
    let target = |i: usize| {
        let x = &values[i * d..(i + 1) * d];
        (1.5 * x[0]).sin() + x[1] * x[2] + 0.5 * (x[3] + x[4]).tanh() + 0.3 * normal(n * d + i)
    };
    let targets = Matrix::from_entries(n, 1, (0..n).map(target).collect());
    let samples = if double {
        AnySamples::F64(Samples::dense(n, d, values).unwrap())
    } else {
        let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        AnySamples::F32(Samples::dense(n, d, values).unwrap())
    };
    (samples, targets)
}

/// Notes when stages begin.
#[derive(Default)]
struct Phases {
    begun: Mutex<Vec<(String, Instant)>>,
    stop: AtomicBool,
}

impl Phases {
    fn show(&self) -> String {
        let begun = self.begun.lock().unwrap();
        let ends = begun.iter().skip(1).map(|(_, at)| *at).chain([Instant::now()]);
        let each = begun
            .iter()
            .zip(ends)
            .map(|((stage, at), end)| format!("{stage} {:.2}", end.duration_since(*at).as_secs_f64()));
        each.collect::<Vec<_>>().join(", ")
    }
}

impl Watch for Phases {
    fn begin(&self, stage: &str, _: u64) {
        self.begun.lock().unwrap().push((stage.to_owned(), Instant::now()));
    }

    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

struct Bench {
    engine: CudaEngine,
    failed: usize,
    done: usize,
}

fn kernel(sigma: f64) -> Kernel {
    format!("rbf(sigma={sigma})").parse().unwrap()
}

fn on_landmarks(sigma: f64, count: usize) -> Ridge {
    Ridge::on((kernel(sigma), Approximation::nystrom(count))).solver(RidgeSolver::Cg)
}

impl Bench {
    fn session(&self) -> Session<'static> {
        Session::new(Arc::new(self.engine.clone()))
    }

    fn require(&mut self, fine: bool, what: &str) {
        self.done += 1;
        if !fine {
            self.failed += 1;
            println!("FAILED {what}");
        }
    }

    fn explained(&self, error: &LearnError) -> String {
        match self.engine.take_fault() {
            Some(fault) => format!("{error}: {fault}"),
            None => error.to_string(),
        }
    }

    /// The learner on both engines: predictions by each model, on each engine.
    fn compare(&mut self, what: &str, ridge: &Ridge, (n, d, double): (usize, usize, bool), tolerance: f64) {
        let (x, y) = problem(n, d, double);
        let queries = x.select(&(0..n).step_by(n / 300).collect::<Vec<_>>());
        let (host, device) = (Session::default(), self.session());
        let timed = |session: &Session<'_>| {
            let begin = Instant::now();
            (ridge.train(&Problem::new(&x, y.clone()), session), begin.elapsed().as_secs_f64())
        };
        let ((by_host, of_host), (by_device, of_device)) = (timed(&host), timed(&device));
        let (by_host, by_device) = match (by_host, by_device) {
            (Ok(by_host), Ok(by_device)) => (by_host, by_device),
            (Err(error), _) | (_, Err(error)) => {
                return self.require(false, &format!("{what}: {}", self.explained(&error)));
            }
        };
        let expected = by_host.model.predict(&queries, &host).unwrap();
        let size = expected.entries().iter().fold(0.0f64, |size, v| size.max(v.abs()));
        let mut errors = Vec::new();
        for session in [&host, &device] {
            let found = by_device.model.predict(&queries, session).unwrap();
            let pairs = found.entries().iter().zip(expected.entries());
            errors.push(
                pairs.map(|(f, e)| (f - e).abs()).fold(0.0, |w: f64, e| if e <= w { w } else { e }) / size,
            );
        }
        let report = by_device.report.as_ref().map(|r| (r.solver.clone(), r.iterations, r.residual));
        println!(
            "{what}: predictions differ by {:.1e} on the host, {:.1e} on the device; {of_host:.2} s and {of_device:.2} s; {report:?}",
            errors[0], errors[1]
        );
        self.require(errors.iter().all(|e| *e <= tolerance), what);
    }

    /// One fit, with its phases.
    fn time(&mut self, what: &str, ridge: &Ridge, (x, y): (&AnySamples<'_>, &Matrix<f64>)) -> Option<Fitted> {
        let phases = Phases::default();
        let device = self.session();
        let session = device.with_watch(&phases);
        let problem = Problem::new(x, y.clone());
        let begin = Instant::now();
        let fitted = ridge.train(&problem, &session);
        let took = begin.elapsed().as_secs_f64();
        let first = phases
            .begun
            .lock()
            .unwrap()
            .first()
            .map_or(0.0, |(_, at)| at.duration_since(begin).as_secs_f64());
        match fitted {
            Ok(fitted) => {
                let queries = x.select(&(0..x.nrows()).step_by(x.nrows() / 300).collect::<Vec<_>>());
                let finite =
                    fitted.model.predict(&queries, &device).unwrap().entries().iter().all(|v| v.is_finite());
                println!("{what}: {took:.2} s (before the first stage {first:.2}; {})", phases.show());
                println!("    {:?}", fitted.report);
                self.require(finite, &format!("{what}: finite predictions"));
                Some(fitted)
            }
            Err(error) => {
                println!("{what}: {took:.2} s, then {} ({})", self.explained(&error), phases.show());
                self.require(false, what);
                None
            }
        }
    }

    fn check(&mut self) {
        let exact = Ridge::new(kernel(3.0));
        self.compare("exact, f64", &exact, (4_000, 8, true), 1e-8);
        self.compare("exact, f32", &exact, (4_000, 8, false), 1e-4);
        self.compare("exact, mixed", &exact.clone().solver(RidgeSolver::Mixed), (4_000, 8, true), 1e-8);
        let cg = Ridge::new(kernel(4.0)).solver(RidgeSolver::Cg).tol(1e-6);
        self.compare("cg", &cg, (12_000, 10, false), 1e-4);
        self.compare("landmarks", &on_landmarks(4.0, 700).tol(1e-7), (12_000, 10, false), 1e-4);
        let fourier = Ridge::on((kernel(4.0), Approximation::fourier(512)));
        self.compare("fourier, f32", &fourier, (12_000, 10, false), 1e-4);
        self.compare("fourier, f64", &fourier, (3_000, 70, true), 1e-7);
        // Twenty landmarks at every place: their kernel matrix has no factor.
        let (x, y) = problem(2_000, 5, false);
        let repeated = x.select(&(0..2_000).map(|i| i % 100).collect::<Vec<_>>());
        let fitted = on_landmarks(2.0, 1_000).train(&Problem::new(&repeated, y), &self.session());
        let warnings = fitted.ok().and_then(|f| f.report).map(|r| r.warnings);
        println!("repeated landmarks: {warnings:?}");
        self.require(warnings.is_some_and(|w| !w.is_empty()), "repeated landmarks are reported");
    }

    /// The same bits in every run.
    fn repeat(&mut self) {
        let (x, y) = problem(20_000, 28, false);
        let learners = [
            ("exact", Ridge::new(kernel(5.0))),
            ("cg", Ridge::new(kernel(5.0)).solver(RidgeSolver::Cg)),
            ("landmarks", on_landmarks(5.0, 3_000)),
            ("fourier", Ridge::on((kernel(5.0), Approximation::fourier(2_048)))),
        ];
        for (name, ridge) in learners {
            let fit = || match ridge.train(&Problem::new(&x, y.clone()), &self.session()) {
                Ok(fitted) => format!("{:?}", fitted.model),
                Err(error) => error.to_string(),
            };
            let same = fit() == fit();
            println!("{name}: the same bits in two runs: {same}");
            self.require(same, "repeatable");
        }
    }

    /// Too large a problem is an error, and smaller ones work afterwards.
    fn memory(&mut self) {
        let (x, y) = problem(600_000, 8, false);
        for (what, ridge) in [
            ("exact", Ridge::new(kernel(3.0)).solver(RidgeSolver::Cholesky)),
            ("landmarks", on_landmarks(3.0, 200_000)),
        ] {
            let session = self.session().with_memory(1 << 50);
            let error = ridge.train(&Problem::new(&x, y.clone()), &session).err();
            let text = error.as_ref().map(|error| self.explained(error));
            println!("too large, {what}: {text:?}");
            self.require(
                text.is_some_and(|text| text.contains("GiB") || text.contains("GB")),
                "an error with the numbers",
            );
        }
        let few = x.select(&(0..3_000).collect::<Vec<_>>());
        let targets = y.select(&(0..3_000).collect::<Vec<_>>());
        self.time("after that", &Ridge::new(kernel(3.0)), (&few, &targets));
    }

    /// The time until fits end after a stop is requested.
    fn stop(&mut self) {
        let (x, y) = problem(400_000, 28, false);
        let most = x.select(&(0..100_000).collect::<Vec<_>>());
        let targets = y.select(&(0..100_000).collect::<Vec<_>>());
        type Job<'a> = (&'a str, Ridge, &'a AnySamples<'a>, &'a Matrix<f64>, &'a [u64]);
        let jobs: [Job<'_>; 4] = [
            ("exact", Ridge::new(kernel(5.0)), &most, &targets, &[500, 2_500]),
            ("cg", Ridge::new(kernel(5.0)).solver(RidgeSolver::Cg).tol(1e-12), &x, &y, &[300, 2_000]),
            ("landmarks", on_landmarks(5.0, 40_000), &x, &y, &[400, 1_500]),
            ("fourier", Ridge::on((kernel(5.0), Approximation::fourier(8_192))), &x, &y, &[400]),
        ];
        for (name, ridge, x, y, waits) in jobs {
            for &wait in waits {
                let phases = Phases::default();
                let device = self.session();
                let (ended, asked) = std::thread::scope(|scope| {
                    let asked = scope.spawn(|| {
                        std::thread::sleep(Duration::from_millis(wait));
                        phases.stop.store(true, Ordering::Relaxed);
                        Instant::now()
                    });
                    let fitted = ridge.train(&Problem::new(x, y.clone()), &device.with_watch(&phases));
                    let now = Instant::now();
                    (fitted.is_err().then_some(now), asked.join().unwrap())
                });
                let late = ended.map(|ended| ended.duration_since(asked).as_secs_f64());
                println!("stop {name} after {wait} ms: {late:?} s late ({})", phases.show());
                self.require(late.is_some_and(|late| late < 0.3), "a stop within 0.3 s");
            }
        }
    }

    fn exact(&mut self) {
        for (n, double) in [(60_000, true), (100_000, false)] {
            let (x, y) = problem(n, 8, double);
            let what = format!("exact ridge, n = {n}, {}", if double { "f64" } else { "f32" });
            self.time(&what, &Ridge::new(kernel(3.0)), (&x, &y));
        }
    }

    fn large(&mut self, jobs: &[(&str, Ridge)]) {
        let (x, y) = problem(1_000_000, 28, false);
        for (what, ridge) in jobs {
            self.time(&format!("{what}, n = 10⁶, d = 28"), ridge, (&x, &y));
        }
    }
}

fn main() -> ExitCode {
    let engine = match CudaEngine::new(0) {
        Ok(engine) => engine,
        Err(missing) => {
            println!("skipped: {missing}");
            return ExitCode::SUCCESS;
        }
    };
    println!("{}, {:?} bytes free and in all", engine.card(), engine.free_memory());
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|a| a == part);
    let mut bench = Bench { engine, failed: 0, done: 0 };
    let begin = Instant::now();
    for d in [8, 28] {
        let (x, y) = problem(3_000, d, false);
        let sigma = if d == 8 { 3.0 } else { 5.0 };
        for ridge in [
            Ridge::new(kernel(sigma)),
            Ridge::new(kernel(sigma)).solver(RidgeSolver::Cg),
            on_landmarks(sigma, 600),
            Ridge::on((kernel(sigma), Approximation::fourier(1_024))),
        ] {
            if let Err(error) = ridge.train(&Problem::new(&x, y.clone()), &bench.session()) {
                bench.require(false, &bench.explained(&error).clone());
            }
        }
    }
    println!("compiled in {:.1} s", begin.elapsed().as_secs_f64());
    type Part = (&'static str, fn(&mut Bench));
    let parts: [Part; 8] = [
        ("check", Bench::check),
        ("repeat", Bench::repeat),
        ("exact", Bench::exact),
        ("landmarks", |bench| {
            bench.large(&[
                ("landmarks M = 10⁴", on_landmarks(5.0, 10_000)),
                ("landmarks M = 5·10⁴", on_landmarks(5.0, 50_000)),
            ]);
        }),
        ("fourier", |bench| {
            bench
                .large(&[("8,192 random features", Ridge::on((kernel(5.0), Approximation::fourier(8_192))))]);
        }),
        ("cg", |bench| {
            let cg = Ridge::new(kernel(5.0)).solver(RidgeSolver::Cg);
            bench.large(&[("ridge by cg", cg.clone()), ("ridge by cg, rank 8,000", cg.rank(Some(8_000)))]);
        }),
        ("memory", Bench::memory),
        ("stop", Bench::stop),
    ];
    for (name, run) in parts {
        if wanted(name) {
            run(&mut bench);
        }
    }
    println!("{} checks, {} failed", bench.done, bench.failed);
    if bench.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
