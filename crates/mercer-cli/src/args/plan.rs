//! `mercer plan` as typed.

use std::path::PathBuf;

use clap::Args;
use mercer::model::Method;

use super::fit::methods;
use super::{Common, Input, parse_count, parse_size};

/// `mercer plan`.
#[derive(Debug, Args)]
#[command(after_help = "\
The times are for this machine, measured in less than a second. A kernel with `?` plans `mercer tune`.

Examples:
  mercer plan ridge data.csv --target y --kernel \"rbf(sigma=1)\"
  mercer plan ridge --shape 20000,10 --kernel \"poly(degree=3)\" --memory 16G
  mercer plan ridge --shape 2000,8 --kernel \"rbf(sigma=?)\"
  mercer plan lms --shape 50000,10 --epochs 100
  mercer plan logistic --shape 10000,20 --classes 10
  mercer plan svc --shape 50000,20 --kernel \"rbf(sigma=1)\"
  mercer plan knn --shape 50000,16 -k 7 --queries 10000 --json")]
pub struct Plan {
    /// Method to plan
    #[arg(value_parser = methods())]
    pub method: Method,
    /// CSV, LIBSVM, Parquet, .npy or .npz file, optionally gzipped; `-` reads standard input
    #[arg(required_unless_present = "shape", conflicts_with = "shape")]
    pub data: Option<PathBuf>,
    /// Rows and feature columns, instead of data
    #[arg(long, value_name = "N,D", value_parser = parse_shape)]
    pub shape: Option<(usize, usize)>,
    /// The kernel [default: that of `mercer fit`]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub kernel: Option<String>,
    /// Features instead of a kernel, as for `mercer fit`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub features: Option<String>,
    /// ridge: λ
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    pub lambda: f64,
    /// lms: number of epochs [default: 200]; perceptron: number of epochs [default: 100]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub epochs: Option<usize>,
    /// Number of classes, with --shape
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "data")]
    pub classes: usize,
    /// lms: stochastic gradient descent, one row at a time
    #[arg(long)]
    pub sgd: bool,
    /// knn: number of neighbours
    #[arg(short, value_name = "N", value_parser = parse_count, default_value_t = 5)]
    pub k: usize,
    /// smoother, knn: number of rows to predict [default: the number of rows]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub queries: Option<usize>,
    /// Number of kernels tried if the kernel has `?` [default: 10 for each]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub kernels: Option<usize>,
    /// Number of values of λ tried if the kernel has `?`
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 20)]
    pub lambdas: usize,
    /// Memory limit, such as 8G or 500M [default: 80% of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub common: Common,
}

fn parse_shape(text: &str) -> Result<(usize, usize), String> {
    let number = |part: &str| part.trim().replace('_', "").parse::<usize>().ok().filter(|n| *n > 0);
    let (rows, columns) = text.split_once(',').unwrap_or((text, ""));
    match (number(rows), number(columns)) {
        (Some(rows), Some(columns)) => Ok((rows, columns)),
        _ => Err("expected rows and columns, each 1 or more, as in 20000,10".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(parse_shape("20000,10"), Ok((20_000, 10)));
        assert_eq!(parse_shape("50_000, 3"), Ok((50_000, 3)));
        for bad in ["", "5", "5,", ",5", "0,5", "5,0", "1e3,2", "-1,2", "3,4,5"] {
            assert!(parse_shape(bad).is_err(), "{bad}");
        }
    }
}
