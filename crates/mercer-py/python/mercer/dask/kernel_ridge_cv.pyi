from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer import kernel_ridge_cv
from mercer.dask.kernel_ridge import RidgeOnDask
from mercer.kernel import Kernel

__all__ = ["KernelRidgeCV"]

class KernelRidgeCV(RidgeOnDask, kernel_ridge_cv.KernelRidgeCV):
    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        alphas: ArrayLike | None = None,
        gammas: ArrayLike | None = None,
        cv: Any = None,
        scoring: str | Callable[..., float] | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approx: str | None = "auto",
        bias: Literal["none", "centred", "column"] = "none",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
        client: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
