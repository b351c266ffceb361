//! Programs that fill tiles of kernel matrices.
//!
//! A kernel expression is compiled once ([`Program`]) into the pairwise *statistics* it needs (inner products,
//! squared distances, L1 distances, χ² sums, each over a *group* of columns) and a short list of vector operations
//! that turn them into kernel values. Samples are packed once into panels (`pack`); a tile is then filled a block of
//! rows at a time, so that every operation runs over a few thousand numbers in the first-level cache.
//!
//! A [`Program`] is public down to its [`Node`]s, each with its arithmetic, so that another engine can print it as source for a
//! device.

mod bound;
mod compile;
mod coordinate;
mod dense_plan;
mod extent;
mod fill;
mod group;
mod math;
mod outer;
mod pack;
mod plan;
mod program;
mod scan;
mod simd;
mod skip;
mod sparse;
mod statistic;
mod strip;
mod wave;

pub use crate::kernel::lower::{Coordinate, Embedding, Fold, Kind, PointStatistic, Side, Step};
pub use group::Group;
pub use plan::{Features, Method, Plan, Route};
pub use program::{Node, Program, Statistic};
pub use simd::{InstructionSet, InstructionSetError};

pub(crate) use extent::Extent;
pub(crate) use fill::{Filler, Rectangle, Scratch, ValueBlock};
pub(crate) use outer::ColumnPanels;
pub(crate) use pack::Operand;
pub(crate) use plan::Known;
pub(crate) use scan::scan;
pub(crate) use simd::{Element, Simd, Vectorized};
pub(crate) use statistic::{ROWS, longest_sum};
pub(crate) use wave::{WaveScratch, Waves};
