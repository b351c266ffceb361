"""Gaussian process regression on a Dask cluster, on inducing points."""

import re

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._constraints import ON_DEVICE, POSITIVE, InvalidParameterError, at_least, has_methods
from mercer._estimator import Estimator, fitting
from mercer._gp_kernels import text_of
from mercer._rows import borrowable, handed_back
from mercer.dask import _chunk
from mercer.dask._cluster import drive
from mercer.dask._estimator import DaskEstimator
from mercer.kernel import Kernel

__all__ = ["GaussianProcessRegressor"]

#: Rows of the sample for each inducing point. The library chooses the points from these rows.
CANDIDATES = 20


class GaussianProcessRegressor(DaskEstimator, MultiOutputMixin, RegressorMixin, Estimator):
    """Gaussian process regression on dask arrays and data frames, on inducing points.

    The function is represented by its values at M of the rows, and the hyper-parameters maximise a lower bound of the likelihood,
    computed from sums over the rows (Titsias 2009). They are learnt on a sample of 10·M rows first, so a few steps on all rows
    remain, each of which makes two passes over the rows. Keep the rows in the memory of the cluster (``X.persist()``) if they
    fit.

    Parameters
    ----------
    kernel : str, Kernel or kernel object, default=None
        A text such as ``"?*rbf(sigma=[?])"``, in which each ``?`` is learnt, one for each column in ``[?]``, and numbers stay as they
        are; or a `mercer.Kernel`. None is ``"?*rbf(sigma=[?])"``. The noise is not part of the kernel. An object of
        ``sklearn.gaussian_process.kernels`` is translated to text, with its bounds; a ``WhiteKernel`` in its sum is the noise.
    alpha : float, default=None
        The variance of the noise in the targets, above 0; None learns it.
    approx : str, default="nystrom:1024"
        ``"nystrom:M"`` takes M inducing points among the rows.
    n_restarts_optimizer : int, default=0
        Further searches on the sample, from random points within the bounds; the best one continues on all rows.
    max_iter : int, default=200
        Maximum number of steps of one search.
    normalize_y : bool, default=False
        Whether the targets are scaled to mean 0 and variance 1 first.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample, the inducing points and the restarts.
    n_jobs : int, default=None
        Threads on the client; workers use the threads that they have.
    device : {"cpu", "auto"}, default="cpu"
        Both are the CPU.
    verbose : int, default=0
        Shows progress if not 0.
    client : dask.distributed.Client, default=None
        None for the current one.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the learnt hyper-parameters.
    noise_ : float
        The variance of the noise.
    inducing_points_ : ndarray or sparse matrix of shape (M, n_features)
    log_marginal_likelihood_value_ : float
        The lower bound of the log marginal likelihood, of normalised targets if `normalize_y`.
    hyper_parameters_ : list of dict
        The unknowns with their values and columns.
    n_iter_ : int
        Steps on all rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    """

    _parameter_constraints = {
        **ON_DEVICE,
        "kernel": [None, str, has_methods("diag")],
        "alpha": [POSITIVE, None],
        "approx": [str],
        "n_restarts_optimizer": [at_least(0)],
        "max_iter": [at_least(1)],
        "normalize_y": ["boolean"],
        "random_state": ["random_state"],
        "client": "no_validation",
    }

    def __init__(
        self,
        kernel=None,
        *,
        alpha=None,
        approx="nystrom:1024",
        n_restarts_optimizer=0,
        max_iter=200,
        normalize_y=False,
        random_state=None,
        n_jobs=None,
        device="cpu",
        verbose=0,
        client=None,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.approx = approx
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter = max_iter
        self.normalize_y = normalize_y
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose
        self.client = client

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
        y : dask array, series or data frame of shape (n_samples,) or (n_samples, n_targets)
            Partitioned like X.
        sample_weight : dask array or series of shape (n_samples,), default=None
            The noise of a row of weight w has 1/w of the variance. Rows of weight 0 do not count.

        Returns
        -------
        self
        """
        self._points()
        with self._on_cluster() as cluster:
            rows, expected = self._partitions(X, y, sample_weight)
            found = self._survey(cluster, rows, expected, targets=True)
            self._fit_seed = self._seed()
            count, means, squares = found.target_moments
            sample = {
                "rows": borrowable(found.sample),
                "targets": np.ascontiguousarray(found.targets),
                "weights": found.sample_weights,
                "count": count,
                "means": means.tolist(),
                "squares": squares.tolist(),
            }
            settings = self._settings(found.sample.shape[1])
            with self._job() as job:
                shared = cluster.shared(_native.prepare_process(settings, sample, job))

            def answer(request):
                sent = cluster.sent(request)
                arguments = [(part, expected, shared, sent) for part in rows.parts]
                return cluster.reduce(request["kind"], _chunk.process, arguments, _chunk.add)

            names = rows.target_names or [str(place) for place in range(rows.targets)]
            with self._job() as job:
                parts, report = self._trained(drive(_native.RemoteFit.process(settings, sample, names, job), answer))
            self._process, self._single = parts, rows.y_ndim == 1
            facts = report["facts"]
            self.kernel_ = Kernel._of(parts["kernel"])
            self.noise_, self.log_marginal_likelihood_value_ = facts["noise"], facts["log_likelihood"]
            self.hyper_parameters_ = facts["parameters"]
            self.inducing_points_ = handed_back(parts["centres"], found.sample)
        self._report_result(report)
        return self

    def _points(self):
        match = re.fullmatch(r"nystrom:(\d+)", self.approx)
        if match is None:
            raise InvalidParameterError(
                f"The 'approx' parameter of {type(self).__name__} must be 'nystrom:M' with a number M of inducing points. "
                f"Got {self.approx!r} instead."
            )
        return int(match[1])

    def _sample_rows(self):
        return max(_native.sample_rows(None), CANDIDATES * self._points())

    def _settings(self, columns):
        kernel, noise = self.kernel, self.alpha
        if kernel is not None and not isinstance(kernel, (str, Kernel)):
            kernel, white = text_of(kernel, columns)
            if white != 0 and noise is not None:
                raise ValueError("the noise is either alpha or the WhiteKernel of the kernel, not both")
            noise = white or noise
        settings = {
            "method": "gp",
            "noise": noise,
            "normalise": bool(self.normalize_y),
            "restarts": self.n_restarts_optimizer,
            "max_iter": self.max_iter,
            "inducing": self._points(),
        }
        return settings if kernel is None else {**settings, "kernel": Kernel(kernel)._native}

    def _not_converged(self, report):
        return f"{type(self).__name__} did not converge in {report['iterations']} steps on all rows; increase max_iter"

    def predict(self, X, return_std=False):
        """Return the mean at every row of X, and the standard deviation of a new target: lazy dask collections if X is one.

        Parameters
        ----------
        X : dask array or data frame, or rows in memory, of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations as well.

        Returns
        -------
        y_mean : dask array or series, or an ndarray for rows in memory; with a second dimension for several targets
        y_std : as `y_mean`
            Only if `return_std` is True.
        """
        check_is_fitted(self)
        outputs = len(self._process["scales"])
        if not return_std:
            mean = self._lazily("_means", X, np.float64, outputs)
            return self._targets(mean, range(outputs), "prediction")
        # One task for both, which runs once if they are computed together.
        both = self._lazily("_means_and_deviations", X, np.float64, 2 * outputs)
        mean = self._targets(both, range(outputs), "prediction")
        return mean, self._targets(both, range(outputs, 2 * outputs), "std")

    def _means(self, X):
        return self._at(_native.predict, X)

    def _means_and_deviations(self, X):
        return np.hstack([self._at(_native.predict, X), self._at(_native.deviations, X)])

    def _at(self, native, X):
        X = self._predict_input(X)
        with self._job() as job:
            return native(self._parts(), borrowable(X), job)

    def _targets(self, values, columns, name):
        """Return some columns of predictions: 1-D if y was, and a series or frame for data frames."""
        frame = hasattr(values, "columns")
        if self._single:
            return values[columns[0]].rename(name) if frame else values[:, columns[0]]
        if frame:
            return values[list(columns)].rename(columns=lambda place: place - columns[0])
        return values[:, columns[0] : columns[-1] + 1]

    def _parts(self):
        check_is_fitted(self)
        return self._process


GaussianProcessRegressor._in_memory = GaussianProcessRegressor
