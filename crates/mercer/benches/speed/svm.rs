//! Times support vector machines: `svm FOLDER THREADS CASE...` reads `FOLDER/NAME.npz` (arrays `X` and `y`) and prints
//! the seconds, the processor seconds and the quality of the answer.
//!
//! A case is `NAME[:WORD...]` with the words `f64`, `svr` (regression with ε = 0.1), `grid` (5 folds, C from 2⁻¹ to 2⁷ and γ from
//! 2⁻⁷ to 2), `best=N` (the best of N runs), `c=C`, `gamma=G`, `kernel=TEXT` and `tol=TOL`; C and γ are otherwise those of
//! the table below.

use std::path::Path;
use std::time::Instant;

use mercer::data::{AnySamples, ReadOptions, TargetValues, read};
use mercer::kernel::Kernel;
use mercer::learn::search::{Criterion, stratify_folds};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Problem, Targets};
use mercer::pool;
use mercer::real::Precision;
use mercer::select::Tune;
use mercer::session::Session;
use mercer::solve::svm::{SvmReport, SvmSettings};

use crate::clock::processor_seconds;

/// Name, C, γ.
const CASES: [(&str, f64, f64); 9] = [
    ("a9a", 1.0, 1.0 / 32.0),
    ("ijcnn1_12d", 32.0, 2.0),
    ("w8a", 8.0, 0.5),
    ("cod_rna", 32.0, 0.5),
    ("letter", 16.0, 4.0),
    ("usps", 10.0, 0.02),
    ("shuttle", 100.0, 1.0),
    ("mnist", 5.0, 0.02),
    ("uci_protein", 1.0, 1.0 / 9.0),
];

pub fn run(arguments: &[String]) {
    let (folder, threads) =
        (Path::new(&arguments[0]), arguments[1].parse::<usize>().expect("a number of threads"));
    for case in &arguments[2..] {
        let words: Vec<&str> = case.split(':').collect();
        let dtype = if words.contains(&"f64") { Precision::Double } else { Precision::Single };
        let options = ReadOptions { dtype, ..ReadOptions::default() };
        let path = folder.join(format!("{}.npz", words[0]));
        let (data, _) = read(&path, &options).expect("a readable file");
        let TargetValues::Numbers(targets) = &data.targets[0].values else { panic!("targets are numbers") };
        pool::with(Some(threads), || time(case, &words, &data.features, targets));
    }
}

fn time(case: &str, words: &[&str], samples: &AnySamples<'_>, targets: &[f64]) {
    let word = |name: &str| words.iter().find_map(|w| w.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str| word(name).map(|text| text.parse::<f64>().expect("a number"));
    let known = CASES.iter().find(|(name, ..)| *name == words[0]).unwrap_or(&("", 1.0, 1.0));
    let (c, gamma) = (number("c").unwrap_or(known.1), number("gamma").unwrap_or(known.2));
    let text = word("kernel").map_or_else(|| format!("rbf(gamma={gamma})"), str::to_owned);
    let kernel: Kernel = text.parse().expect("a kernel");
    let tol = number("tol").unwrap_or(1e-3);
    let settings = SvmSettings { tol, cache: Some(4 << 30), ..SvmSettings::default() };
    let mut classes = targets.to_vec();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    let codes: Vec<usize> = targets.iter().map(|y| classes.partition_point(|c| c < y)).collect();
    let work = || -> (Vec<SvmReport>, String) {
        if words.contains(&"svr") {
            let svm = Svm::new(kernel.clone(), Machine::Svr { c, epsilon: 0.1 }).solver(settings);
            let problem = Problem::new(samples.view(), targets);
            let fitted = svm.machines(&problem, &Session::default()).expect("a fit");
            (fitted.reports, format!("sv {}", fitted.support.len()))
        } else if words.contains(&"grid") {
            let power = |k: i32| 2f64.powi(k);
            let cs: Vec<f64> = [-1, 1, 3, 5, 7].map(power).to_vec();
            let kernels: Vec<Kernel> = [-7, -5, -3, -1, 1]
                .map(|k| format!("rbf(gamma={})", power(k)).parse().expect("a kernel"))
                .to_vec();
            let folds = stratify_folds(&codes, 5, None).expect("folds");
            let svm = Svm::new(kernel.clone(), Machine::Svc { c }).solver(settings);
            let criterion = Criterion::Given(folds.into_iter().map(Some).collect());
            let tune = Tune { criterion, ..Tune::new(svm) };
            let problem = Problem::new(samples.view(), Targets::codes(&codes, classes.len()));
            let found = tune.grid(&kernels, &cs, &problem, &Session::default()).expect("scores");
            let (k, j) = found.best;
            let mean = found.scores[k][j].as_ref().map_or(f64::NAN, |score| 1.0 - score.loss);
            (Vec::new(), format!("{} C={} accuracy {mean:.6}", kernels[k], cs[j]))
        } else {
            let svm = Svm::new(kernel.clone(), Machine::Svc { c }).solver(settings);
            let problem = Problem::new(samples.view(), Targets::codes(&codes, classes.len()));
            let fitted = svm.machines(&problem, &Session::default()).expect("a fit");
            (fitted.reports, format!("sv {}", fitted.support.len()))
        }
    };
    let (mut seconds, mut processor) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..number("best").map_or(1, |n| n as usize) {
        let (start, before) = (Instant::now(), processor_seconds());
        last = Some(work());
        seconds = seconds.min(start.elapsed().as_secs_f64());
        processor = processor.min(processor_seconds() - before);
    }
    let Some((reports, said)) = last else { return };
    let sum = |part: fn(&SvmReport) -> u64| reports.iter().map(part).sum::<u64>();
    println!(
        "{case:16} {seconds:9.4} s {processor:8.3} cpu  objective {:.5}  violation {:.2e}  steps {}  rounds {}  Mvalues {}  {said}",
        reports.iter().map(|r| r.objective).sum::<f64>(),
        reports.iter().map(|r| r.violation).fold(0.0, f64::max),
        sum(|r| r.iterations),
        sum(|r| r.rounds),
        sum(|r| r.evaluations) / 1_000_000,
    );
}
