from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base import KernelMachine

class SupportVectorMachine(KernelMachine):
    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: NDArray[np.float64]
    fit_status_: int
    shape_fit_: tuple[int, ...]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    @property
    def n_support_(self) -> NDArray[np.int32]: ...
    @property
    def coef_(self) -> Any: ...
