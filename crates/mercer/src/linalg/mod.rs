//! Dense linear algebra: factorisations, normal equations, products with rows.

mod cholesky;
pub(crate) mod dense;
mod eigen;
mod factor;
mod inverse;
pub mod normal_equations;
pub(crate) mod products;
mod qr;
mod row_products;
pub(crate) mod saved;
mod scalar;
pub(crate) mod vectors;
mod zeroed;

pub(crate) use cholesky::factor_in_place;
pub use cholesky::{Cholesky, CholeskyError};
pub use dense::mirror_lower;
pub use eigen::{Eigen, EigenError};
pub use factor::{CholeskyFactor, HostMatrix, SymmetricMatrix};
pub use normal_equations::{
    FeatureSums, Intercept, LinearFit, NormalEquations, NormalEquationsError, RidgeFactor,
};
pub(crate) use qr::{Triangle, suggestion};
pub(crate) use row_products::{RowProducts, chosen_row_dots, chosen_rows_combined, combined_rows, row_dots};
pub use saved::InvalidSaved;
pub use scalar::Scalar;
pub use zeroed::zeroed;
