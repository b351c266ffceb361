"""k nearest neighbours."""

from numbers import Integral

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._constraints import ON_DEVICE, POSITIVE_OR_INFINITE, at_least, has_methods, one_of
from mercer._estimator import Estimator, fitting
from mercer._neighbour_search import METRICS, OTHERS, search_of
from mercer._rows import borrowable, is_sparse
from mercer._warn import warn

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor"]

#: Distances that SciPy computes, between dense rows.
OF_SCIPY = (
    "braycurtis canberra correlation cosine dice hamming jaccard mahalanobis rogerstanimoto russellrao seuclidean "
    "sokalsneath sqeuclidean yule"
).split()

_PARAMETERS = """
    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Weights of the neighbours: equal, or 1/distance (neighbours at distance 0 then take all the weight). A callable maps an
        array of distances to one of weights; if it gives all neighbours of a query weight 0, a prediction is an error.
    algorithm : {"auto", "brute", "ball_tree", "kd_tree"}, default="auto"
        Accepted for compatibility with scikit-learn; the search is always exact and over all rows.
    leaf_size : int, default=30
        Accepted for compatibility with scikit-learn; not used.
    p : float, default=2
        The exponent of ``metric="minkowski"``: 1 is the Manhattan, 2 the Euclidean and ``inf`` the Chebyshev distance.
    metric : str, callable or DistanceMetric, default="minkowski"
        ``minkowski``, ``euclidean`` (``l2``), ``manhattan`` (``l1``, ``cityblock``) or ``chebyshev`` (``infinity``), in native
        code; ``nan_euclidean``, the Euclidean distance over the columns in which neither row is NaN; ``haversine``, the angle
        between two points of a sphere by latitude and longitude in radians; ``precomputed``, where X
        holds distances to the training rows, as a matrix or a sparse graph; another distance of SciPy by its name; or a
        function of two rows, called for every pair.
    metric_params : dict, default=None
        Keyword arguments of the distance, such as the weights ``w`` of the columns in ``minkowski``.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where neighbours by a native distance are found; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.
"""


class _KNeighbors(Estimator):
    """Base of both estimators: the rows, and the search among them."""

    _parameter_constraints = {
        **ON_DEVICE,
        "n_neighbors": [at_least(1)],
        "weights": [one_of("uniform", "distance"), callable, None],
        "algorithm": [one_of("auto", "ball_tree", "kd_tree", "brute")],
        "leaf_size": [at_least(1)],
        "p": [POSITIVE_OR_INFINITE, None],
        "metric": [one_of(*METRICS, *OF_SCIPY, *OTHERS, "precomputed"), callable, has_methods("pairwise")],
        "metric_params": [dict, None],
    }

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
        device="cpu",
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
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is("precomputed")
        tags.input_tags.allow_nan = self._is("nan_euclidean")
        return tags

    def _is(self, name):
        return isinstance(self.metric, str) and self.metric == name

    def _takes_sparse(self):
        return not self._is("nan_euclidean")

    def _x_checks(self):
        return {**super()._x_checks(), "ensure_all_finite": "allow-nan" if self._is("nan_euclidean") else True}

    def _keep(self, X):
        if self._is("precomputed"):
            _refuse_negative(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        if is_sparse(X) and isinstance(self.metric, str) and self.metric not in (*METRICS, "precomputed"):
            raise ValueError(f"Metric '{self.metric}' not valid for sparse input. Use one of {sorted(METRICS)}.")
        if is_sparse(X) and self.algorithm in ("ball_tree", "kd_tree"):
            warn("cannot use tree with sparse input: using brute force")
        if callable(self.metric) and self.algorithm == "kd_tree":
            raise ValueError("kd_tree does not support callable metric: use algorithm='auto'")
        self._settle_metric()
        self.n_samples_fit_ = X.shape[0]
        self._fit_X, self._fit_method = X, "brute"

    def _settle_metric(self):
        """Set `effective_metric_` and `effective_metric_params_`."""
        parameters = dict(self.metric_params or {})
        p = parameters.pop("p", self.p)
        if "p" in (self.metric_params or {}) and self.p is not None:
            warn("Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.", SyntaxWarning)
        by_p = isinstance(self.metric, str) and METRICS.get(self.metric) == "minkowski"
        p = 2 if p is None else p
        if by_p and p < 1:
            if self.algorithm in ("ball_tree", "kd_tree"):
                raise ValueError(
                    f'algorithm="{self.algorithm}" does not support 0 < p < 1 for the Minkowski metric. To resolve this problem '
                    'either set p >= 1 or algorithm="brute".'
                )
            warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with "
                "`algorithm='brute'`."
            )
        self.effective_metric_, self.effective_metric_params_ = self.metric, parameters
        if by_p:
            weighted = parameters.get("w") is not None
            named = None if weighted else {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p)
            if named is None:
                self.effective_metric_params_ = {"w": None, **parameters, "p": p}
            else:
                self.effective_metric_, self.effective_metric_params_ = named, {}

    def _search(self):
        parameters = {name: value for name, value in self.effective_metric_params_.items() if name != "p"}
        return search_of(self.effective_metric_, self.effective_metric_params_.get("p", 2), parameters)

    def _check_count(self, name, count):
        if isinstance(count, bool) or not isinstance(count, Integral):
            raise TypeError(f"{name} does not take {type(count)} value, enter integer value")
        if count < 1:
            raise ValueError(f"Expected {name} > 0. Got {count}")

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """Return the nearest rows of each row of X, nearest first; ties are resolved by row order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            None for the training rows; a row is then not its own neighbour.
        n_neighbors : int, default=None
            None uses the value of the estimator.
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
        if self._is("precomputed") and is_sparse(X) and X.format not in ("csr", "csc", "coo", "lil"):
            raise TypeError(f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros")
        X = self._fit_X if own else self._predict_input(X)
        if k + own > self.n_samples_fit_:
            raise ValueError(
                f"Expected n_neighbors {'<' if own else '<='} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {self.n_samples_fit_}, n_samples = {X.shape[0]}"
            )
        if self._is("precomputed") and not own:
            _refuse_negative(X)
        with self._job() as job:
            distances, indices = self._search().nearest(self._fit_X, X, k + own, job)
        if own:
            distances, indices = _without_self(distances, indices)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors=None, mode="connectivity"):
        """Return the sparse matrix of neighbours: 1 (``mode="connectivity"``) or the distance (``"distance"``) at each.

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
        """Return the weights of the neighbours, or None if they all count the same."""
        if callable(self.weights):
            weights = np.asarray(self.weights(distances), dtype=np.float64)
            if not weights.any(axis=1).all():
                raise ValueError(
                    "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you "
                    "are using a user-defined function."
                )
            return weights
        if self.weights != "distance":
            return None
        # Relative to the nearest row's weight, so that none overflows.
        nearest = distances[:, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(distances == nearest, 1.0, nearest / distances)

    def _parts(self):
        if callable(self.weights):
            raise ValueError("a model with weights given by a function cannot be saved; use 'uniform' or 'distance', or pickle it")
        search = self._search()
        if not search.saveable:
            raise ValueError(
                f"a model with metric={self.metric!r} cannot be saved: the file holds Euclidean, Manhattan, Chebyshev and Minkowski "
                "distances without weights of the columns; pickle the estimator"
            )
        settings = {
            "method": "knn",
            "k": int(self.n_neighbors),
            "weights": self.weights or "uniform",
            "metric": search.metric,
        }
        return self._train(settings, borrowable(self._fit_X), self._targets())[0]


def _refuse_negative(X):
    """Raise ValueError for distances below 0."""
    entries = X.data if is_sparse(X) else X
    if (entries < 0).any():
        raise ValueError("Negative values in data passed to precomputed distance matrix.")


def _without_self(distances, indices):
    """Drop each row's own index from its neighbours or, if duplicates displaced it, its last neighbour."""
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
    effective_metric_ : str or callable
        The distance, ``minkowski`` by its simpler name where it has one.
    effective_metric_params_ : dict
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

    @fitting
    def fit(self, X, y):
        """Store the rows and their targets.

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
        """Return the mean of the neighbours' targets at every row of X (None: at the training rows, without themselves).

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
    classes_ : ndarray of shape (n_classes,), or a list of arrays if y has several columns
    outputs_2d_ : bool
    effective_metric_ : str or callable
        The distance, ``minkowski`` by its simpler name where it has one.
    effective_metric_params_ : dict
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

    @fitting
    def fit(self, X, y):
        """Store the rows and their classes.

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
        if y.ndim == 2 and y.shape[1] == 1:
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
                "example using ravel().",
                DataConversionWarning,
            )
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
        """Return the class with the most votes at every row of X (None: at the training rows, without themselves).

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
        """Return the share of the votes of each class.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes), or a list of arrays if y has several columns
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
            raise ValueError("a model file holds only one classification target; pickle an estimator with several")
        return self._codes[:, 0].astype(np.uintp), len(self.classes_)


def _votes(codes, weights, n_classes):
    shares = np.zeros((len(codes), n_classes))
    rows = np.broadcast_to(np.arange(len(codes))[:, None], codes.shape)
    np.add.at(shares, (rows, codes), weights)
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total == 0, 1, total)
