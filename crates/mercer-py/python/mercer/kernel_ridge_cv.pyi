from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.kernel import Kernel
from mercer.kernel_ridge import RidgeEstimator

__all__ = ["KernelRidgeCV"]

class KernelRidgeCV(RidgeEstimator):
    alphas: ArrayLike | None
    gammas: ArrayLike | None
    cv: Any
    scoring: str | Callable[..., float] | None
    alpha_: float
    gamma_: float | None
    best_score_: float
    cv_results_: dict[str, Any]
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
        approx: str | None = None,
        bias: Literal["none", "centred", "column"] = "none",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
