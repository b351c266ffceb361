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
mod row_products;
mod scales;
mod store;
mod tiled;
mod values;
mod zeroed;

pub use compact::CompactGram;
pub use cpu::CpuEngine;
pub use dense::DenseGram;
pub use distance::kernel_to_distance;
pub use engine::{Engine, GramError, Part, Resident};
pub use neighbours::{Metric, Nearest, neighbours};
pub use operator::{COLUMNS_AT_A_TIME, Columns, Crossing, Gram, KernelValues, LinearOperator, RowBlock};
pub(crate) use row_products::{RowProducts, chosen_row_dots, chosen_rows_combined, combined_rows, row_dots};
pub use scales::SampleScales;
pub(crate) use values::with_values;
pub use values::{Segment, TileMut, Value, Values, ValuesMut, ValuesRef};
pub use zeroed::zeroed;
