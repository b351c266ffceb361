from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._expansion import ExpansionMachine

class FeatureRidge(ExpansionMachine):
    approx: str | None
    approx_: str | None
    coef_: NDArray[np.float64]
    residual_: float | None
    quality_: dict[str, Any]
    n_samples_seen_: int
    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def merge(self, other: Self) -> Self: ...
