from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_classifier import KernelClassifier
from mercer._svm import SupportVectorMachine

__all__ = ["CLASSIFIER", "SupportVectorClassifier"]

CLASSIFIER: dict[str, list[Any]]

class SupportVectorClassifier(SupportVectorMachine, KernelClassifier):  # type: ignore[misc]
    probability: bool | Literal["deprecated"]
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    decision_function_shape: Literal["ovr", "ovo"]
    break_ties: bool
    class_weight_: NDArray[np.float64]
    n_iter_: NDArray[np.intp]  # type: ignore[assignment]
    @property
    def probA_(self) -> NDArray[np.float64]: ...
    @property
    def probB_(self) -> NDArray[np.float64]: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]: ...
