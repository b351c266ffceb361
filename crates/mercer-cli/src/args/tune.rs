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

With --checkpoint FILE every trial is kept in FILE, and a run that was stopped goes on where it was.")]
pub struct Tune {
    /// What to tune
    #[arg(value_parser = tuned_methods())]
    pub method: Method,
    /// CSV, LIBSVM, Parquet, .npy or .npz file, gzipped or not; `-` is standard input
    pub data: PathBuf,
    /// File to write the best model to
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Kernel with `?` in the place of what is searched for [default: rbf(sigma=?)]
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
    /// svr: half the width of the tube in which errors cost nothing [default: 0.1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// knn: how many neighbours, or `?` [default: ?]
    #[arg(short, value_name = "N|?")]
    pub k: Option<String>,
    /// ridge: the constant in the model [default: centred]
    #[arg(long, value_parser = parse_bias, value_name = "none|centred|column")]
    pub bias: Option<Intercept>,
    /// ridge: features that stand in for the kernel: random ones, landmarks, or whichever suits. The data is then read in
    /// chunks, once for each kernel that is tried: it may be larger than memory
    #[arg(long, value_name = "fourier:D|nystrom:M|auto|none", value_parser = parse_approx)]
    pub approx: Option<Approx>,
    /// Which rows a trial is judged by [default: what --folds or --holdout ask for; else folds for logistic and
    /// perceptron and with --approx, else loo]; the smoother and knn are judged by loo, support vector machines by folds
    #[arg(long, value_enum)]
    pub criterion: Option<Criterion>,
    /// logistic, perceptron: what a trial is judged by [default: log-loss for logistic, accuracy for the perceptron]
    #[arg(long, value_enum)]
    pub score: Option<Score>,
    /// Folds of --criterion folds [default: 5]
    #[arg(long, value_name = "N")]
    pub folds: Option<usize>,
    /// Fraction of the rows held out by --criterion holdout [default: 0.2]
    #[arg(conflicts_with = "folds", long, value_name = "FRACTION", allow_negative_numbers = true)]
    pub holdout: Option<f64>,
    /// How the kernel's values are searched
    #[arg(long, value_enum, default_value = "grid")]
    pub search: Search,
    /// Values of each `?` of the kernel in the grid, which is then refined around the best [default: 10 for one `?`, 7 for two]
    #[arg(long, value_name = "N")]
    pub points: Option<usize>,
    /// Trials of --search random
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub trials: usize,
    /// Write a plot of the search: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Keep the trials in this file, and go on from those that are there
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Memory that matrices may take: 8G, 500M [default: four fifths of what is available]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Take the kernel as positive semidefinite without asking for a proof
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
    /// The error on each row of a fit without it: exact, from one factorisation
    Loo,
    /// Generalised cross-validation
    Gcv,
    /// The error on each fold of a fit without it
    Folds,
    /// The error on rows held out once
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
    /// The share of right classes
    Accuracy,
    /// −log of the probability of the right class
    LogLoss,
}

/// How values are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Search {
    /// A grid, then finer ones around the best
    Grid,
    /// At random over the ranges
    Random,
}
