//! The JSON document in a model file's header.

use serde::{Deserialize, Serialize};

use crate::data::{Classes, Scaling, Schema};
use crate::design::{FeatureMap, RandomSpec};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;

use super::{Calibration, Facts, Method, Rule};

/// The format this program writes, and the latest it reads.
pub const FORMAT: u64 = 1;

/// The version of the kernel language.
pub(super) const KERNEL_LANGUAGE: u64 = 1;

/// The least a file must say for a reader to tell whether it can read the rest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Preamble {
    pub format: u64,
    #[serde(default)]
    pub requires: Vec<String>,
    pub kernel_language: u64,
    pub checksum: String,
}

impl Preamble {
    /// That of a whole document.
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
    /// What the labels were where they come from, such as NumPy's `int32` or `bool`; absent where they come from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_type: Option<String>,
    /// What makes probabilities of decisions; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Names of the features, empty where they have none.
    pub columns: Vec<String>,
    pub scaling: Scaling,
    pub schema: Option<Schema>,
    pub report: Facts,
}

/// What the header says of the predictor. Each kind has its own words.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Words {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// Where the kernel is proven: `all`, `orthant`, `ball:R`; absent where that was assumed or is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The feature map of a linear predictor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<FeatureMap>,
    /// What the random features of a linear predictor were drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomSpec>,
    /// Columns that the feature map takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_columns: Option<usize>,
    /// Classes that the voters tell apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voted_classes: Option<usize>,
    /// How near rows are weighted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

impl Words {
    /// Those of a predictor over a kernel that is proven on `domain`.
    pub fn of_kernel(kernel: &Kernel, domain: Option<Domain>) -> Self {
        let domain = domain.map(|domain| domain.to_string());
        Self { kernel: Some(kernel.clone()), domain, ..Self::default() }
    }

    pub fn kernel(&self) -> Result<Kernel, String> {
        self.kernel.clone().ok_or_else(|| "it names no kernel".to_owned())
    }

    pub fn domain(&self) -> Result<Option<Domain>, String> {
        let parsed = self.domain.as_ref().map(|text| text.parse::<Domain>());
        parsed.transpose().map_err(|error| error.to_string())
    }
}
