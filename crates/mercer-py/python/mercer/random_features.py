"""Random Fourier features."""

import numpy as np
from sklearn.utils import check_random_state

from mercer import _native
from mercer._components import Components
from mercer._constraints import FORMULA_OR_NAME, NON_NEGATIVE, SHARED, one_of
from mercer._estimator import Estimator, fitting
from mercer._gamma import scale_gamma
from mercer._kernel_estimator import KernelEstimator
from mercer._rows import borrowable

__all__ = ["RBFSampler", "RandomFourierFeatures"]


class RandomFourierFeatures(Components, KernelEstimator):
    """Random features of a shift-invariant kernel, drawn from its spectral density: ⟨φ(x), φ(z)⟩ ≈ k(x, z).

    The error falls as 1/√n_components. Normal frequencies for ``rbf``, Cauchy for ``laplacian``, Student for ``matern``, a
    gamma mixture for ``rq``; and the corresponding distributions for their products and sums. Kernels without a known density
    are an error; use `Nystroem` for them. Fitting uses only the number of columns, unless the kernel has ``auto``.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        A formula such as ``"matern(nu=2.5, length=auto)"``, or one of scikit-learn's names with γ = 1/n_features.
    n_components : int, default=100
        The number of features.
    orthogonal : bool, default=True
        Orthogonal frequencies, which have a smaller error, for isotropic densities; independent ones otherwise.
    form : {"auto", "pairs", "shifted"}, default="auto"
        A cosine and a sine for every frequency, which requires an even number of features and has a smaller error; or one
        cosine with a random shift as in `RBFSampler`. ``"auto"`` uses pairs if the number is even.
    qmc : bool, default=False
        Uses a randomised Halton sequence instead of random numbers and orthogonal directions.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and of the rows sampled for ``auto``; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_frequencies)
        The frequencies ω; half as many as components for pairs.
    random_offset_ : ndarray of shape (n_frequencies,) or None
        The shifts, from 0 to 2π; None for pairs.
    amplitudes_ : ndarray of shape (n_frequencies,)
        The factor of each frequency's cosine.
    kernel_ : Kernel
        The kernel with every ``auto`` replaced by a number.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Kernel, RandomFourierFeatures
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> phi = RandomFourierFeatures("matern(nu=1.5, length=2)", n_components=4096, random_state=0).fit_transform(X)
    >>> bool(abs(phi @ phi.T - Kernel("matern(nu=1.5, length=2)")(X)).max() < 0.1)
    True
    """

    _parameter_constraints = {
        **SHARED,
        **Components._parameter_constraints,
        "kernel": FORMULA_OR_NAME["kernel"],
        "orthogonal": ["boolean"],
        "form": [one_of("auto", "pairs", "shifted")],
        "qmc": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel="rbf",
        n_components=100,
        *,
        orthogonal=True,
        form="auto",
        qmc=False,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.form = form
        self.qmc = qmc
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X, y=None):
        """Draw the frequencies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self
        """
        count = int(self.n_components)
        X = self._fit_input(X, "no_validation")
        choice = self._choose_kernel(X)
        if choice.native is None:
            raise ValueError(
                "random features need the spectral density of the kernel, which a precomputed or callable kernel hides; "
                "use Nystroem"
            )
        sampling = "quasi_monte_carlo" if self.qmc else "orthogonal" if self.orthogonal else "plain"
        form = self.form if self.form != "auto" else "shifted" if count % 2 else "pairs"
        spec = {"kernel": choice.native, "features": count, "sampling": sampling, "form": form, "seed": self._fit_seed}
        self._take(_native.draw_features(spec, X.shape[1]), X.dtype)
        return self

    def _is_random(self):
        return True

    def _take(self, drawn, dtype):
        self._drawn = drawn
        self.random_weights_ = drawn["frequencies"].T.astype(dtype, copy=False)
        turns = drawn["shifts"]
        self.random_offset_ = None if turns is None else (2 * np.pi * turns).astype(dtype, copy=False)
        self.amplitudes_ = drawn["amplitudes"].astype(dtype, copy=False)
        self._n_features_out = len(self.amplitudes_) * (2 if turns is None else 1)

    def transform(self, X):
        """Return the features of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            In the precision of X.
        """
        X = self._predict_input(X)
        drawn = self._drawn
        waves = (drawn["frequencies"], drawn["shifts"], drawn["amplitudes"])
        with self._job() as job:
            return _native.random_features(*waves, borrowable(X), job)


class RBFSampler(Components, Estimator):
    """scikit-learn's random features of the Gaussian kernel exp(−γ‖x−z‖²): the same ones for the same seed.

    `RandomFourierFeatures` has a smaller error for the same number of features, and supports more kernels.

    Parameters
    ----------
    gamma : "scale" or float, default=1.0
        γ; ``"scale"`` is 1/(n_features · variance).
    n_components : int, default=100
        The number of features.
    random_state : int, RandomState instance or None, default=None
        The seed of weights and offsets; None draws a new seed at each fit.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    random_offset_ : ndarray of shape (n_components,)
    random_weights_ : ndarray of shape (n_features, n_components)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from mercer import RBFSampler
    >>> RBFSampler(gamma=0.5, n_components=8, random_state=1).fit_transform([[0.0, 1.0], [2.0, 0.5]]).shape
    (2, 8)
    """

    _parameter_constraints = {
        **SHARED,
        **Components._parameter_constraints,
        "gamma": [one_of("scale"), NON_NEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(self, *, gamma=1.0, n_components=100, random_state=None, n_jobs=None, verbose=0):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X, y=None):
        """Draw weights and offsets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self
        """
        count = int(self.n_components)
        X = self._fit_input(X, "no_validation")
        self._gamma = scale_gamma(X) if isinstance(self.gamma, str) else self.gamma
        random = check_random_state(self.random_state)
        weights = (2.0 * self._gamma) ** 0.5 * random.normal(size=(X.shape[1], count))
        self.random_weights_ = weights.astype(X.dtype, copy=False)
        self.random_offset_ = random.uniform(0, 2 * np.pi, size=count).astype(X.dtype, copy=False)
        self._n_features_out = count
        return self

    def transform(self, X):
        """Return √(2/n_components)·cos(xW + b) for each row x.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            In the precision of X.
        """
        X = self._predict_input(X)
        frequencies = np.ascontiguousarray(self.random_weights_.T, dtype=np.float64)
        turns = self.random_offset_.astype(np.float64) / (2 * np.pi)
        amplitudes = np.full(len(turns), np.sqrt(2.0 / len(turns)))
        with self._job() as job:
            return _native.random_features(frequencies, turns, amplitudes, borrowable(X), job)
