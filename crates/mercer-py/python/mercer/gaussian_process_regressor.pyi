from collections.abc import Callable
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._gaussian_process import GaussianProcess
from mercer.kernel import Kernel

__all__ = ["GaussianProcessRegressor"]

class GaussianProcessRegressor(GaussianProcess):
    alpha: float | NDArray[np.float64]
    normalize_y: bool
    n_targets: int | None
    objective: Literal["likelihood", "loo"]
    y_train_: NDArray[np.float64]
    X_train_: Any
    L_: NDArray[np.float64]
    alpha_: NDArray[np.float64]
    kernel_: Any
    log_marginal_likelihood_value_: float
    def __init__(
        self,
        kernel: str | Kernel | Any | None = None,
        *,
        alpha: float | NDArray[np.float64] = 1e-10,
        optimizer: Literal["fmin_l_bfgs_b"] | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        objective: Literal["likelihood", "loo"] = "likelihood",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike) -> Self: ...
    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = False, return_cov: Literal[False] = False
    ) -> NDArray[np.float64]: ...
    @overload
    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: int | np.random.RandomState | None = 0
    ) -> NDArray[np.float64]: ...
    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
