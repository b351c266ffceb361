"""Nyström features."""

import numpy as np
from sklearn.utils import check_random_state

from mercer import _native
from mercer._components import Components
from mercer._constraints import FINITE, FORMULA_OR_NAME, NON_NEGATIVE, ON_DEVICE, one_of
from mercer._estimator import fitting
from mercer._kernel_choice import PAIRWISE_NAMES, Precomputed, of_name
from mercer._kernel_estimator import KernelEstimator
from mercer._rows import as_matrix, borrowable
from mercer._warn import warn
from mercer.kernel import Kernel

__all__ = ["Nystroem"]

#: The ways to choose landmarks, with their names in the native code.
CHOICES = {"uniform": "uniform", "k-means++": "k_means_plus_plus", "rpcholesky": "randomly_pivoted"}


class Nystroem(Components, KernelEstimator):
    """Features of a kernel from its values with a few landmarks: ⟨φ(x), φ(z)⟩ ≈ k(x, z), exact between landmarks.

    φ(x) = N·k(x) with k(x) the kernel values of x with the landmarks and NᵀN the inverse of their kernel matrix.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelRidge`.
    gamma : float, default=None
        γ of scikit-learn's kernels; None is 1/n_features (1 for ``chi2``).
    coef0 : float, default=None
        Constant of ``poly`` and ``sigmoid``; None is 1.
    degree : float, default=None
        Degree of ``poly``; None is 3.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel, or further parameters of a named one.
    n_components : int, default=100
        The number of landmarks. More than the number of rows gives a warning and is reduced.
    landmarks : {"uniform", "k-means++", "rpcholesky"} or array-like of shape (n_landmarks, n_features), default="uniform"
        How they are chosen: random rows, the same as scikit-learn's for the same seed; rows far from one another; randomly
        pivoted Cholesky; or the given landmarks, which override `n_components`.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice and of the rows sampled for ``auto``; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    device : {"cpu", "auto", "cuda", "cuda:N"}, default="cpu"
        Where kernel values are computed; ``"auto"`` is the first GPU, or the CPU if there is none.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    components_ : {ndarray, sparse matrix} of shape (n_components, n_features)
        The landmarks.
    component_indices_ : ndarray of shape (n_components,) or None
        Their row numbers; None for given landmarks.
    normalization_ : ndarray of shape (n_components, n_components)
        N. It is the inverse of the Cholesky factor of the landmarks' kernel matrix, with a row of zeros for each landmark
        that is redundant up to rounding; the symmetric root if the kernel is not known to be positive semidefinite.
    kernel_ : Kernel or None
        The kernel with every ``auto`` replaced by a number.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Kernel, Nystroem
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> phi = Nystroem("rbf(sigma=1)", n_components=15, landmarks="rpcholesky", random_state=0).fit_transform(X)
    >>> bool(abs(phi @ phi.T - Kernel("rbf(sigma=1)")(X)).max() < 1e-3)
    True
    """

    _parameter_constraints = {
        **ON_DEVICE,
        **FORMULA_OR_NAME,
        **Components._parameter_constraints,
        "coef0": [FINITE, None],
        "degree": [NON_NEGATIVE, None],
        "landmarks": [one_of(*CHOICES), "array-like", "sparse matrix"],
    }

    #: (indices of the landmarks that are not redundant, L with LLᵀ their kernel matrix), if N is L⁻¹.
    _lower = None

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        landmarks="uniform",
        random_state=None,
        n_jobs=None,
        device="cpu",
        verbose=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @fitting
    def fit(self, X, y=None):
        """Choose the landmarks and factors their kernel matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, or the kernel matrix if ``kernel="precomputed"``.
        y : None
            Not used.

        Returns
        -------
        self
        """
        self._check_kernel_parameters()
        X = self._fit_input(X, "no_validation")
        choice = self._choose_kernel(X)
        if isinstance(self.landmarks, str):
            self.component_indices_ = self._choose_landmarks(choice, X, self.n_components)
            self.components_ = X[self.component_indices_]
        else:
            self.component_indices_ = None
            self.components_ = self._own_landmarks(choice, X)
        self._n_features_out = self.components_.shape[0]
        self._lower = self._normalization = None
        with self._job() as job:
            if choice.native is not None:
                self._lower = _native.whiten(choice.native, borrowable(self.components_), job)
            if self._lower is None:
                self._normalization = _symmetric_root(self._with_landmarks(self.components_, job))
        return self

    def _check_kernel_parameters(self):
        hidden = self.kernel == "precomputed" if isinstance(self.kernel, str) else not isinstance(self.kernel, Kernel)
        if hidden and any(value is not None for value in (self.gamma, self.coef0, self.degree)):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel"
            )

    def _is_random(self):
        return True

    def _named_kernel(self, name, gamma):
        parameters = {"gamma": gamma, "degree": 3, "coef0": 1, **(self.kernel_params or {})}
        given = {parameter: getattr(self, parameter) for parameter in PAIRWISE_NAMES[name]}
        parameters.update({parameter: value for parameter, value in given.items() if value is not None})
        return of_name(name, **parameters)

    def _choose_landmarks(self, choice, X, count):
        if count > X.shape[0]:
            warn(
                "n_components > n_samples. This is not possible.\n"
                "n_components was set to n_samples, which results in inefficient evaluation of the full kernel."
            )
            count = X.shape[0]
        if self.landmarks == "uniform":
            random = check_random_state(self.random_state)
            return random.permutation(X.shape[0])[:count]
        if choice.native is None:
            raise ValueError(
                f"landmarks={self.landmarks!r} needs a kernel of the language, which a precomputed or callable kernel "
                "is not; use landmarks='uniform'"
            )
        with self._job() as job:
            chosen = _native.choose_landmarks(choice.native, borrowable(X), count, CHOICES[self.landmarks], job)
        return np.array(chosen, dtype=np.int64)

    def _own_landmarks(self, choice, X):
        if isinstance(choice, Precomputed):
            raise ValueError("a precomputed kernel has no landmarks beyond its rows; use landmarks='uniform'")
        landmarks = as_matrix(self.landmarks, "landmarks").astype(X.dtype, copy=False)
        if landmarks.shape[0] == 0 or landmarks.shape[1] != X.shape[1]:
            raise ValueError(
                f"landmarks must be rows with the {X.shape[1]} features of X, got an array of shape {landmarks.shape}"
            )
        choice.check(landmarks)
        return landmarks

    @property
    def normalization_(self):
        """N, recomputed at each access if L is stored instead."""
        if self._lower is None:
            return self._normalization
        kept, lower = self._lower
        normalization = np.zeros((self._n_features_out, self._n_features_out), dtype=self.components_.dtype)
        normalization[np.ix_(kept, kept)] = np.linalg.inv(lower)
        return normalization

    def transform(self, X):
        """Return the features of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or their kernel matrix with the training samples if ``kernel="precomputed"``.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            In the precision of X.
        """
        X = self._predict_input(X)
        choice = self._choice
        choice.check(X)
        with self._job() as job:
            if self._lower is None:
                return (self._with_landmarks(X, job) @ self._normalization.T).astype(X.dtype, copy=False)
            kept, lower = self._lower
            whole = len(kept) == self._n_features_out
            landmarks = self.components_ if whole else self.components_[kept]
            features = _native.landmark_features(choice.native, borrowable(landmarks), lower, borrowable(X), job)
        if whole:
            return features
        padded = np.zeros((X.shape[0], self._n_features_out), dtype=features.dtype)
        padded[:, kept] = features
        return padded

    def _with_landmarks(self, X, job):
        """Return the kernel values of each row with each landmark."""
        choice = self._choice
        if isinstance(choice, Precomputed):
            return X[:, self.component_indices_]
        return choice.matrix(X, None if X is self.components_ else self.components_, job)


def _symmetric_root(K):
    """Return Q·sign(Λ)/√|Λ|·Qᵀ of K = QΛQᵀ, which is K⁻¹ᐟ² if K is positive definite. Eigenvalues within rounding count as
    10⁻¹² or as the rounding error of the kernel's precision, whichever is larger."""
    precision = np.finfo(K.dtype).eps if K.dtype == np.float32 else 1e-12
    K = np.asarray(K, dtype=np.float64)
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    scale = np.abs(values).max(initial=0.0)
    sizes = np.maximum(np.abs(values), max(1e-12, precision * scale))
    return (vectors * (np.where(values < 0, -1.0, 1.0) / np.sqrt(sizes))) @ vectors.T
