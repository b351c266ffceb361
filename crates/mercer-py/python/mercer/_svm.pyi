from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._kernel_estimator import KernelEstimator

__all__ = ["MACHINE", "SupportVectorMachine"]

MACHINE: dict[str, list[Any]]

class SupportVectorMachine(KernelEstimator):
    degree: float
    coef0: float
    shrinking: bool
    tol: float
    cache_size: float
    max_iter: int
    device: str
    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: NDArray[np.float64]
    fit_status_: int
    shape_fit_: tuple[int, ...]
    @property
    def n_support_(self) -> NDArray[np.int32]: ...
    @property
    def coef_(self) -> Any: ...
