//! Checks the GPU engine against `Kernel::eval` and the host engine, and times it.
//!
//! ```text
//! gpu_check [quick] [check] [learn] [stop] [time] [large]     all but the first where none is named
//! ```
//!
//! Ends with status 1 where a check fails, and with a line and status 0 where there is no GPU.

#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{Ends, Engine, KeepRows, Part, Policy, Resident, TileMut, Wanted};
use mercer::kernel::random::{self, Shape};
use mercer::kernel::{Expr, Kernel, Named, family::FAMILIES};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Knn, Learner, Logistic, Problem, Ridge, RidgeSolver, Targets};
use mercer::real::Precision;
use mercer::session::Session;
use mercer::watch::Unwatched;
use mercer_cuda::CudaEngine;

mod support;
use support::{Checks, number, rows, samples};

const KERNELS: &[&str] = &[
    "<x,z>",
    "(0.5*<x,z> + 1)^3",
    "(<x,z> + 4)^-2",
    "rbf(sigma=0.8)",
    "rbf(sigma=[0.8,1,2,0.5])",
    "2*rbf(sigma=0.8) + 0.3*laplacian(gamma=0.4)",
    "laplacian",
    "matern(nu=0.5)",
    "matern(nu=1.5)",
    "matern(nu=4.5)",
    "matern(nu=0.9)",
    "matern(nu=20)",
    "rq(alpha=0.7)",
    "periodic(period=1.3)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "arccos(order=2)",
    "chi2(gamma=0.3)[0..2]",
    "sigmoid(gamma=0.1)",
    "spline",
    "wendland(radius=2)",
    "min(|x-z|, 0.5*|x-z|_1)",
    "max(<x,z>, rbf)",
    "rbf[0] * matern(nu=1.5)[1..3] + cos(<x,z>)",
    "sqrt(|x-z|_1 + 1)/(1 + |x-z|^2)",
    "tanh(0.2*<x,z>) + log(3 + |x-z|^2)",
    "|x|*|z|*rbf[3,0] + 2",
];

/// All operations on the matrix of one kernel.
fn check_kernel(
    engine: &CudaEngine,
    kernel: &Kernel,
    columns: usize,
    precision: Precision,
    checks: &mut Checks,
) {
    const N: usize = 300;
    const M: usize = 170;
    let (x, z) = (rows(N, columns, 0), rows(M, columns, 900_000));
    let (x, z) = (samples(&x, columns, precision), samples(&z, columns, precision));
    let row = |s: &AnySamples<'_>, i: usize| {
        let mut row = vec![0.0; columns];
        s.copy_row(i, &mut row);
        row
    };
    let all = |a: &AnySamples<'_>, b: &AnySamples<'_>| -> Vec<f64> {
        (0..a.nrows())
            .flat_map(|i| (0..b.nrows()).map(move |j| (i, j)))
            .map(|(i, j)| kernel.eval(&row(a, i), &row(b, j)).unwrap())
            .collect()
    };
    let (full, crossed) = (all(&x, &x), all(&x, &z));
    let resident = engine.load(&x).unwrap();
    let queries = engine.load(&z).unwrap();
    let gram = match resident.gram(kernel, Wanted::Exact) {
        Ok(gram) => gram,
        Err(error) => {
            checks.failed += 1;
            println!("FAILED {kernel}: {error}");
            return;
        }
    };
    let unit: f64 = if gram.precision() == Precision::Single { 2e-5 } else { 1e-9 };
    let unit = if kernel.to_string().starts_with("arccos") { unit.max(1e-6) } else { unit };
    let name = |what: &str| format!("{kernel}, {precision:?}, {what}");
    let mut values = vec![f64::NAN; N * N];
    gram.fill(Part::Full, (&mut values).into(), &Unwatched).unwrap();
    checks.close(&name("fill"), &values, &full, unit);
    let diagonal: Vec<f64> = (0..N).map(|i| full[i * N + i]).collect();
    checks.close(&name("diagonal"), &gram.diagonal(), &diagonal, unit);
    for outputs in [1, 5] {
        let rhs = Matrix::from_entries(N, outputs, (0..N * outputs).map(|k| number(k) - 0.5).collect());
        let mut out = Matrix::from_entries(N, outputs, vec![f64::NAN; N * outputs]);
        gram.apply(&mut out, &rhs, &Unwatched).unwrap();
        let expected: Vec<f64> = (0..N * outputs)
            .map(|k| (0..N).map(|j| full[k / outputs * N + j] * rhs.row(j)[k % outputs]).sum())
            .collect();
        checks.close(&name("apply"), out.entries(), &expected, unit);
    }
    let (some, others): (Vec<usize>, Vec<usize>) =
        ((0..N).step_by(7).collect(), (0..N).rev().step_by(3).collect());
    let mut block = vec![f64::NAN; some.len() * others.len()];
    gram.block(&some, &others, TileMut::new(&mut block, others.len()));
    let at = |i: usize, j: usize| full[i * N + j];
    let mut expected = Vec::new();
    some.iter().for_each(|&i| expected.extend(others.iter().map(|&j| at(i, j))));
    checks.close(&name("block"), &block, &expected, unit);
    let factors: Vec<f64> = some.iter().map(|i| number(*i) - 0.5).collect();
    let sums: Vec<f64> =
        others.iter().map(|c| some.iter().zip(&factors).map(|(r, f)| f * full[r * N + c]).sum()).collect();
    let rhs = Matrix::from_entries(some.len(), 1, factors.clone());
    let mut out = Matrix::zeros(others.len(), 1);
    gram.apply_part(&others, &some, &rhs, &mut out, &Unwatched).unwrap();
    checks.close(&name("apply_part"), out.entries(), &sums, unit);
    let keep = KeepRows { bytes: 1 << 20, precision: gram.precision(), policy: Policy::SecondUse };
    let mut row_sums = gram.row_sums(&others, keep);
    let terms: Vec<(usize, f64)> = some.iter().copied().zip(factors).collect();
    let (mut f, zeros) = (vec![0.0; others.len()], vec![0.0; others.len()]);
    let ends = Ends { groups: &[0..40, 40..others.len()], up: &zeros, low: &zeros };
    let found = row_sums.add(&terms, &mut f, Some(ends), &Unwatched).unwrap();
    checks.close(&name("row_sums"), &f, &sums, unit);
    let least = f[..40].iter().copied().fold(f64::INFINITY, f64::min);
    checks.close(&name("ends"), &[found[0].0], &[least], 0.0);
    drop(row_sums);
    let cross = resident.cross(kernel, &*queries).unwrap();
    let mut values = vec![f64::NAN; N * M];
    cross.fill(Part::Full, (&mut values).into(), &Unwatched).unwrap();
    checks.close(&name("cross"), &values, &crossed, unit);
    let rhs = Matrix::from_entries(M, 1, (0..M).map(|j| number(j) - 0.5).collect());
    let mut out = Matrix::zeros(N, 1);
    cross.apply(&mut out, &rhs, &Unwatched).unwrap();
    let expected: Vec<f64> =
        (0..N).map(|i| (0..M).map(|j| crossed[i * M + j] * rhs.row(j)[0]).sum()).collect();
    checks.close(&name("cross apply"), out.entries(), &expected, unit);
}

fn check(engine: &CudaEngine, checks: &mut Checks) {
    let begin = Instant::now();
    let defaults = FAMILIES.iter().map(|f| Kernel::from_expr(Expr::Named(Named::with_defaults(*f))));
    let kernels: Vec<Kernel> = KERNELS.iter().map(|text| text.parse().unwrap()).chain(defaults).collect();
    for kernel in &kernels {
        for precision in [Precision::Single, Precision::Double] {
            check_kernel(engine, kernel, 4, precision, checks);
        }
    }
    // Tensor cores, with rows kept in registers and without, and features in several chunks.
    for columns in [13, 32, 40, 64, 100, 150, 200, 500] {
        for text in ["rbf(sigma=3)", "(0.1*<x,z> + 1)^2", "matern(nu=1.5)", "laplacian(gamma=0.05)", "cosine"]
        {
            check_kernel(engine, &text.parse().unwrap(), columns, Precision::Single, checks);
        }
    }
    let shape = Shape { depth: 3, columns: 4, unresolved: false };
    let steady = |kernel: &Kernel| {
        (0..40).all(|seed| {
            let (x, z) = random::points(seed, 4, true);
            let moved = |row: &[f64]| row.iter().map(|v| v * (1.0 + 1e-11)).collect::<Vec<f64>>();
            let (a, b) = (kernel.eval(&x, &z).unwrap(), kernel.eval(&moved(&x), &moved(&z)).unwrap());
            a.is_finite() && a.abs() < 1e6 && (a - b).abs() <= 1e-9 * (1.0 + a.abs())
        })
    };
    for kernel in (0..60).map(|seed| Kernel::from_expr(random::expr(seed, shape))).filter(steady).take(15) {
        check_kernel(engine, &kernel, 4, Precision::Double, checks);
    }
    println!(
        "checks: {} done, {} failed, {:.1} s",
        checks.done,
        checks.failed,
        begin.elapsed().as_secs_f64()
    );
}

/// A few kernels, one of which is not symmetric.
fn quick(engine: &CudaEngine, checks: &mut Checks) {
    for text in
        ["rbf(sigma=0.8)", "matern(nu=2.5)", "laplacian", "min(|x-z|, 0.5*|x-z|_1)", "|x|*<x,z> + rbf"]
    {
        for precision in [Precision::Single, Precision::Double] {
            check_kernel(engine, &text.parse().unwrap(), 4, precision, checks);
        }
    }
    println!("quick: {} checks, {} failed", checks.done, checks.failed);
}

/// Learners on both engines.
fn learn(engine: &CudaEngine, checks: &mut Checks) {
    const N: usize = 3000;
    let (x, z) = (rows(N, 6, 0), rows(400, 6, 700_000));
    let (x, z) = (samples(&x, 6, Precision::Double), samples(&z, 6, Precision::Double));
    let mut row = vec![0.0; 6];
    let mut target = |i: usize| {
        x.copy_row(i, &mut row);
        (6.0 * row[0]).sin() + row[1] * row[2] + 0.1 * number(i + 5)
    };
    let targets = Matrix::from_entries(N, 1, (0..N).map(&mut target).collect());
    let codes: Vec<usize> =
        targets.entries().iter().map(|t| usize::from(*t > 0.3) + usize::from(*t > 0.9)).collect();
    let kernel: Kernel = "rbf(sigma=0.5)".parse().unwrap();
    let host = Session::default();
    let device = Session::new(Arc::new(engine.clone()));
    let classes = || Targets::codes(codes.clone(), 3);
    let ridge = Ridge::new(kernel.clone()).lambda(0.1);
    let cg = Ridge::new(kernel.clone()).lambda(0.1).solver(RidgeSolver::Cg);
    let logistic = Logistic::new(kernel.clone());
    let svc = Svm::new(kernel.clone(), Machine::Svc { c: 5.0 });
    let svr = Svm::new(kernel.clone(), Machine::Svr { c: 1.0, epsilon: 0.05 });
    let knn = Knn::new(5);
    let learners: [(&str, &dyn Learner, Targets<'_>); 6] = [
        ("ridge", &ridge, targets.clone().into()),
        ("ridge by cg", &cg, targets.clone().into()),
        ("logistic", &logistic, classes()),
        ("svc", &svc, classes()),
        ("svr", &svr, targets.clone().into()),
        ("k-nn", &knn, targets.clone().into()),
    ];
    for (name, learner, targets) in learners {
        let problem = Problem::new(&x, targets);
        let mut times = Vec::new();
        let predictions: Vec<String> = [&host, &device]
            .into_iter()
            .map(|session| {
                let begin = Instant::now();
                let fitted = match learner.train(&problem, session) {
                    Ok(fitted) => fitted,
                    Err(error) => return format!("{error} {:?}", engine.take_fault()),
                };
                times.push(begin.elapsed().as_secs_f64());
                format!("{:?}", fitted.model.predict(&z, session).unwrap())
            })
            .collect();
        let numbers = |text: &str| -> Vec<f64> {
            text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | 'e')))
                .filter_map(|t| t.parse().ok())
                .collect()
        };
        checks.close(name, &numbers(&predictions[1]), &numbers(&predictions[0]), 1e-3);
        println!(
            "{name}: host {:.3} s, device {:.3} s",
            times.first().unwrap_or(&0.0),
            times.get(1).unwrap_or(&0.0)
        );
    }
}

fn load(engine: &dyn Engine, n: usize, d: usize) -> Box<dyn Resident> {
    use rayon::prelude::*;
    let values: Vec<f32> = (0..n * d).into_par_iter().map(|k| (3.4 * (number(k) - 0.5)) as f32).collect();
    engine.load(&AnySamples::F32(Samples::dense(n, d, values).unwrap())).unwrap()
}

/// The time until a product ends after a stop is requested.
fn stop(engine: &CudaEngine, checks: &mut Checks) {
    let n = 1_000_000;
    let resident = load(engine, n, 32);
    let gram = resident.gram(&"laplacian(gamma=0.1)".parse().unwrap(), Wanted::Exact).unwrap();
    let rhs = Matrix::from_entries(n, 1, (0..n).map(|j| number(j) - 0.5).collect());
    let mut out = Matrix::zeros(n, 1);
    let flag = AtomicBool::new(false);
    let late = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(600));
            flag.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let ended = gram.apply(&mut out, &rhs, &flag);
        let now = Instant::now();
        let asked = asked.join().unwrap();
        println!(
            "stop: {}, {:.3} s after it was asked for",
            ended.is_err(),
            now.duration_since(asked).as_secs_f64()
        );
        ended.is_err().then(|| now.duration_since(asked).as_secs_f64())
    });
    checks.close("stop", &[late.unwrap_or(f64::INFINITY).min(1e9)], &[0.0], 0.3);
}

/// Times K·v and the parts around it.
fn time(engine: &CudaEngine) {
    let jobs: &[(&str, usize, usize, usize)] = &[
        ("rbf(sigma=2)", 1_000_000, 3, 1),
        ("rbf(sigma=3)", 1_000_000, 8, 1),
        ("rbf(sigma=3)", 1_000_000, 8, 4),
        ("rbf(sigma=5)", 1_000_000, 28, 1),
        ("rbf(sigma=6)", 1_000_000, 32, 1),
        ("rbf(sigma=6)", 1_000_000, 32, 4),
        ("rbf(sigma=8)", 500_000, 64, 1),
        ("rbf(sigma=28)", 100_000, 784, 1),
        ("matern(nu=1.5)", 1_000_000, 8, 1),
        ("laplacian(gamma=0.1)", 500_000, 8, 1),
        ("rbf(sigma=3) + 0.1*<x,z>", 500_000, 8, 1),
        ("rbf(sigma=3)*laplacian(gamma=0.1)", 500_000, 8, 1),
    ];
    for &(text, n, d, outputs) in jobs {
        let begin = Instant::now();
        let resident = load(engine, n, d);
        let loaded = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let gram = resident.gram(&text.parse().unwrap(), Wanted::Exact).unwrap();
        let made = begin.elapsed().as_secs_f64();
        let rhs = Matrix::from_entries(n, outputs, (0..n * outputs).map(|j| number(j) - 0.5).collect());
        let mut out = Matrix::zeros(n, outputs);
        let mut times = Vec::new();
        for _ in 0..4 {
            let begin = Instant::now();
            gram.apply(&mut out, &rhs, &Unwatched).unwrap();
            times.push(begin.elapsed().as_secs_f64());
        }
        let first = times[0];
        times[1..].sort_by(f64::total_cmp);
        let pairs = n as f64 * n as f64;
        println!(
            "K·V {text}, {:?}, n = {n}, d = {d}, {outputs} right-hand sides: {:.4} s ({:.3} s per 10¹² pairs; first call {first:.3} s, \
             loading with drawing {loaded:.2} s, features {made:.3} s)",
            gram.precision(),
            times[2],
            times[2] * 1e12 / pairs
        );
    }
}

/// Ridge by conjugate gradients on a million samples, and values copied to the host.
fn large(engine: &CudaEngine) {
    let (n, d) = (1_000_000, 28);
    let values: Vec<f32> = (0..n * d).map(|k| (3.4 * (number(k) - 0.5)) as f32).collect();
    let x = AnySamples::F32(Samples::dense(n, d, values).unwrap());
    let targets = Matrix::from_entries(n, 1, (0..n).map(|i| number(i) - 0.5).collect());
    let session = Session::new(Arc::new(engine.clone()));
    let kernel: Kernel = "rbf(sigma=5)".parse().unwrap();
    let ridge = Ridge::new(kernel).solver(RidgeSolver::Cg);
    let begin = Instant::now();
    let fitted = ridge.train(&Problem::new(&x, targets), &session);
    match fitted {
        Ok(fitted) => println!(
            "ridge by cg, n = {n}, d = {d}: {:.1} s, {:?}",
            begin.elapsed().as_secs_f64(),
            fitted.report
        ),
        Err(error) => println!("ridge by cg: {error}, {:?}", engine.take_fault()),
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
    let (free, total) = engine.free_memory().unwrap();
    println!("{}, {} of {} bytes free", engine.card(), free, total);
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|a| a == part);
    let mut checks = Checks { failed: 0, done: 0 };
    if asked.iter().any(|a| a == "quick") {
        quick(&engine, &mut checks);
    }
    if wanted("check") {
        check(&engine, &mut checks);
    }
    if wanted("learn") {
        learn(&engine, &mut checks);
    }
    if wanted("stop") {
        stop(&engine, &mut checks);
    }
    if wanted("time") {
        time(&engine);
    }
    if wanted("large") {
        large(&engine);
    }
    println!("{} checks, {} failed", checks.done, checks.failed);
    if checks.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
