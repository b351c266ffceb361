from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["scale_gamma"]

def scale_gamma(X: Any, weights: NDArray[np.float64] | None = None) -> float: ...
