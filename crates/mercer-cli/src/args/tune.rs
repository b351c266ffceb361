//! `mercer tune` as typed.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use mercer::learn::search::{Criterion, Measure, Strategy};
use mercer::learn::{ClassWeight, Intercept};
use mercer::model::Method;

use super::approx::{Approx, parse as parse_approx};
use super::fit::{choice, parse_balance, tuned_methods};
use super::flags::Given;
use super::{Common, Input, named, parse_count, parse_size};

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
  mercer tune svc data.csv --target ill --class-weight balanced --score f1 -o best.mercer
  mercer tune svr data.csv --target y --C \"?1..1000\" --epsilon \"?\" -o best.mercer
  mercer tune ridge data.csv --target y --kernel \"rbf(sigma=[?])\" --one-se -o best.mercer

With --checkpoint FILE, trials are saved to FILE and an interrupted search resumes from them.")]
pub struct Tune {
    // The first field, since the others take their values out of what was typed.
    #[command(flatten)]
    pub given: Given,
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
    /// ridge: explicit features instead of a kernel, as for `mercer fit`; only λ is searched for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["kernel", "approx"])]
    pub features: Option<String>,
    /// ridge, logistic: penalty λ, or `?` [default: ?]
    #[arg(long, value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub lambda: Option<String>,
    /// svc, svr, nu-svr: cost C of an error, or `?` [default: ?]
    #[arg(id = "C", long = "C", value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub c: Option<String>,
    /// nu-svc: fraction ν, or `?` [default: ?]; nu-svr: fraction ν, or `?` [default: 0.5]; one-class: fraction ν [default: 0.5]
    #[arg(long, value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub nu: Option<String>,
    /// svr: half width of the tube within which errors cost nothing, or `?` [default: from the residual noise]
    #[arg(long, value_name = "NUMBER|?", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
    /// knn: number of neighbours, or `?` [default: ?]
    #[arg(short, value_name = "N|?")]
    pub k: Option<String>,
    /// knn: treat a numeric target as classes
    #[arg(long)]
    pub classify: bool,
    /// ridge: intercept [default: centred]
    #[arg(long, value_parser = named::<Intercept>, value_name = "none|centred|column")]
    pub bias: Option<Intercept>,
    /// logistic, svc: weight of each class: uniform, balanced, or NAME=WEIGHT,… [default: uniform]
    #[arg(long, value_name = "balanced|NAME=W,…", value_parser = parse_balance)]
    pub class_weight: Option<ClassWeight>,
    /// ridge: approximate the kernel by D random features (fourier:D) or M landmarks (nystrom:M); `auto` picks one
    #[arg(long, value_name = "NAME", value_parser = parse_approx)]
    pub approx: Option<Approx>,
    /// Fraction of the rows kept from the search to score the tuned model
    #[arg(long, value_name = "FRACTION", default_value_t = 0.2, allow_negative_numbers = true)]
    pub outer: f64,
    /// Rows that score a trial [default: loo for ridge, smoother and knn, else folds]
    #[arg(long, value_parser = criteria(), value_name = "loo|gcv|folds|holdout")]
    pub criterion: Option<Criterion>,
    /// Score of a trial [default: rmse for numbers, accuracy for classes, log-loss for logistic]
    #[arg(long, value_parser = scores(), value_name = "rmse|mae|r2|accuracy|balanced-accuracy|f1|auc|log-loss")]
    pub score: Option<Measure>,
    /// Take the strongest penalty within one standard error of the best score; knn: take the most neighbours within one standard
    /// error of the best score
    #[arg(long)]
    pub one_se: bool,
    /// Number of folds for --criterion folds [default: 5]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub folds: Option<usize>,
    /// Fraction of the rows to hold out for --criterion holdout [default: 0.2]
    #[arg(conflicts_with = "folds", long, value_name = "FRACTION", allow_negative_numbers = true)]
    pub holdout: Option<f64>,
    /// Search strategy: grid, coordinates or random [default: grid for up to two `?`, else coordinates]
    #[arg(long, value_parser = strategies(), value_name = "NAME")]
    pub search: Option<Strategy>,
    /// Grid points for each `?`, before refinement [default: 10 for one `?`, 7 for two]
    #[arg(long, value_name = "N", value_parser = parse_points)]
    pub points: Option<usize>,
    /// Kernels that a search tries [default: 100 at random; by coordinates 60, and 6 for each `?`]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub trials: Option<usize>,
    /// Draw the search: .svg, .png, .pdf or .txt
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Save trials to this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Memory limit for matrices, such as 8G or 500M [default: 80% of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
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
    /// The rows on which a trial is scored, on features that approximate the kernel or on the kernel itself.
    pub fn criterion(&self, approximate: bool) -> Criterion {
        let one_by_one = matches!(self.method, Method::Ridge | Method::Smoother | Method::Knn);
        let (folds, held_out) = (self.folds.unwrap_or(FOLDS), self.holdout.unwrap_or(HELD_OUT));
        match &self.criterion {
            Some(Criterion::HoldOut(_)) => Criterion::HoldOut(held_out),
            Some(Criterion::Folds(_)) => Criterion::Folds(folds),
            Some(other) => other.clone(),
            None if self.folds.is_none() && self.holdout.is_some() => Criterion::HoldOut(held_out),
            None if self.folds.is_none() && one_by_one && !approximate => Criterion::LeaveOneOut,
            None => Criterion::Folds(folds),
        }
    }

    /// The points to try; `None` for the default for the number of hyper-parameters.
    pub fn strategy(&self) -> Option<Strategy> {
        let grid = |points| Strategy::Grid { points, refinements: 3 };
        match (self.search, self.points, self.trials) {
            (Some(Strategy::Random { trials: usual }), _, trials) => {
                Some(Strategy::Random { trials: trials.unwrap_or(usual) })
            }
            (Some(Strategy::Coordinates { trials: usual }), _, trials) => {
                Some(Strategy::Coordinates { trials: trials.unwrap_or(usual) })
            }
            (Some(Strategy::Grid { points: usual, .. }), points, _) => Some(grid(points.unwrap_or(usual))),
            (None, Some(points), _) => Some(grid(points)),
            (None, None, Some(trials)) => Some(Strategy::Coordinates { trials }),
            (None, None, None) => None,
        }
    }
}

/// The folds of cross-validation without `--folds`.
const FOLDS: usize = 5;

/// The fraction that `--criterion holdout` holds out without `--holdout`.
const HELD_OUT: f64 = 0.2;

fn criteria() -> impl TypedValueParser<Value = Criterion> {
    choice(&[
        (Criterion::LeaveOneOut, "loo", "Leave-one-out error, exactly, from one factorisation"),
        (Criterion::Gcv, "gcv", "Generalised cross-validation"),
        (Criterion::Folds(FOLDS), "folds", "Cross-validation"),
        (Criterion::HoldOut(HELD_OUT), "holdout", "Error on a fixed set of held-out rows"),
    ])
}

fn scores() -> impl TypedValueParser<Value = Measure> {
    choice(&[
        (Measure::Wrong, "accuracy", "Classes: fraction of correct classes"),
        (
            Measure::WrongPerClass,
            "balanced-accuracy",
            "Classes: fraction of correct classes, averaged over the classes",
        ),
        (Measure::F1, "f1", "Classes: F1, averaged over the classes"),
        (Measure::Auc, "auc", "Classes: the area under the ROC curve"),
        (Measure::LogLoss, "log-loss", "Classes: mean of −log of the probability of the true class"),
        (Measure::SquaredError, "rmse", "Numbers: the root of the mean squared error"),
        (Measure::AbsoluteError, "mae", "Numbers: the mean absolute error"),
        (Measure::Unexplained, "r2", "Numbers: the share of the variance that is explained"),
    ])
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    choice(&[
        (Strategy::Grid { points: 7, refinements: 3 }, "grid", "A grid, refined around the best point"),
        (Strategy::Random { trials: 100 }, "random", "Random points of the ranges"),
        (
            Strategy::Coordinates { trials: 120 },
            "coordinates",
            "All on one diagonal first, then one value at a time",
        ),
    ])
}

/// The most points of one axis of a grid.
const MOST_POINTS: usize = 10_000;

fn parse_points(text: &str) -> Result<usize, String> {
    match parse_count(text)? {
        points if points > MOST_POINTS => Err(format!("it must be a whole number from 1 to {MOST_POINTS}")),
        points => Ok(points),
    }
}
