from os import PathLike
from typing import Any

from mercer._estimator import Estimator
from mercer.kernel import Kernel

__all__ = ["KernelEstimator"]

class KernelEstimator(Estimator):
    kernel: Any
    @property
    def kernel_(self) -> Kernel | None: ...
    def save(self, path: str | PathLike[str]) -> None: ...
