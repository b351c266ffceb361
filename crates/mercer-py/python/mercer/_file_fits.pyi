import os
from collections.abc import Sequence
from typing import Literal

from mercer.model import Model

__all__ = ["FileFits"]

class FileFits:
    def fit_file(
        self,
        path: str | os.PathLike[str],
        *,
        target: str | int | Sequence[str | int] | None = None,
        categorical: Sequence[str | int] = (),
        missing: Literal["error", "drop", "mean"] = "error",
        scale: Literal["standard", "minmax", "none"] = "standard",
        dtype: Literal["float64", "float32"] = "float64",
        holdout: float = 0.0,
    ) -> Model: ...
