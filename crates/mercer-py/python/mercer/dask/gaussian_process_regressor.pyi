from typing import Any, Self

import numpy as np

from mercer._estimator import Estimator
from mercer.dask._estimator import DaskEstimator
from mercer.kernel import Kernel

__all__ = ["GaussianProcessRegressor"]

class GaussianProcessRegressor(DaskEstimator, Estimator):
    kernel_: Kernel
    noise_: float
    inducing_points_: Any
    log_marginal_likelihood_value_: float
    hyper_parameters_: list[dict[str, Any]]
    n_iter_: int
    def __init__(
        self,
        kernel: str | Kernel | None = None,
        *,
        alpha: float | None = None,
        approx: str = "nystrom:1024",
        n_restarts_optimizer: int = 0,
        max_iter: int = 200,
        normalize_y: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
        client: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    def predict(self, X: Any, return_std: bool = False) -> Any: ...
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
