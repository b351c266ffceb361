from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._gaussian_process import GaussianProcess
from mercer.kernel import Kernel

__all__ = ["GaussianProcessClassifier"]

class GaussianProcessClassifier(GaussianProcess):
    max_iter_predict: int
    warm_start: bool
    multi_class: Literal["one_vs_rest", "one_vs_one", "softmax"]
    classes_: NDArray[Any]
    n_classes_: int
    base_estimator_: Any
    log_marginal_likelihood_value_: float
    def __init__(
        self,
        kernel: str | Kernel | Any | None = None,
        *,
        optimizer: Literal["fmin_l_bfgs_b"] | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: int | np.random.RandomState | None = None,
        multi_class: Literal["one_vs_rest", "one_vs_one", "softmax"] = "one_vs_rest",
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike) -> Self: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def latent_mean_and_variance(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def kernel_(self) -> Any: ...
    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
