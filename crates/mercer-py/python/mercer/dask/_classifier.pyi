from typing import Any

from mercer.dask._estimator import DaskEstimator

__all__ = ["ClassifierOnDask"]

class ClassifierOnDask(DaskEstimator):
    def decision_function(self, X: Any) -> Any: ...
    def predict(self, X: Any) -> Any: ...
