//! A linear function of approximate features as a predictor.

use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{MatMut, MatRef, Par};

use crate::data::Matrix;
use crate::features::{ApproximateFeatures, KernelFeatures, Nystrom};
use crate::kernel::check::Domain;

use super::{Expansion, Linear, Predictor};

impl Predictor {
    /// f(x) = ⟨w, φ(x)⟩ + b on approximate features, `weights` with one row per feature and one column per output.
    ///
    /// On landmarks that is an expansion: with φ(x) = L⁻¹k(x), ⟨w, φ(x)⟩ = Σⱼ aⱼ k(cⱼ, x) with a = L⁻ᵀw, O(Md) instead of
    /// O(M² + Md) for every sample and without L in the model.
    ///
    /// # Panics
    /// Where there is not a row of weights for each feature.
    #[must_use]
    pub fn on_features(
        features: ApproximateFeatures,
        weights: Matrix<f64>,
        intercepts: Vec<f64>,
        domain: Option<Domain>,
    ) -> Self {
        assert_eq!(weights.nrows(), features.features(), "a row of weights for each feature");
        match features {
            ApproximateFeatures::Random(fourier) => {
                let columns = fourier.features.columns();
                Linear { map: fourier.into(), columns, shift: None, weights, intercepts }.into()
            }
            ApproximateFeatures::Landmarks(nystrom) => Expansion {
                kernel: nystrom.kernel().clone(),
                domain,
                centres: nystrom.landmarks().clone(),
                shift: None,
                coefficients: coefficients(&nystrom, weights),
                intercepts,
            }
            .into(),
        }
    }
}

/// L⁻ᵀw.
fn coefficients(nystrom: &Nystrom, mut weights: Matrix<f64>) -> Matrix<f64> {
    let (m, outputs) = (weights.nrows(), weights.ncols());
    if outputs > 0 {
        let lower = MatRef::from_row_major_slice(nystrom.whitening(), m, m);
        let right = MatMut::from_row_major_slice_mut(weights.entries_mut(), m, outputs);
        solve_upper_triangular_in_place(lower.transpose(), right, Par::Seq);
    }
    weights
}
