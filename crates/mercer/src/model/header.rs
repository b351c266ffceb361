//! The JSON document in a model file's header.

use serde::{Deserialize, Serialize};

use crate::data::{Classes, Scaling, Schema};
use crate::design::{FeatureMap, RandomSpec};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;

use super::{Calibration, Facts, Method, Rule};

/// The format this version writes, and the latest it reads.
pub const FORMAT: u64 = 1;

/// The version of the kernel language.
pub(super) const KERNEL_LANGUAGE: u64 = 1;

/// The entries from which a reader decides whether it can read the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Preamble {
    pub format: u64,
    #[serde(default)]
    pub requires: Vec<String>,
    pub kernel_language: u64,
    pub checksum: String,
}

impl Preamble {
    /// The entries of a whole document.
    pub fn of(header: &Header) -> Self {
        let Header { format, requires, kernel_language, checksum, .. } = header;
        let (requires, checksum) = (requires.clone(), checksum.clone());
        Self { format: *format, requires, kernel_language: *kernel_language, checksum }
    }
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
    #[serde(flatten)]
    pub words: Words,
    pub settings: Facts,
    pub outputs: Vec<String>,
    /// The classes, sorted; absent from regressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// The original type of the labels, such as NumPy's `int32` or `bool`; absent if they come from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_type: Option<String>,
    /// The calibration of decisions to probabilities; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Names of the features, empty if they have none.
    pub columns: Vec<String>,
    pub scaling: Scaling,
    pub schema: Option<Schema>,
    pub report: Facts,
}

/// The header entries of the predictor. Each kind has its own.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Words {
    /// The kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// The domain on which the kernel is proven: `all`, `orthant`, `ball:R`; absent if that was assumed or is
    /// undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The feature map of a linear predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<FeatureMap>,
    /// The settings from which the random features of a linear predictor were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomSpec>,
    /// Columns of the feature map's samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_columns: Option<usize>,
    /// The number of classes of a voted predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voted_classes: Option<usize>,
    /// The rule for weighting neighbours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

impl Words {
    /// The names of the entries.
    pub const NAMES: [&'static str; 7] =
        ["kernel", "domain", "features", "random", "feature_columns", "voted_classes", "rule"];

    /// The entries of a predictor over a kernel that is proven on `domain`.
    pub(super) fn of_kernel(kernel: &Kernel, domain: Option<Domain>) -> Self {
        let domain = domain.map(|domain| domain.to_string());
        Self { kernel: Some(kernel.clone()), domain, ..Self::default() }
    }

    /// The kernel.
    ///
    /// # Errors
    /// If there is none.
    pub fn kernel(&self) -> Result<Kernel, String> {
        self.kernel.clone().ok_or_else(|| "it names no kernel".to_owned())
    }

    /// The domain on which the kernel is proven.
    ///
    /// # Errors
    /// If the entry does not describe one.
    pub fn domain(&self) -> Result<Option<Domain>, String> {
        let parsed = self.domain.as_ref().map(|text| text.parse::<Domain>());
        parsed.transpose().map_err(|error| error.to_string())
    }
}
