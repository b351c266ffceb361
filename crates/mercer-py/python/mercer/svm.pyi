from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._file_fits import FileFits
from mercer._svm import SupportVectorMachine
from mercer._svm_classifier import SupportVectorClassifier
from mercer.kernel import Kernel

__all__ = ["NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"]

class SVC(FileFits, SupportVectorClassifier):
    C: float
    gamma: Literal["scale", "auto"] | float
    approx: str | None
    approx_: str | None
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto"] | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | Literal["deprecated"] = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        approx: str | None = None,
    ) -> None: ...

class NuSVC(SupportVectorClassifier):
    nu: float
    gamma: Literal["scale", "auto"] | float
    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto"] | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | Literal["deprecated"] = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None: ...

class _Regression(SupportVectorMachine):
    n_iter_: int
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

class SVR(_Regression):
    C: float
    epsilon: float
    gamma: Literal["scale", "auto"] | float
    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto"] | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None: ...

class NuSVR(_Regression):
    nu: float
    C: float
    gamma: Literal["scale", "auto"] | float
    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto"] | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None: ...

class OneClassSVM(SupportVectorMachine):
    nu: float
    gamma: Literal["scale", "auto"] | float
    offset_: NDArray[np.float64]
    n_iter_: int
    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: float = 3,
        gamma: Literal["scale", "auto"] | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def score_samples(self, X: Any) -> NDArray[np.float64]: ...
    def predict(self, X: Any) -> NDArray[np.intp]: ...
