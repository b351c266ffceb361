import numpy as np
from numpy.typing import NDArray

class Approximated:
    approx: str | None
    approx_: str | None
    coef_: NDArray[np.float64]
