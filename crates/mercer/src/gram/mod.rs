//! The Gram matrix as an operator: products and blocks, without storing the whole matrix unless asked to.

mod cpu;
mod descent;
mod distance;
mod engine;
mod low_rank;
mod nearest;
mod numerical_rank;
mod operator;
mod pivoted_cholesky;
mod scales;
mod stored;
mod values;

pub(crate) use cpu::{Combine, fold};
pub use cpu::{CpuEngine, default_engine};
pub use descent::{BoxProblem, Descent};
pub use distance::kernel_to_distance;
pub use engine::{Engine, GramError, Part, Resident, Wanted, WaveRows, WaveSums, WaveSumsError};
pub use low_rank::{HostFactor, LowRankFactor, NewColumns};
pub use nearest::{Metric, Nearest};
pub use numerical_rank::{NumericalRank, numerical_rank};
pub use operator::{
    EXPENSIVE_VALUE, Ends, Gram, KeepRows, KernelGradient, KernelValues, LinearOperator, Penalty, Policy,
    RowSums, StoreAs, Stored,
};
pub use pivoted_cholesky::{PivotedCholesky, low_rank_factor, randomly_pivoted};
pub use scales::{EntryMoments, SampleScales};
pub use stored::DenseGram;
pub(crate) use values::with_values;
pub use values::{Segment, TileMut, Value, Values, ValuesMut, ValuesRef};
