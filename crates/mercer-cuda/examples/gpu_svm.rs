//! Checks support vector machines and nearest neighbours on the GPU against the host, and times them on files.
//!
//! ```text
//! gpu_svm check                       every machine on both engines
//! gpu_svm time FILE KERNEL C [DIVISOR]    C-classification of the arrays X and y, or X_train and y_train, of an .npz file;
//!                                         logistic regression where C is `logistic`
//! gpu_svm host FILE KERNEL C [DIVISOR]    the same on the host
//! gpu_svm neighbours FILE                 5 neighbours of 10,000 of its rows
//! ```
//!
//! Ends with status 1 where a check fails, and with a line and status 0 where there is no GPU.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use mercer::data::{AnySamples, Matrix, ReadOptions, Samples, read};
use mercer::gram::{Engine, Metric, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Fitted, Learner, Logistic, Problem, Targets};
use mercer::real::Precision;
use mercer::session::Session;
use mercer::watch::Unwatched;
use mercer_cuda::CudaEngine;

mod support;
use support::{Checks, number, rows, samples};

fn fact(fitted: &Fitted, name: &str) -> f64 {
    fitted.facts.number(name).unwrap_or(f64::NAN)
}

/// Trains on both engines and compares objectives, predictions and, of two runs on the device, bits.
fn compare(
    name: &str,
    learner: &Svm,
    problem: &Problem<'_>,
    asked: &AnySamples<'_>,
    (host, device): (&Session<'_>, &Session<'_>),
    checks: &mut Checks,
) {
    let train = |session: &Session<'_>| {
        let begin = Instant::now();
        let fitted = learner.train(problem, session);
        (begin.elapsed().as_secs_f64(), fitted)
    };
    let ((on_host, expected), (on_device, found), (_, again)) = (train(host), train(device), train(device));
    let (expected, found, again) = match (expected, found, again) {
        (Ok(expected), Ok(found), Ok(again)) => (expected, found, again),
        (expected, found, _) => {
            checks.failed += 1;
            println!(
                "FAILED {name}: {:?}, {:?}, {:?}",
                expected.err(),
                found.err(),
                device.engine().take_fault()
            );
            return;
        }
    };
    let outputs = |fitted: &Fitted, session: &Session<'_>| {
        fitted.model.predictor.predict(asked, session).map_or_else(|_| Vec::new(), Matrix::into_entries)
    };
    println!(
        "{name}: host {on_host:.3} s, device {on_device:.3} s, objective {:.9e} and {:.9e}, violation {:.1e}, {} and {} iterations",
        fact(&expected, "objective"),
        fact(&found, "objective"),
        fact(&found, "violation"),
        fact(&expected, "iterations"),
        fact(&found, "iterations"),
    );
    // At the usual tolerance two solutions may differ by more in the objective.
    let mut close = learner.clone();
    close.solver.tol = 1e-5;
    let [a, b] = [device, host]
        .map(|session| close.train(problem, session).map_or(f64::NAN, |fitted| fact(&fitted, "objective")));
    checks.close(&format!("{name}, objective"), &[a / b], &[1.0], 1e-5);
    checks.close(&format!("{name}, violation"), &[fact(&found, "violation")], &[0.0], 1e-3);
    // Predictions of one model by both engines.
    checks.close(&format!("{name}, prediction"), &outputs(&found, device), &outputs(&found, host), 1e-4);
    checks.close(&format!("{name}, two models"), &outputs(&found, host), &outputs(&expected, host), 1e-2);
    let same = outputs(&found, host) == outputs(&again, host) && found.facts == again.facts;
    checks.close(&format!("{name}, same bits"), &[f64::from(u8::from(same))], &[1.0], 0.0);
}

/// Every machine, on more variables than a working set holds and on fewer.
fn check(engine: &CudaEngine, checks: &mut Checks) {
    let sessions = (&Session::default(), &Session::new(Arc::new(engine.clone())));
    for (n, precision) in [(6_000, Precision::Single), (900, Precision::Double), (60, Precision::Double)] {
        let (x, z) = (rows(n, 6, 0), rows(400, 6, 700_000));
        let (x, z) = (samples(&x, 6, precision), samples(&z, 6, precision));
        let mut row = vec![0.0; 6];
        let mut target = |i: usize| {
            x.copy_row(i, &mut row);
            (6.0 * row[0]).sin() + row[1] * row[2] + 0.4 * number(i + 5)
        };
        let targets: Vec<f64> = (0..n).map(&mut target).collect();
        let codes: Vec<usize> =
            targets.iter().map(|t| usize::from(*t > 0.5) + usize::from(*t > 0.9)).collect();
        let two: Vec<usize> = targets.iter().map(|t| usize::from(*t > 0.6)).collect();
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + number(i + 77)).collect();
        let numbers = || Matrix::from_entries(n, 1, targets.clone());
        let machines: [(&str, Machine, Targets<'_>); 6] = [
            ("svc", Machine::Svc { c: 5.0 }, Targets::codes(two.clone(), 2)),
            ("svc, 3 classes", Machine::Svc { c: 5.0 }, Targets::codes(codes, 3)),
            ("nu-svc", Machine::NuSvc { nu: 0.3 }, Targets::codes(two, 2)),
            ("svr", Machine::Svr { c: 2.0, epsilon: 0.1 }, numbers().into()),
            ("nu-svr", Machine::NuSvr { c: 2.0, nu: 0.4 }, numbers().into()),
            ("one-class", Machine::OneClass { nu: 0.2 }, Targets::None),
        ];
        for kernel in ["rbf(sigma=0.5)", "laplacian(gamma=1) + 0.1*<x,z>"] {
            for (name, machine, targets) in &machines {
                let svm = Svm::new(kernel.parse().unwrap(), *machine);
                let problem = || Problem::new(&x, targets.clone());
                let weighted = problem().weighted(Some(&weights[..]));
                let name = format!("{name}, {kernel}, n = {n}");
                compare(&name, &svm, &problem(), &z, sessions, checks);
                if n == 900 {
                    compare(&format!("{name}, weighted"), &svm, &weighted, &z, sessions, checks);
                }
            }
        }
    }
    neighbours_agree(engine, checks);
}

/// Nearest neighbours by both engines, ties among them: the same rows and the same distances.
fn neighbours_agree(engine: &CudaEngine, checks: &mut Checks) {
    let host = Session::default();
    for (n, d, precision) in
        [(3_000, 20, Precision::Single), (2_500, 33, Precision::Double), (700, 6, Precision::Single)]
    {
        let mut values = rows(n, d, 0);
        // Equal rows are equally far.
        values.copy_within(0..n / 3 * d, n / 3 * d);
        let (x, z) = (samples(&values, d, precision), samples(&rows(301, d, 40), d, Precision::Double));
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
            for k in [1, 7, 400] {
                let find = |engine: &dyn Engine| {
                    let (rows, queries) = (engine.load(&x).unwrap(), engine.load(&z).unwrap());
                    rows.nearest(&*queries, k, metric, &Unwatched).unwrap()
                };
                let (found, expected) = (find(engine), find(host.engine()));
                let same = found == expected;
                checks.close(
                    &format!("{k} neighbours, {metric:?}, d = {d}"),
                    &[f64::from(u8::from(same))],
                    &[1.0],
                    0.0,
                );
            }
        }
    }
}

/// The features and classes of a file, features divided by `divisor`.
fn read_classes(file: &str, divisor: f32) -> (AnySamples<'static>, Vec<usize>, usize) {
    let options = ReadOptions { dtype: Precision::Single, ..ReadOptions::default() };
    let (data, _) = read(Path::new(file), &options).unwrap();
    let AnySamples::F32(features) = data.features else { unreachable!("read in single precision") };
    let values: Vec<f32> = features.stored_values().iter().map(|v| v / divisor).collect();
    let x = AnySamples::F32(Samples::dense(features.nrows(), features.ncols(), values).unwrap());
    let labels = data.targets[0].values.numbers().unwrap().into_owned();
    let mut classes = labels.clone();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    let code = |label: &f64| classes.partition_point(|class| class < label);
    (x, labels.iter().map(code).collect(), classes.len())
}

/// Training on a file, several times.
fn time(engine: Arc<dyn Engine>, times: usize, arguments: &[String]) {
    let [file, kernel, c, rest @ ..] = arguments else { panic!("FILE KERNEL C [DIVISOR]") };
    let divisor = rest.first().map_or(1.0, |text| text.parse().unwrap());
    let (x, codes, classes) = read_classes(file, divisor);
    let kernel: Kernel = kernel.parse().unwrap();
    let learner: Box<dyn Learner> = if c == "logistic" {
        Box::new(Logistic::new(kernel.clone()))
    } else {
        Box::new(Svm::new(kernel.clone(), Machine::Svc { c: c.parse().unwrap() }))
    };
    let session = Session::new(engine);
    println!("{file}: {} rows, {} columns, {classes} classes", x.nrows(), x.ncols());
    // What is compiled once is compiled here.
    let begin = Instant::now();
    let few: Vec<usize> = (0..x.nrows()).step_by(x.nrows() / 2000).collect();
    let (some, some_codes) = (x.select(&few), few.iter().map(|&i| codes[i]).collect::<Vec<_>>());
    let _ = learner.train(&Problem::new(&some, Targets::codes(some_codes, classes)), &session).unwrap();
    println!("  {} rows, with compilation: {:.3} s", few.len(), begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let resident = session.load(&x).unwrap();
    let loaded = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let _ = resident.gram(&kernel, Wanted::Single).map(|_| ());
    let single = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let _ = resident.gram(&kernel, Wanted::Double).map(|_| ());
    println!(
        "  load {loaded:.3} s, features in single precision {single:.3} s, in double {:.3} s",
        begin.elapsed().as_secs_f64()
    );
    drop(resident);
    let mut before: Option<Fitted> = None;
    for _ in 0..times {
        let problem = Problem::new(&x, Targets::codes(codes.clone(), classes));
        let begin = Instant::now();
        let fitted = learner.train(&problem, &session).unwrap();
        let took = begin.elapsed().as_secs_f64();
        println!(
            "  fit {took:.3} s: {:?}",
            fitted.report.as_ref().map(|report| (&report.status, &report.solver, report.residual))
        );
        if let Some(before) = &before {
            println!("  same bits as before: {}", before.model.predictor == fitted.model.predictor);
        }
        before = Some(fitted);
    }
    let model = before.unwrap().model;
    for _ in 0..2 {
        let asked = x.select(&(0..x.nrows().min(10_000)).collect::<Vec<_>>());
        let begin = Instant::now();
        let outputs = model.predictor.predict(&asked, &session).unwrap();
        println!("  prediction of {} rows: {:.3} s", outputs.nrows(), begin.elapsed().as_secs_f64());
    }
}

/// Five neighbours of 10,000 rows.
fn neighbours(engine: &CudaEngine, file: &str) {
    let (x, _, _) = read_classes(file, 1.0);
    let few = x.select(&(0..x.nrows().min(10_000)).collect::<Vec<_>>());
    for _ in 0..3 {
        let begin = Instant::now();
        let (rows, queries) = (engine.load(&x).unwrap(), engine.load(&few).unwrap());
        let loaded = begin.elapsed().as_secs_f64();
        let found = rows.nearest(&*queries, 5, Metric::Euclidean, &Unwatched).unwrap();
        let (took, last) = (begin.elapsed().as_secs_f64(), found.distances.last());
        println!(
            "{file}: 5 neighbours of {} rows: {took:.3} s, of it loading {loaded:.3} s; {last:?}",
            few.nrows()
        );
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (part, rest) =
        arguments.split_first().map_or(("check", &[][..]), |(part, rest)| (part.as_str(), rest));
    if part == "host" {
        time(mercer::gram::default_engine(), 1, rest);
        return ExitCode::SUCCESS;
    }
    let engine = match CudaEngine::new(0) {
        Ok(engine) => engine,
        Err(missing) => {
            println!("skipped: {missing}");
            return ExitCode::SUCCESS;
        }
    };
    let mut checks = Checks::default();
    match part {
        "check" => check(&engine, &mut checks),
        "time" => time(Arc::new(engine), 3, rest),
        "neighbours" => neighbours(&engine, &rest[0]),
        _ => panic!("unknown part `{part}`"),
    }
    println!("{} checks, {} failed", checks.done, checks.failed);
    if checks.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
