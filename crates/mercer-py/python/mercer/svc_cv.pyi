from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._svm_classifier import SupportVectorClassifier
from mercer.kernel import Kernel

__all__ = ["SVCCV"]

class SVCCV(SupportVectorClassifier):
    Cs: ArrayLike | None
    gammas: ArrayLike | None
    cv: Any
    C_: float
    gamma_: float | None
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]
    n_splits_: int
    def __init__(
        self,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        *,
        Cs: ArrayLike | None = None,
        gammas: ArrayLike | None = None,
        cv: int | Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]] | Any = 5,
        degree: float = 3,
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
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> SVCCV: ...
