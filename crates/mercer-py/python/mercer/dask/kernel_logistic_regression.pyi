from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np

from mercer import kernel_logistic_regression
from mercer.dask._classifier import ClassifierOnDask
from mercer.kernel import Kernel

__all__ = ["KernelLogisticRegression"]

class KernelLogisticRegression(ClassifierOnDask, kernel_logistic_regression.KernelLogisticRegression):
    def __init__(
        self,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        solver: Literal["newton", "gd", "sgd"] = "newton",
        approx: str | None = "auto",
        kernel_params: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
        client: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    def predict_proba(self, X: Any) -> Any: ...
    def predict_log_proba(self, X: Any) -> Any: ...
