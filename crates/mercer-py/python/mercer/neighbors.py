"""k nearest neighbours."""

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._estimator import Estimator, with_callbacks
from mercer._rows import borrowable

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor"]

#: The names of the two distances.
METRICS = {"euclidean": "euclidean", "l2": "euclidean", "manhattan": "manhattan", "l1": "manhattan", "cityblock": "manhattan"}

_PARAMETERS = """
    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        How neighbours count: all the same, or by 1/distance (a neighbour at distance 0 then takes all). A callable maps an
        array of distances to one of weights.
    algorithm : {"auto", "brute", "ball_tree", "kd_tree"}, default="auto"
        Accepted as scikit-learn's; the search is always exact and over all rows.
    leaf_size : int, default=30
        Accepted as scikit-learn's, and not used.
    p : float, default=2
        1 for the Manhattan and 2 for the Euclidean distance, with ``metric="minkowski"``.
    metric : str, default="minkowski"
        ``minkowski``, ``euclidean`` (``l2``) or ``manhattan`` (``l1``, ``cityblock``).
    metric_params : None
        Accepted as scikit-learn's.
    n_jobs : int, default=None
        Threads; None for all cores.
    verbose : int, default=0
        Shows progress where it is not 0.
"""


class _KNeighbors(Estimator):
    """What both estimators share: the rows, and the search among them."""

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _keep(self, X):
        self._check_count("n_neighbors", self.n_neighbors)
        self._check_option("algorithm", ("auto", "brute", "ball_tree", "kd_tree"))
        if not callable(self.weights):
            self._check_option("weights", ("uniform", "distance", None))
        self.effective_metric_ = self._metric()
        self.n_samples_fit_ = X.shape[0]
        self._fit_X = X

    def _metric(self):
        metric = self.metric
        if metric == "minkowski":
            if self.p not in (1, 2):
                raise ValueError(
                    f"The 'p' parameter of {type(self).__name__} must be 1 (Manhattan) or 2 (Euclidean). Got {self.p!r} instead."
                )
            return "manhattan" if self.p == 1 else "euclidean"
        if not isinstance(metric, str) or metric not in METRICS:
            raise ValueError(
                f"The 'metric' parameter of {type(self).__name__} must be one of "
                f"{['minkowski', *METRICS]}. Got {metric!r} instead."
            )
        return METRICS[metric]

    def _check_count(self, name, count):
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise TypeError(f"{name} does not take {type(count)} value, enter integer value")
        if count < 1:
            raise ValueError(f"Expected {name} > 0. Got {count}")

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """The nearest rows of each row of X, nearest first; of equal ones the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            None for the training rows, each of which is then not a neighbour of itself.
        n_neighbors : int, default=None
            None for that of the estimator.
        return_distance : bool, default=True

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), where `return_distance`
        indices : ndarray of shape (n_queries, n_neighbors)
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        self._check_count("n_neighbors", k)
        own = X is None
        X = self._fit_X if own else self._predict_input(X)
        if k + own > self.n_samples_fit_:
            raise ValueError(
                f"Expected n_neighbors {'<' if own else '<='} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {self.n_samples_fit_}, n_samples = {X.shape[0]}"
            )
        with self._job() as job:
            distances, indices = _native.nearest(
                borrowable(self._fit_X), borrowable(X), k + own, self.effective_metric_, job
            )
        if own:
            distances, indices = _without_self(distances, indices)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """The sparse matrix of neighbours: 1 (``mode="connectivity"``) or the distance (``"distance"``) at each.

        Returns
        -------
        graph : sparse matrix of shape (n_queries, n_samples_fit)
        """
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')
        distances, indices = self.kneighbors(X, n_neighbors)
        values = distances if mode == "distance" else np.ones_like(distances)
        starts = np.arange(0, indices.size + 1, indices.shape[1])
        return csr_matrix((values.ravel(), indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))

    def _neighbour_weights(self, distances):
        """Weights of the neighbours, or None where they all count the same."""
        if self.weights in (None, "uniform"):
            return None
        if callable(self.weights):
            return np.asarray(self.weights(distances), dtype=np.float64)
        exact = distances == 0
        with np.errstate(divide="ignore"):
            weights = 1 / distances
        return np.where(exact.any(axis=1, keepdims=True), exact, weights)

    def _parts(self):
        if callable(self.weights):
            raise ValueError("a model whose weights are a function cannot be saved; use 'uniform' or 'distance', or pickle it")
        settings = {
            "method": "knn",
            "k": int(self.n_neighbors),
            "weights": self.weights or "uniform",
            "metric": self.effective_metric_,
        }
        return self._train(settings, borrowable(self._fit_X), self._targets())[0]


def _without_self(distances, indices):
    """Takes from each row its own number or, where duplicates pushed that out, its last neighbour."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return distances[~own].reshape(shape), indices[~own].reshape(shape)


class KNeighborsRegressor(MultiOutputMixin, RegressorMixin, _KNeighbors):
    __doc__ = f"""The mean of the k nearest neighbours' targets.

    Nothing is computed before predictions are asked for; those of m rows take O(mnd) time and a few tiles of memory.
    {_PARAMETERS}
    Attributes
    ----------
    effective_metric_ : str
    n_samples_fit_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from mercer import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.4]])
    array([0.5])
    """

    @with_callbacks
    def fit(self, X, y):
        """Keeps the rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self
        """
        X, y = self._fit_input(X, y, multi_output=True, y_numeric=True)
        with self._fit_task(X, y):
            self._keep(X)
            self._y = y
        return self

    def predict(self, X):
        """The mean of the neighbours' targets at every row of X (None: at the training rows, without themselves).

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        distances, indices = self.kneighbors(X)
        weights = self._neighbour_weights(distances)
        y = self._y.astype(np.float64, copy=False)
        if weights is None:
            return y[indices].mean(axis=1)
        if y.ndim == 2:
            weights = weights[:, :, None]
        return (y[indices] * weights).sum(axis=1) / weights.sum(axis=1)

    def _targets(self):
        return np.ascontiguousarray(self._y, dtype=np.float64).reshape(len(self._y), -1)


class KNeighborsClassifier(ClassifierMixin, _KNeighbors):
    __doc__ = f"""The vote of the k nearest neighbours.

    Nothing is computed before predictions are asked for; those of m rows take O(mnd) time and a few tiles of memory. Of
    classes with as many votes the first wins.
    {_PARAMETERS}
    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of such where y has several columns
    outputs_2d_ : bool
    effective_metric_ : str
    n_samples_fit_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from mercer import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.predict([[1.1]]).tolist(), model.predict_proba([[1.1]]).round(2).tolist()
    (['a'], [[0.67, 0.33]])
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    @with_callbacks
    def fit(self, X, y):
        """Keeps the rows and their classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self
        """
        X, y = self._fit_input(X, y, multi_output=True)
        check_classification_targets(y)
        with self._fit_task(X, y):
            self._keep(X)
            self.outputs_2d_ = y.ndim == 2 and y.shape[1] > 1
            columns = y.reshape(len(y), -1).T
            found = [np.unique(column, return_inverse=True) for column in columns]
            self._codes = np.stack([codes.ravel() for _, codes in found], axis=1)
            classes = [labels for labels, _ in found]
            self.classes_ = classes if self.outputs_2d_ else classes[0]
        return self

    def predict(self, X):
        """The class with the most votes at every row of X (None: at the training rows, without themselves).

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        shares = self.predict_proba(X)
        if not self.outputs_2d_:
            return self.classes_[shares.argmax(axis=1)]
        columns = [labels[share.argmax(axis=1)] for labels, share in zip(self.classes_, shares, strict=True)]
        return np.stack(columns, axis=1)

    def predict_proba(self, X):
        """The share of the votes of each class.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes), or a list of such where y has several columns
        """
        distances, indices = self.kneighbors(X)
        weights = self._neighbour_weights(distances)
        weights = np.ones(indices.shape) if weights is None else weights
        all_classes = self.classes_ if self.outputs_2d_ else [self.classes_]
        shares = [
            _votes(codes[indices], weights, len(labels)) for codes, labels in zip(self._codes.T, all_classes, strict=True)
        ]
        return shares if self.outputs_2d_ else shares[0]

    def _targets(self):
        if self.outputs_2d_:
            raise ValueError("a model file holds one target of classes; pickle an estimator with several")
        return self._codes[:, 0].astype(np.uintp), len(self.classes_)


def _votes(codes, weights, n_classes):
    shares = np.zeros((len(codes), n_classes))
    rows = np.broadcast_to(np.arange(len(codes))[:, None], codes.shape)
    np.add.at(shares, (rows, codes), weights)
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total == 0, 1, total)
