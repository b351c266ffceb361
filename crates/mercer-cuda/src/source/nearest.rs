//! The source of the search for nearest rows.

use mercer::gram::Metric;
use mercer::real::Precision;

use super::{PRELUDE, RANKS};

const NEAREST: &str = include_str!("../kernels/nearest.cuh");

/// The text for queries and rows in these precisions; nothing for metrics that the host alone computes.
#[must_use]
pub fn nearest(metric: Metric, queries: Precision, rows: Precision) -> Option<String> {
    let number = match metric {
        Metric::Euclidean => 0,
        Metric::Manhattan => 1,
        Metric::Chebyshev => 2,
        _ => return None,
    };
    let name = |precision| if precision == Precision::Single { "float" } else { "double" };
    let text = format!(
        "typedef double real;\ntypedef {} query_sample;\ntypedef {} row_sample;\n#define METRIC {number}\n",
        name(queries),
        name(rows)
    );
    Some(text + PRELUDE + RANKS + NEAREST)
}
