from os import PathLike
from typing import Any

from mercer._machine import Machine
from mercer.kernel import Kernel

class KernelMachine(Machine):
    kernel: Any
    @property
    def kernel_(self) -> Kernel | None: ...
    def save(self, path: str | PathLike[str]) -> None: ...

def scale_gamma(X: Any) -> float: ...
