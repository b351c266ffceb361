from typing import Any, Self

from numpy.typing import ArrayLike

from mercer._approximation import Approximated
from mercer._expansion import ExpansionMachine

class FeatureFits(Approximated, ExpansionMachine):
    quality_: dict[str, Any]

class FeatureRidge(FeatureFits):
    residual_: float | None
    n_samples_seen_: int
    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def merge(self, other: Self) -> Self: ...
