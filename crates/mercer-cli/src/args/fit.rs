//! `mercer fit` as typed.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mercer::data::ColumnRef;
use mercer::gram::Metric;
use mercer::learn::{ClassWeight, GpObjective, Intercept, Step};
use mercer::model::{Method, Weights};

use super::approx::{Approx, parse as parse_approx};
use super::flags::Given;
use super::{Common, Input, named, parse_column, parse_count, parse_size};

/// The methods: their name and their help.
pub(super) const METHODS: [(Method, &str, &str); 12] = [
    (Method::Ridge, "ridge", "Ridge regression on a kernel, or on features with --features"),
    (Method::Lms, "lms", "Least mean squares: gradient descent on the squared error"),
    (Method::Smoother, "smoother", "Nadaraya–Watson smoothing: a kernel-weighted mean"),
    (Method::Knn, "knn", "k nearest neighbours: their mean, or their majority if the target is text"),
    (Method::Perceptron, "perceptron", "Perceptron: corrects misclassified rows until none is left"),
    (Method::Logistic, "logistic", "Logistic regression: class probabilities"),
    (Method::Svc, "svc", "Support vector classification with C"),
    (Method::NuSvc, "nu-svc", "Support vector classification with ν"),
    (Method::Svr, "svr", "Support vector regression with ε"),
    (Method::NuSvr, "nu-svr", "Support vector regression with ν"),
    (
        Method::OneClass,
        "one-class",
        "One-class support vector machine: inliers (1) and outliers (-1); needs no target",
    ),
    (Method::Gp, "gp", "Gaussian processes: a mean and a standard deviation; each ? of the kernel is learnt"),
];

/// The methods by name.
pub fn methods() -> impl TypedValueParser<Value = Method> {
    choice(&METHODS)
}

/// The methods with hyper-parameters to tune: all but least mean squares, where more epochs are what a smaller λ is to ridge
/// regression.
pub fn tuned_methods() -> impl TypedValueParser<Value = Method> {
    const TUNED: [(Method, &str, &str); 10] = {
        let mut tuned = [METHODS[0]; 10];
        let mut place = 1;
        while place < tuned.len() {
            tuned[place] = METHODS[place + 1];
            place += 1;
        }
        tuned
    };
    choice(&TUNED)
}

fn weights() -> impl TypedValueParser<Value = Weights> {
    choice(&[
        (Weights::Uniform, "uniform", "All neighbours count the same"),
        (Weights::Distance, "distance", "Neighbours count by the inverse of their distance"),
    ])
}

/// The solvers of all methods, by their names in settings.
fn solvers() -> PossibleValuesParser {
    names(&[
        ("auto", "The cheapest that fits the memory"),
        ("cholesky", "Cholesky factorisation of the kernel matrix in double precision"),
        ("mixed", "Cholesky factorisation in single precision, refined to double precision"),
        ("primal", "On the finitely many features of the kernel"),
        (
            "cg",
            "Conjugate gradients without a stored kernel matrix, or with one in 16 bits where that fits and helps",
        ),
        ("batch", "Gradient descent on all rows at once"),
        ("sgd", "Stochastic gradient descent, one row at a time"),
        ("newton", "Newton's method"),
        ("gd", "Gradient descent on all rows"),
    ])
}

fn objectives() -> impl TypedValueParser<Value = GpObjective> {
    choice(&[
        (GpObjective::Likelihood, "likelihood", "The likelihood of the targets"),
        (GpObjective::LeaveOneOut, "loo", "The density of each target given all other rows"),
    ])
}

/// How perceptrons and support vector machines distinguish more than two classes, by the names in settings.
fn multiclass() -> PossibleValuesParser {
    names(&[
        ("direct", "One update per mistake: the true class against the predicted one"),
        ("one-vs-rest", "One classifier per class against all others"),
        ("one-vs-one", "One classifier per pair of classes, which vote"),
    ])
}

/// Names, each with its help.
fn names(values: &[(&'static str, &'static str)]) -> PossibleValuesParser {
    PossibleValuesParser::new(values.iter().map(|(name, help)| PossibleValue::new(*name).help(*help)))
}

/// Values of the library by name, each with its help.
pub(super) fn choice<T: Clone + Send + Sync>(
    values: &'static [(T, &'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let known: Vec<_> = values.iter().map(|(_, name, help)| (*name, *help)).collect();
    names(&known).try_map(|text| {
        values
            .iter()
            .find(|(_, name, _)| *name == text)
            .map(|(value, ..)| value.clone())
            .ok_or("unknown value")
    })
}

/// `mercer fit`.
#[derive(Debug, Args)]
#[command(after_help = "\
`mercer fit METHOD --help` shows the options of one method, in groups.

Examples:
  mercer fit ridge data.csv --target y -o m.mercer
  mercer fit ridge data.csv --target y --kernel \"rbf(sigma=auto) + 0.1*linear\" --lambda 0.01 -o m.mercer
  mercer fit ridge data.csv --target y --features \"x, x^2, log(abs(x)+1), x0*x1\" -o m.mercer
  mercer fit ridge huge.parquet --target y --approx fourier:4096 -o m.mercer
  mercer fit ridge big.csv --target y --kernel \"matern(nu=2.5,length=auto)\" --approx nystrom:5000 -o m.mercer
  mercer fit ridge big.csv --target y --kernel \"rbf(sigma=3)\" --solver cg --checkpoint half.done -o m.mercer
  mercer fit lms data.csv --target y --kernel \"rbf(sigma=1)\" --epochs 200 -o m.mercer
  mercer fit knn data.csv --target species -k 7 -o m.mercer
  mercer fit logistic data.csv --target species --kernel \"rbf(sigma=auto)\" --C 10 -o m.mercer
  mercer fit perceptron data.csv --target species --kernel \"poly(degree=2)\" -o m.mercer
  mercer fit svc data.csv --target species --kernel \"rbf(sigma=auto)\" --C 10 --probability -o m.mercer
  mercer fit svc data.csv --target ill --class-weight yes=5,no=1 -o m.mercer
  mercer fit svr data.csv --target y --C 10 --epsilon 0.1 -o m.mercer
  mercer fit one-class data.csv --nu 0.05 -o m.mercer
  mercer fit gp co2.csv --target ppm --kernel \"?*rbf(sigma=?) + ?*periodic(period=1,length=?)\" -o m.mercer
  mercer fit ridge data.csv --target height,weight --bias none --scale none --holdout 0 -o m.mercer
  zcat data.csv.gz | mercer fit ridge - --target -1 --threads 1 --json -o m.mercer")]
pub struct Fit {
    // The first field, since the others take their values out of what was typed.
    #[command(flatten)]
    pub given: Given,
    /// Method to fit
    #[arg(value_parser = methods())]
    pub method: Method,
    /// CSV, LIBSVM, Parquet, .npy or .npz file, optionally gzipped; `-` reads standard input
    pub data: PathBuf,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Kernel, such as "0.5*rbf(sigma=2) + (<x,z>+1)^3"; svc, nu-svc, svr, nu-svr, one-class: or `precomputed`, if the data
    /// holds kernel values [default: a Gaussian whose width is chosen]; ridge, logistic: [default: a Gaussian whose width is
    /// chosen]; lms, smoother: [default: rbf(sigma=auto)]; perceptron: [default: rbf(gamma=auto)]; gp: [default: ?*rbf(sigma=[?])]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub kernel: Option<String>,
    /// Explicit features instead of a kernel: "poly(degree=3)", "monomials(degree=2)", "taylor(sigma=1, degree=6)", or
    /// formulas such as "x, x^2, log(abs(x)+1), x0*x1"
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "kernel")]
    pub features: Option<String>,
    /// ridge: penalty λ, one for all targets or one each [default: chosen by leave-one-out error]; logistic: penalty λ
    /// [default: chosen by cross-validation]
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', allow_negative_numbers = true)]
    pub lambda: Vec<f64>,
    /// svc: cost of a row on the wrong side of the margin [default: chosen by cross-validation]; svr, nu-svr: cost of an
    /// error beyond the tube [default: chosen by cross-validation]; logistic: inverse of the penalty, 1/λ
    #[arg(id = "C", long = "C", value_name = "NUMBER", allow_negative_numbers = true)]
    pub c: Option<f64>,
    /// nu-svc: upper bound on the fraction of margin errors and lower bound on the fraction of support vectors [default:
    /// chosen by cross-validation]; nu-svr: upper bound on the fraction of rows outside the tube [default: 0.5]; one-class:
    /// upper bound on the fraction of outliers [default: 0.5]
    #[arg(long, value_name = "FRACTION", allow_negative_numbers = true)]
    pub nu: Option<f64>,
    /// svr: half width of the tube within which errors cost nothing [default: from the residuals]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// ridge: take rbf(sigma=auto) and λ = 1 instead of choosing; logistic: take rbf(gamma=auto) and λ = 1 instead of choosing;
    /// svc: take rbf(gamma=auto) and C = 1 instead of choosing; nu-svc: take rbf(gamma=auto) and ν = 0.5 instead of choosing;
    /// svr: take rbf(sigma=auto), C = 1 and ε = 0.1 instead of choosing; nu-svr: take rbf(sigma=auto), C = 1 and ν = 0.5 instead of
    /// choosing; one-class: take rbf(gamma=auto) instead of choosing
    #[arg(long)]
    pub no_tune: bool,
    /// ridge, lms: intercept: none, unpenalised (centred), or penalised on centred data (column) [default: centred]
    #[arg(long, value_parser = named::<Intercept>, value_name = "none|centred|column")]
    pub bias: Option<Intercept>,
    /// ridge: one of auto, cholesky, mixed, primal and cg [default: auto, the cheapest that fits the memory]; gp: one of auto,
    /// cholesky and cg [default: auto, the cheapest of these and inducing points]; lms: one of batch and sgd
    /// [default: batch]; logistic: one of newton, gd and sgd [default: newton]
    #[arg(long, value_parser = solvers(), value_name = "NAME")]
    pub solver: Option<String>,
    /// ridge, logistic, svc: approximate the kernel by D random features or M landmarks; `auto` picks one for large data; gp: take M
    /// inducing points (nystrom:M) or none [default: as --solver says]
    #[arg(long, value_name = "fourier:D|nystrom:M|auto|none", value_parser = parse_approx)]
    pub approx: Option<Approx>,
    /// ridge: with --approx or --solver cg, save progress to this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// lms: step size, below 2/(largest eigenvalue); `auto` takes 1/(its estimate) [default: auto]; logistic: step size of
    /// --solver gd and sgd [default: auto]; perceptron: step size, which only scales the decisions [default: 1]
    #[arg(long, value_name = "NUMBER|auto", value_parser = Step::from_str, allow_negative_numbers = true)]
    pub step: Option<Step>,
    /// lms: maximum number of epochs [default: 200]; perceptron: maximum number of epochs [default: 100]; logistic: maximum
    /// number of Newton steps [default: 100], or of epochs of --solver gd and sgd [default: 1000]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub epochs: Option<usize>,
    /// lms: stop when the gradient is this fraction of the initial one [default: 1e-6]; logistic: stop when ‖λa + p − y‖ is
    /// below this [default: 1e-6]; svc, nu-svc, one-class: allowed violation of the optimality conditions
    /// [default: 1e-3]; svr, nu-svr: allowed violation of the optimality conditions [default: 1e-3 standard deviations of the
    /// target]; ridge: with --solver cg, stop at this relative residual [default: 1e-3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub tol: Option<f64>,
    /// knn: number of neighbours [default: 5]
    #[arg(short, value_name = "N", value_parser = parse_count)]
    pub k: Option<usize>,
    /// knn: weights of the neighbours [default: uniform]
    #[arg(long, value_parser = weights(), value_name = "uniform|distance")]
    pub weights: Option<Weights>,
    /// knn: distance [default: euclidean]
    #[arg(long, value_parser = parse_metric, value_name = "euclidean|manhattan|chebyshev|minkowski:P")]
    pub metric: Option<Metric>,
    /// knn, gp: treat a numeric target as classes
    #[arg(long)]
    pub classify: bool,
    /// logistic, svc: weight of each class: uniform, balanced, or NAME=WEIGHT,… [default: uniform]
    #[arg(long, value_name = "balanced|NAME=W,…", value_parser = parse_balance)]
    pub class_weight: Option<ClassWeight>,
    /// ridge, logistic, svc, svr and related methods: column with the weight of each row
    #[arg(long, value_name = "NAME|INDEX", allow_hyphen_values = true, value_parser = parse_column)]
    pub sample_weight: Option<ColumnRef>,
    /// svc, nu-svc: calibrate probabilities by cross-validation, for `predict --proba`; svr, nu-svr: estimate the scale of
    /// the errors; one-class: estimate the density of the decisions
    #[arg(long)]
    pub probability: bool,
    /// perceptron: use the final decision function instead of the average over all updates
    #[arg(long)]
    pub last: bool,
    /// perceptron: let all intermediate decision functions vote, weighted by the rows each survived
    #[arg(long, conflicts_with_all = ["last", "budget", "features"])]
    pub vote: bool,
    /// perceptron: keep at most this many rows; the least important one is projected onto the others
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "features")]
    pub budget: Option<usize>,
    /// perceptron: how more than two classes are distinguished, direct or one-vs-rest [default: direct]; svc, nu-svc: how more
    /// than two classes are distinguished, one-vs-one or one-vs-rest [default: one-vs-one]
    #[arg(long, value_parser = multiclass(), value_name = "NAME")]
    pub multiclass: Option<String>,
    /// gp: variance of the noise, as a fraction of the variance of the target [default: learnt, unless the kernel has a noise(…)]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub noise: Option<f64>,
    /// gp: what the search for the unknowns maximises, the likelihood or the density of each row given all others (loo) [default:
    /// likelihood]
    #[arg(long, value_parser = objectives(), value_name = "likelihood|loo")]
    pub objective: Option<GpObjective>,
    /// gp: do not store the factor that standard deviations need, n²/2 numbers for n rows
    #[arg(long)]
    pub no_variance: bool,
    /// gp: also learn from this many random starts, and keep the best result [default: 0]
    #[arg(long, value_name = "N")]
    pub restarts: Option<usize>,
    /// Fraction of the rows held out to estimate the error; the final model is fitted on all rows. 0 holds out none
    #[arg(long, value_name = "FRACTION", default_value_t = 0.2, allow_negative_numbers = true)]
    pub holdout: f64,
    /// Memory limit for matrices and caches, such as 8G or 500M [default: 80% of the machine's memory]
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

pub fn parse_balance(text: &str) -> Result<ClassWeight, String> {
    let each = |part: &str| {
        let (name, weight) = part.rsplit_once('=')?;
        let weight: f64 = weight.trim().parse().ok()?;
        (weight >= 0.0 && weight.is_finite()).then(|| (name.trim().to_owned(), weight))
    };
    match text {
        "uniform" => Ok(ClassWeight::Uniform),
        "balanced" => Ok(ClassWeight::Balanced),
        list => {
            list.split(',').map(each).collect::<Option<Vec<_>>>().map(ClassWeight::Named).ok_or_else(|| {
                "expected uniform, balanced, or classes with weights of 0 or more, as in yes=5,no=1".into()
            })
        }
    }
}

fn parse_metric(text: &str) -> Result<Metric, String> {
    match text {
        "euclidean" => Ok(Metric::Euclidean),
        "manhattan" => Ok(Metric::Manhattan),
        "chebyshev" => Ok(Metric::Chebyshev),
        other => other
            .strip_prefix("minkowski:")
            .and_then(|p| p.parse().ok())
            .filter(|p: &f64| *p > 0.0 && p.is_finite())
            .map(|p| Metric::Minkowski { p })
            .ok_or_else(|| "expected euclidean, manhattan, chebyshev, or minkowski:P with P above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights() {
        assert_eq!(parse_balance("balanced"), Ok(ClassWeight::Balanced));
        let each = ClassWeight::Named(vec![("yes".into(), 5.0), ("a=b".into(), 0.5)]);
        assert_eq!(parse_balance("yes=5,a=b=0.5"), Ok(each));
        for bad in ["", "yes", "yes=", "yes=-1", "yes=nan", "yes=1,", "even"] {
            assert!(parse_balance(bad).is_err(), "{bad}");
        }
    }
}
