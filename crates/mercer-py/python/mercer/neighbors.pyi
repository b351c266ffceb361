from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._estimator import Estimator

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor"]

class _KNeighbors(Estimator):
    n_neighbors: int
    weights: Literal["uniform", "distance"] | Callable[[NDArray[np.float64]], ArrayLike] | None
    algorithm: Literal["auto", "brute", "ball_tree", "kd_tree"]
    leaf_size: int
    p: float | None
    metric: str | Callable[..., float] | Any
    metric_params: dict[str, Any] | None
    device: str
    effective_metric_: Any
    effective_metric_params_: dict[str, Any]
    n_samples_fit_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Literal["uniform", "distance"] | Callable[[NDArray[np.float64]], ArrayLike] | None = "uniform",
        algorithm: Literal["auto", "brute", "ball_tree", "kd_tree"] = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: str | Callable[..., float] | Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any: ...
    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: Literal["connectivity", "distance"] = "connectivity"
    ) -> Any: ...

class KNeighborsRegressor(_KNeighbors):
    def fit(self, X: Any, y: ArrayLike) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

class KNeighborsClassifier(_KNeighbors):
    classes_: Any
    outputs_2d_: bool
    def fit(self, X: Any, y: ArrayLike) -> Self: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> Any: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
