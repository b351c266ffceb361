"""Support vector classification on a Dask cluster."""

from mercer import svm
from mercer._estimator import fitting
from mercer.dask._classifier import ClassifierOnDask
from mercer.dask._estimator import taking_client

__all__ = ["SVC"]


class SVC(ClassifierOnDask, svm.SVC):
    """Support vector classification on dask arrays and data frames, on features of the kernel.

    One machine for two classes, else one for each class against all others. The hinge is smoothed over a width that shrinks until
    the objective is provably within `tol` of its minimum: some tens to hundreds of passes over the rows. Keep the rows in the
    memory of the cluster (``X.persist()``) if they fit.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, tol, class_weight, max_iter, random_state, n_jobs, verbose, approx
        As in `mercer.SVC`. ``approx`` must not be None and is ``"auto"`` by default.
    shrinking, probability, cache_size, decision_function_shape, break_ties
        As in `mercer.SVC` with ``approx``: there are no pairs of classes and no probabilities.
    client : dask.distributed.Client, default=None
        None for the current one.

    Attributes
    ----------
    classes_, class_weight_, intercept_, kernel_, approx_, fit_status_, n_iter_, n_features_in_, feature_names_in_
        As in `mercer.SVC`.
    """

    _in_memory = svm.SVC
    _parameter_constraints = {**svm.SVC._parameter_constraints, "client": "no_validation"}

    __init__ = taking_client(svm.SVC)

    @fitting
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
        y : dask array or series of shape (n_samples,)
            The classes, partitioned like X.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weight of each row. Rows of weight 0 or less are ignored.

        Returns
        -------
        self
        """
        self._needs_features()
        self._check_parameters()
        with self._on_cluster() as cluster:
            rows, expected = self._partitions(X, y, sample_weight, classes=True, clip=True)
            found = self._found = self._survey_classes(cluster, rows, expected)
            self.class_weight_ = self._each_class_weight(found.counts)
            self._choose_kernel(found.sample)
            self._solve = lambda: self._solve_rows(cluster, rows, expected, found, self.class_weight_)
            self._fit_machines(found.sample, None, None)
            self.shape_fit_ = (found.rows, rows.columns)
        return self

    def _learn(self, X, targets, weights=None, outputs=(), **settings):
        return self._solve()
