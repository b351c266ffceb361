//! The Gram matrix as an operator: apply it, read a block of it, never hold more of it than asked.

mod cpu;
mod descent;
mod distance;
mod engine;
mod nearest;
mod numerical_rank;
mod operator;
mod pivoted_cholesky;
mod scales;
mod stored;
mod values;

pub(crate) use cpu::{Combine, LeastAndGreatest, fold};
pub use cpu::{CpuEngine, default_engine};
pub use descent::{BoxProblem, Descent};
pub use distance::kernel_to_distance;
pub use engine::{Engine, GramError, Part, Resident, Wanted};
pub use nearest::{Metric, Nearest};
pub use numerical_rank::{NumericalRank, numerical_rank};
pub use operator::{
    EXPENSIVE_VALUE, Ends, Gram, KeepRows, KernelGradient, KernelValues, LinearOperator, Policy, RowSums,
    StoreAs, Stored,
};
pub use pivoted_cholesky::{PivotedCholesky, randomly_pivoted};
pub use scales::SampleScales;
pub use stored::DenseGram;
pub(crate) use values::with_values;
pub use values::{Segment, TileMut, Value, Values, ValuesMut, ValuesRef};
