from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Components"]

class Components:
    n_components: int
    def fit_transform(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.floating]: ...
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]: ...
    def set_output(self, *, transform: str | None = None) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
