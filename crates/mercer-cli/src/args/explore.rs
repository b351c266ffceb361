//! `mercer explore` as typed.

use std::path::PathBuf;

use clap::Args;

use super::{Common, Input};

/// `mercer explore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mercer explore                                   built-in data sets, own points, formulas
  mercer explore data.csv --target y
  mercer explore --export lecture.html             one picture as a file that needs no server
  mercer explore --state 'kernel=poly(degree=2)&data=rings&method=svc' --export rings.html

The page is served on 127.0.0.1 alone, under a link with a random token, until Ctrl-C. It reads no file but DATA.")]
pub struct Explore {
    /// Data to explore: CSV, LIBSVM, Parquet, .npy or .npz file, gzipped or not
    pub data: Option<PathBuf>,
    /// Port to serve the page on [default: a free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Write one picture to a file that needs no server, instead of serving the page
    #[arg(long, value_name = "FILE.html")]
    pub export: Option<PathBuf>,
    /// State to show: the part after `#` of a link to the page
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub state: String,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub common: Common,
}
