//! `mercer discover` as typed.

use std::path::PathBuf;

use clap::Args;

use super::{Common, Input, parse_count, parse_size};

/// `mercer discover`.
#[derive(Debug, Args)]
#[command(after_help = "\
Formulas are grown from base kernels, on all columns or on single ones, by sums and products, and pruned. Their score is the
likelihood of a Gaussian process with a penalty for each number that is learnt (BIC). Ctrl-C keeps the best formula so far.

Examples:
  mercer discover co2.csv --target ppm -o best.mercer
  mercer discover co2.csv --target ppm --plot parts.svg -o best.mercer
  mercer discover houses.csv --target price --candidates 150 --json -o best.mercer")]
pub struct Discover {
    /// CSV, LIBSVM, Parquet, .npy or .npz file, gzipped or not; `-` is standard input
    pub data: PathBuf,
    /// File to write the model to
    #[arg(short, long, value_name = "MODEL")]
    pub output: PathBuf,
    /// Formulas to try at most
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 80)]
    pub candidates: usize,
    /// Seconds after which no further formula is tried; what is found then depends on the machine [default: no limit]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Draw the parts of the formula: .svg, .png, .pdf or .txt
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Leave out of the model what standard deviations need: n²/2 numbers for n rows
    #[arg(long)]
    pub no_variance: bool,
    /// Fraction of the rows held out to report an error; the model is then fitted on all rows. 0 holds none out
    #[arg(long, value_name = "FRACTION", default_value_t = 0.2, allow_negative_numbers = true)]
    pub holdout: f64,
    /// Memory that matrices may take: 8G, 500M [default: four fifths of what is available]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub common: Common,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number of seconds above 0".into()),
    }
}
