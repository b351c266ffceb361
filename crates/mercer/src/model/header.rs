//! The JSON document in a model file's header.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Scaling, Schema};
use crate::kernel::Kernel;

use super::Method;

/// The format this program writes, and the latest it reads.
pub const FORMAT: u64 = 1;

/// The version of the kernel language.
pub(super) const KERNEL_LANGUAGE: u64 = 1;

/// The features of the format that this program knows.
pub(super) const KNOWN: [&str; 1] = ["expansion"];

/// The least a file must say for a reader to tell whether it can read the rest.
#[derive(Debug, Deserialize)]
pub(super) struct Preamble {
    pub format: u64,
    #[serde(default)]
    pub requires: Vec<String>,
    pub kernel_language: u64,
    pub checksum: String,
}

/// The whole document. Field order is the order in the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub format: u64,
    pub requires: Vec<String>,
    pub kernel_language: u64,
    /// CRC-32 of this document with the checksum's digits zero, then of every tensor's name and bytes in name order.
    pub checksum: String,
    pub method: Method,
    pub kernel: Kernel,
    /// Where the kernel is proven: `all`, `orthant`, `ball:R`; null where that was assumed or is undecided.
    pub domain: Option<String>,
    pub settings: BTreeMap<String, Value>,
    pub outputs: Vec<String>,
    /// Names of the features, empty where they have none.
    pub columns: Vec<String>,
    pub scaling: Scaling,
    pub schema: Option<Schema>,
    pub report: BTreeMap<String, Value>,
}
