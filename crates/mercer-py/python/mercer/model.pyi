from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernel import Kernel

__all__ = ["Model", "load"]

def load(path: str | PathLike[str]) -> Model: ...

class Model:
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(self, native: Any) -> None: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def outputs(self) -> list[str]: ...
    @property
    def info(self) -> dict[str, Any]: ...
    def predict(self, X: Any, *, n_jobs: int | None = None, verbose: int = 0) -> NDArray[np.floating]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
