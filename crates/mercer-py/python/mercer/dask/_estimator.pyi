from collections.abc import Callable
from typing import Any

__all__ = ["DaskEstimator", "taking_client"]

def taking_client(base: type) -> Callable[..., None]: ...

class DaskEstimator:
    client: Any
    def __getstate__(self) -> dict[str, Any]: ...
