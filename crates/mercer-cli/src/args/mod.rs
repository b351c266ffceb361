//! The command line as typed.

mod approx;
mod discover;
#[cfg(feature = "explore")]
mod explore;
mod fit;
mod flags;
mod help;
mod mistakes;
mod plan;
mod plot;
mod tune;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, CommandFactory, Parser, Subcommand};
use mercer::data::{ColumnRef, Dates, Missing, ReadOptions, ScaleMethod};
use mercer::kernel::check::{Dim, Domain};
use mercer::real::Precision;
use mercer::session::Session;
use mercer::watch::Watch;
use mercer_cuda::DeviceChoice;
use serde::de::{DeserializeOwned, IntoDeserializer, value};

use crate::device;
use crate::failure::Failure;

pub use approx::Approx;
pub use discover::Discover;
#[cfg(feature = "explore")]
pub use explore::Explore;
pub use fit::Fit;
pub use flags::{Given, methods_of, tuned_methods_of};
pub use mistakes::{hint, message};
pub use plan::Plan;
pub use plot::{Kind, Plot};
pub use tune::Tune;

/// Kernel machines: write a kernel as a formula, train with it, and predict.
#[derive(Debug, Parser)]
#[command(
    name = "mercer",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  mercer fit ridge data.csv --target y -o m.mercer
  mercer fit svc data.csv --target species --kernel \"0.5*rbf(sigma=2) + (<x,z>+1)^2\" -o m.mercer
  mercer tune ridge data.csv --target y --kernel \"rbf(sigma=?)\" --lambda \"?\" -o best.mercer
  mercer predict m.mercer new.csv -o out.csv
  mercer check \"sin(<x,z>) + exp(<x,z>)\"
  mercer info m.mercer
  mercer plot m.mercer data.csv -o fit.svg
  mercer gram data.csv --kernel \"rbf(gamma=0.1)\" -o K.npy

`mercer COMMAND --help` describes a command, `mercer fit METHOD --help` one method.
docs/kernel-language.md describes kernels."
)]
pub struct Arguments {
    /// The sub-command.
    #[command(subcommand)]
    pub command: Command,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Decide whether a formula is a kernel; print a proof or a counter-example
    Check(Check),
    /// Verify a certificate written by `mercer check --certificate`
    Verify(Verify),
    /// Fit a model and save it
    Fit(Fit),
    /// Search for the best hyper-parameters and fit with them
    Tune(Tune),
    /// Grow a kernel formula for a Gaussian process, and explain it
    Discover(Discover),
    /// Predict with a saved model; report the error if the data has the target
    Predict(Predict),
    /// Write the kernel matrix of a data set, or the distances it induces
    Gram(GramArguments),
    /// Estimate the time and memory of a fit, and recommend a solver
    Plan(Plan),
    /// Draw a saved model: curves, maps, residuals, ROC curves and more
    Plot(Plot),
    /// Explore kernels and models in the browser, on a page served from this machine
    #[cfg(feature = "explore")]
    Explore(Explore),
    /// Describe a saved model
    Info(Info),
    /// Convert a support vector model to or from LIBSVM's format
    Convert(Convert),
    /// LIBSVM's svm-train, with the same options, files and output
    #[command(disable_help_flag = true)]
    SvmTrain(Verbatim),
    /// LIBSVM's svm-predict, with the same options, files and output
    #[command(disable_help_flag = true)]
    SvmPredict(Verbatim),
    /// LIBSVM's svm-scale, with the same options, files and output
    #[command(disable_help_flag = true)]
    SvmScale(Verbatim),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// `mercer check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer check \"sin(<x,z>) + exp(<x,z>)\"
  mercer check \"max(0, 1-|x-z|)\" --dim 1
  mercer check \"1/(1-<x,z>)\" --domain ball:0.9 --json
  mercer check \"exp(-|x-z|)\" --certificate proof.json

Exit codes: 0 proven, 3 refuted or undefined, 4 undecided.")]
pub struct Check {
    /// The formula, such as `exp(-|x-z|^2) + <x,z>`
    #[arg(allow_hyphen_values = true)]
    pub kernel: String,
    /// Dimension of the points: a number, or `any` for every dimension
    #[arg(long, value_name = "D|any", default_value = "any")]
    pub dim: Dim,
    /// Set that the points lie in: all of R^d, a closed ball, the unit sphere, coordinates ≥ 0, or coordinates in [a, b]
    #[arg(long, value_name = "all|ball:R|sphere|orthant|box:a..b", default_value = "all")]
    pub domain: Domain,
    /// Write the proof or counter-example to a file that `mercer verify` can check
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Print a JSON document
    #[arg(long)]
    pub json: bool,
}

/// `mercer verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer check \"exp(-|x-z|)\" --certificate proof.json
  mercer verify proof.json

Exit codes: 0 accepted, 1 rejected, 2 not a certificate.")]
pub struct Verify {
    /// A certificate written by `mercer check --certificate`
    pub certificate: PathBuf,
    /// Print a JSON document
    #[arg(long)]
    pub json: bool,
}

/// `mercer predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer predict m.mercer new.csv -o out.csv
  mercer predict classes.mercer new.csv --proba -o out.csv
  mercer predict svc.mercer new.csv --decision -o out.csv
  mercer predict gp.mercer new.csv --std --interval 0.95 -o out.csv
  mercer predict m.mercer - < new.csv > out.csv")]
pub struct Predict {
    /// A model written by `mercer fit` or `mercer tune`
    pub model: PathBuf,
    /// Data with the model's feature columns; `-` reads standard input
    pub data: PathBuf,
    /// CSV file to write [default: standard output]
    #[arg(short, long, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// Also write the probability of each class, in columns p_CLASS before the prediction
    #[arg(long)]
    pub proba: bool,
    /// Also write the decision function, in columns decision… before the prediction. A single `decision` is
    /// positive for the second of two classes, `decision_A_vs_B` for A
    #[arg(long, conflicts_with = "proba")]
    pub decision: bool,
    /// Gaussian processes: also write the standard deviation of the target, in a column std before the prediction
    #[arg(long)]
    pub std: bool,
    /// Gaussian processes: also write the interval that contains the target with this probability, in columns lower and upper
    /// before the prediction
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    pub interval: Option<f64>,
    #[command(flatten)]
    pub common: Common,
}

/// `mercer gram`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer gram data.csv --kernel \"rbf(gamma=0.1)\" -o K.npy
  mercer gram train.csv test.csv --target y --kernel \"(<x,z>+1)^3\" -o K.npy
  mercer gram data.csv --kernel \"rbf(sigma=auto)\" --distance --scale standard -o D.npy")]
pub struct GramArguments {
    /// File whose rows are the rows of the matrix
    pub data: PathBuf,
    /// File whose rows are the columns of the matrix [default: DATA]
    pub other: Option<PathBuf>,
    /// File to write: .npy or .csv
    #[arg(short, long, value_name = "K.npy")]
    pub output: PathBuf,
    /// The kernel
    #[arg(long, value_name = "TEXT", default_value = "rbf(sigma=auto)", allow_hyphen_values = true)]
    pub kernel: String,
    /// Write the distance √(k(x,x) − 2k(x,z) + k(z,z)) instead of k(x,z)
    #[arg(long)]
    pub distance: bool,
    /// Memory limit for the matrix, such as 8G or 500M [default: 80% of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub common: Common,
}

/// `mercer info`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer info m.mercer
  mercer info m.mercer --coefficients -o coefficients.csv")]
pub struct Info {
    /// A model written by `mercer fit` or `mercer tune`
    pub model: PathBuf,
    /// Print the coefficients as CSV: the intercept, then one row per feature, or per support vector with its scaled
    /// columns
    #[arg(long, conflicts_with = "json")]
    pub coefficients: bool,
    /// File to write the coefficients to [default: standard output]
    #[arg(short, long, value_name = "FILE.csv", requires = "coefficients")]
    pub output: Option<PathBuf>,
    /// Print a JSON document
    #[arg(long)]
    pub json: bool,
}

/// `mercer convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
The direction follows from INPUT: a mercer model is written as LIBSVM's text, LIBSVM's text as a mercer model.

Examples:
  mercer convert m.mercer libsvm.model
  mercer convert heart_scale.model m.mercer --columns 13

LIBSVM has the kernels linear, poly, rbf and sigmoid. It does not scale data: if the scaling cannot be folded into the support \
vectors, fit with --scale none.")]
pub struct Convert {
    /// Model to read
    pub input: PathBuf,
    /// File to write
    pub output: PathBuf,
    /// From LIBSVM: the number of columns of the data, if the last ones are zero in all support vectors
    #[arg(long, value_name = "N")]
    pub columns: Option<usize>,
    /// To LIBSVM: number the classes 0, 1, … if they are not integers
    #[arg(long)]
    pub number_classes: bool,
    /// Print a JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments that LIBSVM's programs parse.
#[derive(Debug, Args)]
pub struct Verbatim {
    /// LIBSVM's options and files
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
}

/// `mercer completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  mercer completions bash > ~/.local/share/bash-completion/completions/mercer"
)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Options for reading a file.
#[derive(Debug, Args)]
pub struct Input {
    /// Columns to predict, by name or by number (from 0; -1 is the last)
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub target: Vec<ColumnRef>,
    /// Columns of categories, each encoded as one feature per category
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub categorical: Vec<ColumnRef>,
    /// Columns to use as features [default: all but the targets]
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub columns: Vec<ColumnRef>,
    /// Columns to leave out, such as row numbers or names
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub drop: Vec<ColumnRef>,
    /// Read dates such as 2024-03-01 as days since 1970-01-01
    #[arg(long, value_name = "days", value_parser = parse_dates)]
    pub dates: Option<Dates>,
    /// How to treat missing values; `indicator` fills in the mean and marks it
    #[arg(long, value_name = "error|drop|mean|indicator", default_value = "error", value_parser = named::<Missing>)]
    pub missing: Missing,
    /// Scale the features [default: standard; `gram`, and `gp` with a number as a period: none]
    #[arg(long, value_name = "standard|minmax|none", value_parser = named::<ScaleMethod>)]
    pub scale: Option<ScaleMethod>,
    /// Precision of the data and of kernel values
    #[arg(long, value_name = "f32|f64", default_value = "f64", value_parser = named::<Precision>)]
    pub dtype: Precision,
}

impl Input {
    /// The reader's options.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            target: self.target.clone(),
            categorical: self.categorical.clone(),
            columns: self.columns.clone(),
            drop: self.drop.clone(),
            dates: self.dates.unwrap_or_default(),
            missing: self.missing,
            dtype: self.dtype,
            ..ReadOptions::default()
        }
    }
}

/// Options of all commands that compute.
#[derive(Debug, Args)]
pub struct Common {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Random seed
    #[arg(long, value_name = "NUMBER", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// Device to compute on: cpu, cuda, cuda:N, or auto for the first GPU if there is one
    #[arg(long, value_name = "DEVICE", default_value_t, value_parser = DeviceChoice::from_str)]
    pub device: DeviceChoice,
    /// Print a JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print more details: timings, iterations, solvers
    #[arg(short, long)]
    pub verbose: bool,
}

impl Common {
    /// The requested number of threads.
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// The session of a command, with the device, the seed and the memory budget of its flags.
    ///
    /// # Errors
    /// If the device is not usable.
    pub fn session<'a>(&self, memory: Option<u64>, watch: &'a dyn Watch) -> Result<Session<'a>, Failure> {
        let session = Session::new(device::engine(self.device)?).with_watch(watch).with_seed(self.seed);
        Ok(memory.map_or(session.clone(), |bytes| session.with_memory(bytes)))
    }
}

/// The definition of the command line, with the help of the method that the words name.
pub fn command() -> clap::Command {
    help::tailored(with_negative_numbers(Arguments::command()), std::env::args_os())
}

/// The command with negative numbers as the values of its options, not as options, so that messages name the option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let allow = |arg: clap::Arg| match arg.is_positional() || !arg.get_action().takes_values() {
        true => arg,
        false => arg.allow_negative_numbers(true),
    };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

/// A value of an enum by its name in settings and model files.
pub fn named<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    T::deserialize(name.into_deserializer()).map_err(|error: value::Error| {
        let reason = error.to_string().replace('`', "");
        reason.split_once("expected ").map_or(reason.clone(), |(_, allowed)| format!("it must be {allowed}"))
    })
}

fn parse_dates(text: &str) -> Result<Dates, &'static str> {
    if text == "days" { Ok(Dates::Days) } else { Err("it must be days") }
}

/// A whole number, 1 or more.
fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "it must be a whole number, 1 or more".into())
}

/// The most threads: more than any machine has.
const MOST_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<usize, String> {
    match parse_count(text)? {
        threads if threads > MOST_THREADS => {
            Err(format!("it must be a whole number from 1 to {MOST_THREADS}"))
        }
        threads => Ok(threads),
    }
}

fn parse_column(text: &str) -> Result<ColumnRef, String> {
    if text.is_empty() {
        Err("expected a column name or number".into())
    } else {
        Ok(text.parse().unwrap_or_else(|e| match e {}))
    }
}

fn parse_probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number between 0 and 1, such as 0.95".into()),
    }
}

/// Bytes from `8G`, `500M`, `1.5GB`, `2GiB` or a plain number.
fn parse_size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let scale = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err("expected a number and a unit, such as 8G, 500M or 2GiB".into()),
    };
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok((value * scale as f64) as u64),
        _ => Err("expected a positive number and a unit, such as 8G, 500M or 2GiB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("8G"), Ok(8_000_000_000));
        assert_eq!(parse_size("1.5 MB"), Ok(1_500_000));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert_eq!(parse_size("123"), Ok(123));
        for bad in ["", "G", "-1G", "1.2.3M", "5 parsecs", "0"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
