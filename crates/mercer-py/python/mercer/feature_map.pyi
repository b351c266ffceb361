from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._estimator import Estimator

__all__ = ["FeatureMap", "PolynomialFeatureMap"]

class FeatureMap:
    def __init__(self, text: str) -> None: ...
    def __call__(self, X: Any, *, n_jobs: int | None = None, verbose: int = 0) -> NDArray[np.float64]: ...
    def count(self, n_columns: int) -> int: ...
    def names(self, columns: int | Sequence[str]) -> list[str]: ...

class PolynomialFeatureMap(Estimator):
    degree: int
    c: float
    weighted: bool
    feature_map_: FeatureMap
    n_output_features_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        degree: int = 3,
        c: float = 1,
        weighted: bool = True,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.floating]: ...
    def transform(self, X: Any) -> NDArray[np.floating]: ...
    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
