//! `mercer tune` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mercer::learn::Intercept;
use mercer::model::Method;

use super::approx::{Approx, parse as parse_approx};
use super::fit::{parse_bias, tuned_methods};
use super::{Common, Input, parse_size};

/// `mercer tune`.
#[derive(Debug, Args)]
#[command(after_help = "\
What is searched for is written as `?`, over its usual range, `?lo..hi` or `?{a,b,c}`.

Examples:
  mercer tune ridge data.csv --target y -o best.mercer
  mercer tune ridge data.csv --target y --kernel \"rbf(sigma=?)\" --lambda \"?1e-6..10\" --plot tuning.svg -o best.mercer
  mercer tune ridge data.csv --target y --kernel \"matern(nu=?{0.5,1.5,2.5}, length=?)\" --criterion folds -o best.mercer
  mercer tune ridge big.csv --target y --kernel \"rbf(sigma=?)\" --approx fourier:1024 --folds 5 -o best.mercer
  mercer tune smoother data.csv --target y --kernel \"rbf(sigma=?)\" -o best.mercer
  mercer tune knn data.csv --target species -k \"?1..40\" -o best.mercer
  mercer tune logistic data.csv --target species --score log-loss --folds 10 -o best.mercer
  mercer tune perceptron data.csv --target species --kernel \"poly(degree=?{1,2,3})\" -o best.mercer
  mercer tune svc data.csv --target species --kernel \"rbf(gamma=?)\" --C \"?0.1..1000\" -o best.mercer
  mercer tune svr data.csv --target y --C \"?1..1000\" --epsilon 0.05 -o best.mercer

With --checkpoint FILE, trials are saved to FILE and an interrupted search resumes from them.")]
pub struct Tune {
    /// Method to tune
    #[arg(value_parser = tuned_methods())]
    pub method: Method,
    /// CSV, LIBSVM, Parquet, .npy or .npz file, optionally gzipped; `-` reads standard input
    pub data: PathBuf,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Kernel with `?` for each unknown value [default: rbf(sigma=?)]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub kernel: Option<String>,
    /// ridge, logistic: λ, or `?` [default: ?]
    #[arg(long, value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub lambda: Option<String>,
    /// svc, svr, nu-svr: C, or `?` [default: ?]
    #[arg(long = "C", value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub c: Option<String>,
    /// nu-svc: ν, or `?` [default: ?]; nu-svr, one-class: ν [default: 0.5]
    #[arg(long, value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub nu: Option<String>,
    /// svr: half width of the tube within which errors cost nothing [default: 0.1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// knn: number of neighbours, or `?` [default: ?]
    #[arg(short, value_name = "N|?")]
    pub k: Option<String>,
    /// ridge: intercept [default: centred]
    #[arg(long, value_parser = parse_bias, value_name = "none|centred|column")]
    pub bias: Option<Intercept>,
    /// ridge: approximate the kernel by D random features or M landmarks; `auto` picks one. The file is read in chunks, once
    /// for each kernel, so it may be larger than memory
    #[arg(long, value_name = "fourier:D|nystrom:M|auto|none", value_parser = parse_approx)]
    pub approx: Option<Approx>,
    /// How the error of a trial is estimated [default: loo for ridge, smoother and knn; folds for the others and with
    /// --approx; holdout with --holdout]
    #[arg(long, value_enum)]
    pub criterion: Option<Criterion>,
    /// logistic, perceptron: score of a trial [default: log-loss for logistic, accuracy for the perceptron]
    #[arg(long, value_enum)]
    pub score: Option<Score>,
    /// Number of folds for --criterion folds [default: 5]
    #[arg(long, value_name = "N")]
    pub folds: Option<usize>,
    /// Fraction of the rows to hold out for --criterion holdout [default: 0.2]
    #[arg(conflicts_with = "folds", long, value_name = "FRACTION", allow_negative_numbers = true)]
    pub holdout: Option<f64>,
    /// Search strategy
    #[arg(long, value_enum, default_value = "grid")]
    pub search: Search,
    /// Grid points for each `?` of the kernel, before refinement around the best [default: 10 for one `?`, 7 for two]
    #[arg(long, value_name = "N")]
    pub points: Option<usize>,
    /// Number of trials of --search random
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub trials: usize,
    /// Draw the search: .svg, .png, .pdf or .txt
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Save trials to this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Memory limit for matrices, such as 8G or 500M [default: 80% of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Do not check that the kernel is positive semidefinite
    #[arg(long)]
    pub assume_psd: bool,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub common: Common,
}

impl Tune {
    /// Folds to judge by.
    pub fn folds(&self) -> usize {
        self.folds.unwrap_or(5)
    }

    /// The fraction to hold out.
    pub fn holdout(&self) -> f64 {
        self.holdout.unwrap_or(0.2)
    }

    /// Which rows a trial is judged by, on features that stand in for the kernel or on the kernel as it is.
    pub fn criterion(&self, approximate: bool) -> Criterion {
        let judged = matches!(self.method, Method::Ridge | Method::Logistic | Method::Perceptron);
        self.criterion.unwrap_or(match (self.method, self.folds, self.holdout) {
            (_, None, Some(_)) if judged => Criterion::Holdout,
            (_, Some(_), _) if judged => Criterion::Folds,
            (Method::Smoother | Method::Knn, ..) => Criterion::Loo,
            (method, ..) if method != Method::Ridge => Criterion::Folds,
            _ if approximate => Criterion::Folds,
            _ => Criterion::Loo,
        })
    }
}

/// What a trial is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Criterion {
    /// Leave-one-out error, exactly, from one factorisation
    Loo,
    /// Generalised cross-validation
    Gcv,
    /// Cross-validation
    Folds,
    /// Error on a fixed set of held-out rows
    Holdout,
}

impl Criterion {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loo => "leave-one-out",
            Self::Gcv => "generalised cross-validation",
            Self::Folds => "folds",
            Self::Holdout => "held-out rows",
        }
    }
}

/// What a trial of a classifier is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Score {
    /// Fraction of correct classes
    Accuracy,
    /// Mean of −log of the probability of the true class
    LogLoss,
}

/// How values are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Search {
    /// A grid, refined around the best point
    Grid,
    /// Random points of the ranges
    Random,
}
