from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_classifier import KernelClassifier
from mercer.kernel import Kernel

__all__ = ["KernelPerceptron"]

class KernelPerceptron(KernelClassifier):
    shuffle: bool
    averaged: bool
    gamma: Literal["scale", "auto"] | float
    rule: Literal["direct", "one-vs-rest"]
    vote: bool
    budget: int | None
    kernel_params: Mapping[str, Any] | None
    n_mistakes_: int
    margin_: float | None
    mistake_bound_: float | None
    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        max_iter: int = 100,
        shuffle: bool = True,
        averaged: bool = True,
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        rule: Literal["direct", "one-vs-rest"] = "direct",
        vote: bool = False,
        budget: int | None = None,
        kernel_params: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike) -> Self: ...
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
