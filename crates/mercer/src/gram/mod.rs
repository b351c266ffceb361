//! The Gram matrix as an operator: apply it, read a block of it, never hold more of it than asked.

mod accumulate;
mod columns;
mod compact;
mod cpu;
mod dense;
mod density;
mod distance;
mod engine;
mod neighbours;
mod operator;
mod scales;
mod store;
mod tiled;
mod values;

pub use compact::CompactGram;
pub use cpu::{CpuEngine, default_engine};
pub use dense::DenseGram;
pub use distance::kernel_to_distance;
pub use engine::{Engine, GramError, Part, Resident};
pub use neighbours::{Metric, Nearest, neighbours};
pub use operator::{COLUMNS_AT_A_TIME, Columns, Crossing, Gram, KernelValues, LinearOperator, RowBlock};
pub use scales::SampleScales;
pub(crate) use values::with_values;
pub use values::{Segment, TileMut, Value, Values, ValuesMut, ValuesRef};
