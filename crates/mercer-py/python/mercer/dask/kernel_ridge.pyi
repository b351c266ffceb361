from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer import kernel_ridge
from mercer.dask._estimator import DaskEstimator
from mercer.kernel import Kernel

__all__ = ["KernelRidge", "RidgeOnDask"]

class RidgeOnDask(DaskEstimator):
    def predict(self, X: Any) -> Any: ...

class KernelRidge(RidgeOnDask, kernel_ridge.KernelRidge):
    def __init__(
        self,
        alpha: float | ArrayLike = 1,
        *,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approx: str | None = "auto",
        solver: Literal["auto", "cholesky", "mixed", "primal", "cg"] = "auto",
        bias: Literal["none", "centred", "column"] = "none",
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
        client: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
