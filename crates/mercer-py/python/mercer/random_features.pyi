from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mercer._components import Components
from mercer._estimator import Estimator
from mercer._kernel_estimator import KernelEstimator
from mercer.kernel import Kernel

__all__ = ["RBFSampler", "RandomFourierFeatures"]

class RandomFourierFeatures(Components, KernelEstimator):
    orthogonal: bool
    form: Literal["auto", "pairs", "shifted"]
    qmc: bool
    random_state: Any
    random_weights_: NDArray[np.floating]
    random_offset_: NDArray[np.floating] | None
    amplitudes_: NDArray[np.floating]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        n_components: int = 100,
        *,
        orthogonal: bool = True,
        form: Literal["auto", "pairs", "shifted"] = "auto",
        qmc: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: None = None) -> Self: ...
    def transform(self, X: Any) -> NDArray[np.floating]: ...

class RBFSampler(Components, Estimator):
    gamma: float | Literal["scale"]
    random_state: Any
    random_weights_: NDArray[np.floating]
    random_offset_: NDArray[np.floating]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        *,
        gamma: float | Literal["scale"] = 1.0,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: None = None) -> Self: ...
    def transform(self, X: Any) -> NDArray[np.floating]: ...
