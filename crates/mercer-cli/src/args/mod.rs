//! The command line as typed.

mod approx;
#[cfg(feature = "explore")]
mod explore;
mod fit;
mod flags;
mod help;
mod mistakes;
mod plan;
mod plot;
mod tune;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, CommandFactory, Parser, Subcommand};
use mercer::data::{ColumnRef, Dates, Dtype, Missing, ReadOptions, ScaleMethod};
use mercer::kernel::check::{Dim, Domain};
use mercer::session::Session;
use mercer::watch::Watch;
use mercer_cuda::DeviceChoice;

use crate::device;
use crate::failure::Failure;

pub use approx::Approx;
#[cfg(feature = "explore")]
pub use explore::Explore;
pub use fit::{Fit, Multiclass, Solver};
pub use flags::methods_of;
pub use mistakes::hint;
pub use plan::Plan;
pub use plot::{Kind, Plot};
pub use tune::{Criterion, Score, Search, Tune};

/// Kernel machines: write a kernel as on paper, train with it, predict anywhere.
#[derive(Debug, Parser)]
#[command(
    name = "mercer",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  mercer fit ridge data.csv --target y --kernel \"0.5*rbf(sigma=2) + (<x,z>+1)^2\" --lambda 1e-2 -o m.mercer
  mercer tune ridge data.csv --target y --kernel \"rbf(sigma=?)\" --lambda \"?\" -o best.mercer
  mercer predict m.mercer new.csv -o out.csv
  mercer check \"sin(<x,z>) + exp(<x,z>)\"
  mercer info m.mercer
  mercer plot m.mercer data.csv -o fit.svg
  mercer gram data.csv --kernel \"rbf(gamma=0.1)\" -o K.npy

The kernel language: docs/kernel-language.md. Each command's own examples: mercer COMMAND --help."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Decide whether a formula is a kernel, with a proof or a counter-example
    Check(Check),
    /// Check a certificate that `mercer check --certificate` wrote
    Verify(Verify),
    /// Fit a model and save it
    Fit(Fit),
    /// Search for the best hyper-parameters, and fit with them
    Tune(Tune),
    /// Predict with a saved model; scores itself where the data has the target
    Predict(Predict),
    /// Write the kernel matrix, or the feature-space distances, of a data set
    Gram(GramArguments),
    /// Say what a fit would do, how long it would take and how much memory, and why
    Plan(Plan),
    /// Draw a saved model: curves, maps, surfaces, residuals
    Plot(Plot),
    /// Explore kernels and models in the browser, on a page served from this machine
    #[cfg(feature = "explore")]
    Explore(Explore),
    /// Describe a saved model
    Info(Info),
    /// Turn a support vector model into LIBSVM's text, or LIBSVM's text into a model
    Convert(Convert),
    /// LIBSVM's svm-train: the same options, files and lines
    #[command(disable_help_flag = true)]
    SvmTrain(Verbatim),
    /// LIBSVM's svm-predict: the same options, files and lines
    #[command(disable_help_flag = true)]
    SvmPredict(Verbatim),
    /// LIBSVM's svm-scale: the same options, files and lines
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

Exit codes: 0 proven, 3 refuted or undefined somewhere, 4 undecided.")]
pub struct Check {
    /// Formula, as on paper
    #[arg(allow_hyphen_values = true)]
    pub kernel: String,
    /// Dimension of the points: a number, or `any` for every dimension
    #[arg(long, value_name = "D|any", default_value = "any")]
    pub dim: Dim,
    /// Where the points are: everywhere, in a closed ball, on the unit sphere, with coordinates ≥ 0 or between a and b
    #[arg(long, value_name = "all|ball:R|sphere|orthant|box:a..b", default_value = "all")]
    pub domain: Domain,
    /// Write the proof or the counter-example to a file that `mercer verify` checks
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `mercer verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer check \"exp(-|x-z|)\" --certificate proof.json
  mercer verify proof.json

Exit codes: 0 accepted, 1 rejected, 2 no certificate.")]
pub struct Verify {
    /// A certificate that `mercer check --certificate` wrote
    pub certificate: PathBuf,
    /// Print one JSON document
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
  mercer predict m.mercer - < new.csv > out.csv")]
pub struct Predict {
    /// A model that `mercer fit` wrote
    pub model: PathBuf,
    /// Data with the model's feature columns; `-` is standard input
    pub data: PathBuf,
    /// CSV file to write [default: standard output]
    #[arg(short, long, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// Write the probability of every class as well: columns p_CLASS before the prediction
    #[arg(long)]
    pub proba: bool,
    /// Write what decides between the classes as well: columns decision… before the prediction. A single `decision` is
    /// positive for the second of two classes, `decision_A_vs_B` of a pair for A
    #[arg(long, conflicts_with = "proba")]
    pub decision: bool,
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
    /// Rows of the matrix
    pub data: PathBuf,
    /// Columns of the matrix, where they are other samples
    pub other: Option<PathBuf>,
    /// .npy file to write
    #[arg(short, long, value_name = "K.npy")]
    pub output: PathBuf,
    /// Kernel, as on paper
    #[arg(long, value_name = "TEXT", default_value = "rbf(sigma=auto)", allow_hyphen_values = true)]
    pub kernel: String,
    /// Write the distance √(k(x,x) − 2k(x,z) + k(z,z)) instead of k(x,z)
    #[arg(long)]
    pub distance: bool,
    /// Memory the matrix may take: 8G, 500M [default: four fifths of what is available]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
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
    /// A model that `mercer fit` wrote
    pub model: PathBuf,
    /// Print the coefficients as CSV: one row for the intercept and one for each feature, or for each support vector with its
    /// columns as the model scales them
    #[arg(long, conflicts_with = "json")]
    pub coefficients: bool,
    /// File to write the coefficients to [default: standard output]
    #[arg(short, long, value_name = "FILE.csv", requires = "coefficients")]
    pub output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `mercer convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Which way it goes is told by IN: a model of mercer becomes LIBSVM's text, and the other way round.

Examples:
  mercer convert m.mercer libsvm.model
  mercer convert heart_scale.model m.mercer --columns 13

LIBSVM has the kernels linear, poly, rbf and sigmoid, and scales nothing: fit with --scale none where the scaling cannot go
into the support vectors.")]
pub struct Convert {
    /// The model to read
    pub input: PathBuf,
    /// File to write
    pub output: PathBuf,
    /// From LIBSVM: how many columns the data has, where that is more than any support vector uses
    #[arg(long, value_name = "N")]
    pub columns: Option<usize>,
    /// To LIBSVM: write classes that are not whole numbers as 0, 1, …
    #[arg(long)]
    pub number_classes: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments that another program's rules apply to.
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

/// How a file is read.
#[derive(Debug, Args)]
pub struct Input {
    /// Target columns, by name or number (from 0; -1 is the last)
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub target: Vec<ColumnRef>,
    /// Columns to turn into one feature per category
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub categorical: Vec<ColumnRef>,
    /// The columns to use as features [default: all but the targets]
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub columns: Vec<ColumnRef>,
    /// Columns to leave out, such as row numbers and names
    #[arg(long, value_name = "NAME|INDEX", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_column)]
    pub drop: Vec<ColumnRef>,
    /// Read dates such as 2024-03-01 as days since 1970-01-01
    #[arg(long, value_name = "days", value_parser = Dates::from_str)]
    pub dates: Option<Dates>,
    /// What to do with a missing value; indicator fills in the mean and adds a feature that is 1 where it does
    #[arg(long, value_name = "error|drop|mean|indicator", default_value = "error", value_parser = Missing::from_str)]
    pub missing: Missing,
    /// Scale the features [default: standard; `gram`: none]
    #[arg(long, value_name = "standard|minmax|none", value_parser = ScaleMethod::from_str)]
    pub scale: Option<ScaleMethod>,
    /// Precision that data and kernel values are held in
    #[arg(long, value_name = "f32|f64", default_value = "f64", value_parser = Dtype::from_str)]
    pub dtype: Dtype,
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

/// What every command that works has.
#[derive(Debug, Args)]
pub struct Common {
    /// Threads to use [default: every core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Seed of everything random
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Device to compute on; auto is the first GPU, or the CPU without one
    #[arg(long, value_name = "auto|cpu|cuda[:N]", default_value_t, value_parser = DeviceChoice::from_str)]
    pub device: DeviceChoice,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Say more: where the time went, how many steps it took, what was worked with
    #[arg(short, long)]
    pub verbose: bool,
}

impl Common {
    /// The number of threads asked for.
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(NonZeroUsize::get)
    }

    /// The session of a command, with the device, the seed and the memory budget of its flags.
    ///
    /// # Errors
    /// Where the device cannot be used.
    pub fn session<'a>(&self, memory: Option<u64>, watch: &'a dyn Watch) -> Result<Session<'a>, Failure> {
        let session = Session::new(device::engine(self.device)?).with_watch(watch).with_seed(self.seed);
        Ok(memory.map_or(session.clone(), |bytes| session.with_memory(bytes)))
    }
}

/// The command line that is understood, with the help of the method that the words name.
pub fn command() -> clap::Command {
    help::tailored(Arguments::command(), std::env::args_os())
}

fn parse_column(text: &str) -> Result<ColumnRef, String> {
    if text.is_empty() {
        Err("a column needs a name or a number".into())
    } else {
        Ok(text.parse().unwrap_or_else(|e| match e {}))
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
        _ => return Err("a size is a number and a unit, as in 8G, 500M or 2GiB".into()),
    };
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok((value * scale as f64) as u64),
        _ => Err("a size is a positive number and a unit, as in 8G, 500M or 2GiB".into()),
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
