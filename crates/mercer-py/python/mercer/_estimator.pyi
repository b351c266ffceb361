from collections.abc import Callable
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimator", "defaults", "fitting"]

def fitting(fit_method: Callable[..., Any]) -> Callable[..., Any]: ...
def defaults(estimator: type) -> dict[str, Any]: ...

class Estimator:
    n_jobs: int | None
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def save(self, path: str | PathLike[str]) -> None: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def set_callbacks(self, *callbacks: Any) -> Self: ...
