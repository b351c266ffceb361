from typing import Any

from scipy.sparse.linalg import LinearOperator

from mercer.kernel import Kernel

__all__ = ["KernelOperator"]

class KernelOperator(LinearOperator):
    kernel: Kernel
    def __init__(self, kernel: Kernel, rows: Any, columns: Any, shape: tuple[int, int], n_jobs: int | None) -> None: ...
