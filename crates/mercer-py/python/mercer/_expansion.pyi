from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._base import KernelMachine

class ExpansionMachine(KernelMachine):
    dual_coef_: NDArray[np.float64]
    intercept_: float | NDArray[np.float64]
    X_fit_: Any
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def predict(self, X: Any) -> NDArray[np.floating]: ...
    def plot(self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Any = None) -> Any: ...

def column_names(y: Any) -> list[str] | None: ...
