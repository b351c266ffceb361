from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._file_fits import FileFits
from mercer._kernel_classifier import KernelClassifier
from mercer.kernel import Kernel

__all__ = ["KernelLogisticRegression"]

class KernelLogisticRegression(FileFits, KernelClassifier):
    C: float
    gamma: Literal["scale", "auto"] | float
    fit_intercept: bool
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    tol: float
    solver: Literal["newton", "gd", "sgd"]
    kernel_params: Mapping[str, Any] | None
    approx: str | None
    approx_: str | None
    coef_: NDArray[np.float64]
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
        approx: str | None = None,
        kernel_params: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]: ...
