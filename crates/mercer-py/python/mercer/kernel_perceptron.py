"""The kernel perceptron."""

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer import _native
from mercer._constraints import ANY_KERNEL, ON_DEVICE, at_least, one_of
from mercer._estimator import fitting
from mercer._kernel_classifier import KernelClassifier
from mercer._rows import borrowable, handed_back

__all__ = ["KernelPerceptron"]


def _streams(perceptron):
    if perceptron.budget is None or perceptron.vote:
        raise AttributeError("partial_fit needs a budget, KernelPerceptron(budget=500), and no votes")
    return True


def _votes(perceptron):
    if not perceptron.vote:
        raise AttributeError("predict_proba requires vote=True: the probabilities are shares of votes")
    return True


class KernelPerceptron(KernelClassifier):
    """The kernel perceptron: adds misclassified rows to the decision function until none is left.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`. There is no intercept: add ``+ 1`` to a formula for a penalised one.
    max_iter : int, default=100
        Maximum number of passes over the rows.
    shuffle : bool, default=True
        Shuffles the rows before each pass.
    averaged : bool, default=True
        Uses the average of the decision functions after each visit instead of the last one.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of scikit-learn's kernel names.
    degree : float, default=3
    coef0 : float, default=0.0
    rule : {"direct", "one-vs-rest"}, default="direct"
        For more than two classes: a mistake updates the true and the predicted class, or each class is learnt against all
        others.
    vote : bool, default=False
        Every intermediate decision function votes, weighted by the number of rows it survived; ``averaged`` is then ignored.
    budget : int, default=None
        Maximum number of rows to keep; the least important one is projected onto the others. The last decision function is
        used. Required by `partial_fit`.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    random_state : int, RandomState instance or None, default=None
        The order of the rows; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_centres, 1) or (n_centres, n_classes)
        Not available if ``vote=True``.
    intercept_ : ndarray of zeros
        Not available if ``vote=True``.
    X_fit_ : {ndarray, sparse matrix} of shape (n_centres, n_features)
        The training rows; with ``vote`` the misclassified ones, with a ``budget`` the kept ones.
    n_iter_ : int
        Passes made.
    n_mistakes_ : int
        Updates made.
    margin_ : float or None
        The distance of the nearest row to the boundary in the feature space, if the classes were separated.
    mistake_bound_ : float or None
        R²/γ², an upper bound on the number of mistakes for every order of the rows.
    kernel_ : Kernel or None
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from mercer import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron("(<x,z>+1)^2", random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 1, 1, 0]
    """

    _method = "perceptron"
    _parameter_constraints = {
        **ON_DEVICE,
        **ANY_KERNEL,
        "max_iter": [at_least(1)],
        "shuffle": ["boolean"],
        "averaged": ["boolean"],
        "rule": [one_of("direct", "one-vs-rest")],
        "vote": ["boolean"],
        "budget": [at_least(1), None],
    }

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
        vote=False,
        budget=None,
        kernel_params=None,
        random_state=None,
        n_jobs=None,
        device="cpu",
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
        self.vote = vote
        self.budget = budget
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # With overlapping classes, the last decision function depends mostly on the last rows.
        tags.classifier_tags.poor_score = self.budget is not None
        return tags

    @fitting
    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._fit_input(X, y)
        codes = self._classes(y)
        with self._fit_task(X, y):
            self._choose_kernel(X)
            self._check_formula()
            self._forget("intercept_")
            parts, report = self._learn(X, (codes, len(self.classes_)))
            if self.vote:
                self._kept, self.X_fit_ = parts, handed_back(parts["centres"], X)
            else:
                self._keep(X, parts, report, own_centres=self.budget is not None)
            self._report_result(report)
            facts = report["facts"]
            self.n_mistakes_, self.margin_, self.mistake_bound_ = (facts[k] for k in ("mistakes", "margin", "mistake_bound"))
        return self

    def _check_formula(self):
        if self._choice.native is None and (self.vote or self.budget is not None):
            form = "vote=True" if self.vote else "a budget"
            raise ValueError(f"{form} needs a kernel text, a mercer.Kernel or a named kernel")

    def _is_random(self):
        return super()._is_random() or self.shuffle

    def _settings(self):
        return {
            "epochs": int(self.max_iter),
            "shuffle": bool(self.shuffle),
            "averaged": bool(self.averaged),
            "vote": bool(self.vote),
            "budget": None if self.budget is None else int(self.budget),
            "multiclass": self.rule,
        }

    @available_if(_streams)
    @fitting
    def partial_fit(self, X, y, classes=None):
        """Learn from the rows of X in their order, within the ``budget``, continuing from the previous state.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes; required by the first call.

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "dual_coef_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = self._fit_input(X, y, reset=first)
        check_classification_targets(y)
        if first:
            self.classes_ = np.unique(classes)
            self._choose_kernel(X)
            self._check_formula()
            columns = 1 if len(self.classes_) == 2 else len(self.classes_)
            self.X_fit_, self.dual_coef_ = np.empty((0, X.shape[1])), np.empty((0, columns))
            self.n_mistakes_ = 0
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y contains classes that were not in the first call: {unknown.tolist()}")
        codes = np.searchsorted(self.classes_, y).astype(np.uintp)
        settings, targets = self._kernel_settings(), (codes, len(self.classes_))
        with self._job() as job:
            parts, mistakes = _native.update_perceptron(
                settings, self.X_fit_, self.dual_coef_, borrowable(X), targets, job
            )
        self._keep(X, parts, {"centres": None}, own_centres=True)
        self.n_mistakes_ += mistakes
        words = {"averaged": bool(self.averaged), "epochs": int(self.max_iter), "seed": self._fit_seed}
        report = {"mistakes": self.n_mistakes_}
        self._words = {"method": self._method, "settings": words, "report": report, "outputs": ["0"]}
        return self

    def _not_converged(self, report):
        return f"the classes are not separated after {report['iterations']} passes: overlapping classes never are"

    def _check_parameters(self):
        if self.vote and self.budget is not None:
            raise ValueError("vote=True keeps every mistaken row, so it has no budget; give one of them")

    def decision_function(self, X):
        """Return f at every row of X; with votes, the share of the second class less that of the first, or that of each class.

        Returns
        -------
        f : ndarray of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)
        """
        check_is_fitted(self)
        if self._kept is None:
            return super().decision_function(X)
        shares = self._outputs(self._predict_input(X))
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares

    @available_if(_votes)
    def predict_proba(self, X):
        """Return the share of the votes for each class at every row of X; requires ``vote=True``.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        return self._outputs(self._predict_input(X))
