from typing import Any

from mercer._estimator import Estimator

__all__ = ["GaussianProcess"]

FREE: str
FIXED: str

class GaussianProcess(Estimator):
    kernel: Any
    optimizer: Any
    n_restarts_optimizer: int
    copy_X_train: bool
    random_state: Any
    device: str
