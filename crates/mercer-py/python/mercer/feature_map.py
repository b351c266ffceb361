"""Explicit feature maps."""

from numbers import Integral

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from mercer import _native
from mercer._constraints import NON_NEGATIVE, SHARED, at_least
from mercer._estimator import Estimator, fitting
from mercer._rows import as_matrix, borrowable
from mercer._work import job

__all__ = ["FeatureMap", "PolynomialFeatureMap"]


class FeatureMap:
    """An explicit feature map, written as text.

    Parameters
    ----------
    text : str
        ``"poly(degree=3)"``: monomials weighted so that their inner product is (γ⟨x,z⟩ + c)^degree;
        ``"series(1,1,0.5)"``: the same for Σₖ aₖ⟨x,z⟩ᵏ; ``"monomials(degree=2)"``: plain monomials;
        ``"taylor(sigma=1, degree=8)"``: the Gaussian's Taylor series, cut off; or formulas in ``x`` (every column) and
        ``x0, x1, …``: ``"x, x^2, log(abs(x)+1), x0*x1"``.

    Examples
    --------
    >>> import mercer
    >>> phi = mercer.FeatureMap("x, x0*x1")
    >>> phi([[2.0, 3.0]])
    array([[2., 3., 6.]])
    >>> phi.names(2)
    ['x0', 'x1', 'x0*x1']
    """

    def __init__(self, text):
        self._native = _native.FeatureMap(str(text))

    def __call__(self, X, *, n_jobs=None, verbose=0):
        """Return the features of each row of X, an ndarray of shape (n_samples, n_features)."""
        with job(n_jobs, verbose) as how:
            return self._native.transform(borrowable(as_matrix(X)), how)

    def count(self, n_columns):
        """Return the number of features for this many columns."""
        return self._native.count(n_columns)

    def names(self, columns):
        """Return the names of the features, given the number of columns or their names."""
        names = [f"x{i}" for i in range(columns)] if isinstance(columns, Integral) else [str(c) for c in columns]
        return self._native.names(names)

    def __repr__(self):
        return f"FeatureMap({self._native.text()!r})"

    def __eq__(self, other):
        return isinstance(other, FeatureMap) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __reduce__(self):
        return FeatureMap, (self._native.text(),)


class PolynomialFeatureMap(TransformerMixin, Estimator):
    """Monomials up to a degree, weighted so that their inner product is the polynomial kernel.

    With ``weighted=True`` ⟨φ(x), φ(z)⟩ = (⟨x,z⟩ + c)^degree exactly, so a linear model on these features is the kernel
    machine with ``poly(degree, c)``. There are (d+degree choose degree) features.

    Parameters
    ----------
    degree : int, default=3
    c : float, default=1
        The constant of the kernel, 0 or more; 0 keeps only the monomials of full degree. Not used for plain monomials.
    weighted : bool, default=True
        False for plain monomials of degree up to `degree`, the constant first.
    n_jobs : int, default=None
        Number of threads; None uses all cores.
    verbose : int, default=0
        Shows progress if not 0.

    Attributes
    ----------
    n_output_features_ : int
    feature_map_ : FeatureMap
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PolynomialFeatureMap
    >>> X = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> phi = PolynomialFeatureMap(degree=2).fit_transform(X)
    >>> bool(np.allclose(phi @ phi.T, (X @ X.T + 1) ** 2))
    True
    """

    _parameter_constraints = {
        **SHARED,
        "degree": [at_least(0)],
        "c": [NON_NEGATIVE],
        "weighted": ["boolean"],
    }

    def __init__(self, degree=3, c=1, weighted=True, *, n_jobs=None, verbose=0):
        self.degree = degree
        self.c = c
        self.weighted = weighted
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitting
    def fit(self, X, y=None):
        """Count the features.

        Returns
        -------
        self
        """
        X = self._fit_input(X, "no_validation")
        degree = int(self.degree)
        text = f"poly(degree={degree}, c={float(self.c)!r})" if self.weighted else f"monomials(degree={degree})"
        self.feature_map_ = FeatureMap(text)
        self.n_output_features_ = self.feature_map_.count(X.shape[1])
        return self

    def transform(self, X):
        """The features of each row.

        Returns
        -------
        features : ndarray of shape (n_samples, n_output_features_)
        """
        X = self._predict_input(X)
        with self._job() as how:
            features = self.feature_map_._native.transform(borrowable(X), how)
        return features.astype(X.dtype, copy=False)

    def get_feature_names_out(self, input_features=None):
        """The names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the columns; None for those seen by `fit`, or x0, x1, ….

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.array(self.feature_map_.names(_check_feature_names_in(self, input_features)), dtype=object)

    def save(self, path):
        """Raise ValueError: a feature map alone is not a model.

        Raises
        ------
        ValueError
            Always; pickle it.
        """
        raise ValueError("a feature map alone is not a model; pickle it, or save the model that uses it")
