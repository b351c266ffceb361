//! Times support vector machines: `svm_speed FOLDER THREADS CASE...` reads `FOLDER/CASE.npz` (arrays `X` and `y`) and prints
//! the seconds, the processor seconds and the quality of the answer.
//!
//! A case is `NAME[:f64][:TOL]`, with the C and γ of the table below; each is a one-vs-one classification.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::path::Path;
use std::time::Instant;

use mercer::data::{AnySamples, Dtype, ReadOptions, TargetValues, read};
use mercer::kernel::Kernel;
use mercer::learn::svm::Svc;
use mercer::pool;
use mercer::solve::svm::{SvmReport, SvmSettings};
use mercer::watch::Unwatched;

/// Name, C, γ.
const CASES: [(&str, f64, f64); 8] = [
    ("a9a", 1.0, 1.0 / 32.0),
    ("ijcnn1_12d", 32.0, 2.0),
    ("w8a", 8.0, 0.5),
    ("cod_rna", 32.0, 0.5),
    ("letter", 16.0, 4.0),
    ("usps", 10.0, 0.02),
    ("shuttle", 100.0, 1.0),
    ("mnist", 5.0, 0.02),
];

fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |k: usize| fields.get(k).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, threads) =
        (Path::new(&arguments[0]), arguments[1].parse::<usize>().expect("a number of threads"));
    for case in &arguments[2..] {
        let parts: Vec<&str> = case.split(':').collect();
        let double = parts[1..].contains(&"f64");
        let tol = parts[1..].iter().find_map(|p| p.parse::<f64>().ok()).unwrap_or(1e-3);
        let &(name, c, gamma) =
            CASES.iter().find(|(name, ..)| *name == parts[0]).expect("a case of the table");
        let options =
            ReadOptions { dtype: if double { Dtype::F64 } else { Dtype::F32 }, ..ReadOptions::default() };
        let (data, _) = read(&folder.join(format!("{name}.npz")), &options).expect("a readable file");
        let TargetValues::Numbers(labels) = &data.targets[0].values else { panic!("labels are numbers") };
        pool::with(Some(threads), || run(case, &data.features, labels, c, gamma, tol));
    }
}

fn run(case: &str, samples: &AnySamples<'_>, labels: &[f64], c: f64, gamma: f64, tol: f64) {
    let mut classes = labels.to_vec();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    let codes: Vec<usize> = labels.iter().map(|y| classes.partition_point(|c| c < y)).collect();
    let kernel: Kernel = format!("rbf(gamma={gamma})").parse().expect("a kernel");
    let settings = SvmSettings { tol, cache: Some(4 << 30), ..SvmSettings::default() };
    let machine = Svc { settings, ..Svc::new(kernel, c) };
    let (start, before) = (Instant::now(), processor_seconds());
    let fitted = machine.fit(samples, &codes, classes.len(), None, &Unwatched).expect("a fit");
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - before);
    let sum = |part: fn(&SvmReport) -> u64| fitted.reports.iter().map(part).sum::<u64>();
    println!(
        "{case:16} {seconds:8.3} s {processor:8.3} cpu  objective {:.5}  violation {:.2e}  steps {}  rounds {}  Mvalues {}  sv {}",
        fitted.reports.iter().map(|r| r.objective).sum::<f64>(),
        fitted.reports.iter().map(|r| r.violation).fold(0.0, f64::max),
        sum(|r| r.iterations),
        sum(|r| r.rounds),
        sum(|r| r.evaluations) / 1_000_000,
        fitted.support.len(),
    );
}
