"""The kernel perceptron."""

import numpy as np

from mercer import _native
from mercer._classifier import KernelClassifier
from mercer._machine import with_callbacks
from mercer._rows import borrowable

__all__ = ["KernelPerceptron"]


class KernelPerceptron(KernelClassifier):
    """The kernel perceptron: a row that is not on its own side is added to the decision, until none is left.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`. There is no intercept: add ``+ 1`` to a formula for a penalised one.
    max_iter : int, default=100
        Passes over the rows at most.
    shuffle : bool, default=True
        A new order of the rows in each pass.
    averaged : bool, default=True
        The mean of all decisions along the way, instead of the last one.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of scikit-learn's kernel names.
    degree : float, default=3
    coef0 : float, default=0.0
    rule : {"direct", "one-vs-rest"}, default="direct"
        For more than two classes: a mistake moves the right and the wrong class against each other, or each class learns
        against all others.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    random_state : int, RandomState instance or None, default=None
        The order of the rows; None is a fixed seed.
    n_jobs : int, default=None
        Threads; None for all cores.
    verbose : int, default=0
        Shows progress where it is not 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes)
    intercept_ : ndarray of zeros
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
    n_iter_ : int
        Passes made.
    n_mistakes_ : int
        Updates made.
    margin_ : float or None
        The distance of the nearest row to the boundary in the feature space, where the classes were separated.
    mistake_bound_ : float or None
        R²/γ², which no order of the rows exceeds.
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from mercer import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron("(<x,z>+1)^2").fit(X, y)
    >>> model.predict(X).tolist()
    [0, 1, 1, 0]
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        max_iter=100,
        shuffle=True,
        averaged=True,
        gamma="scale",
        degree=3,
        coef0=0.0,
        rule="direct",
        kernel_params=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.averaged = averaged
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rule = rule
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y):
        """Fits the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix where ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        self._check_option("rule", ("direct", "one-vs-rest"))
        self._check_real("max_iter", low=1)
        X, y = self._fit_input(X, y)
        codes = self._classes(y)
        with self._fit_task(X, y):
            choice = self._choose_kernel(X)
            problem = {
                "codes": codes,
                "classes": len(self.classes_),
                "passes": int(self.max_iter),
                "seed": self._fit_seed if self.shuffle else None,
                "averaged": bool(self.averaged),
                "direct": self.rule == "direct",
                "admit": choice.checked,
            }
            with self._job() as job:
                if choice.native is not None:
                    dual, report = _native.fit_perceptron(choice.native, borrowable(X), problem, job)
                else:
                    K = np.ascontiguousarray(choice.matrix(X, None, job), dtype=np.float64)
                    dual, report = _native.fit_perceptron_gram(K, problem, job)
            self._tell(report)
            self.n_mistakes_ = report["mistakes"]
            self.margin_, self.mistake_bound_ = report["margin"], report["bound"]
            self._keep(X, dual, np.zeros(dual.shape[1]))
        return self

    def _model(self):
        return self._class_model("perceptron", {"epochs": int(self.max_iter)})
