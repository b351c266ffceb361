"""Kernels of Gaussian processes: texts with unknowns, and objects of sklearn.gaussian_process.kernels translated to them.

The estimators see a *prior*: a kernel with the vector theta of the logarithms of its free hyper-parameters. A prior that is a
formula of the language has its matrix and derivatives computed by the native code; an object without a translation, such as
one of a user's own class, computes both itself.
"""

from collections import namedtuple

import numpy as np

from mercer import _native
from mercer._rows import borrowable
from mercer.kernel import Kernel

__all__ = ["LearntKernel", "prior_of", "start_kernel", "text_of", "warn_of_bounds"]

#: The module whose kernels are translated. It is never imported here: whoever passes one of its objects has imported it.
_MODULE = "sklearn.gaussian_process.kernels"

#: A free hyper-parameter, with the fields of scikit-learn's class of this name.
Hyperparameter = namedtuple("Hyperparameter", "name value_type bounds n_elements fixed")


class LearntKernel(Kernel):
    """A kernel written with unknowns, ``?``, that now have values.

    `theta` is the vector of the logarithms of these values, in the order of the text, and `bounds` has the logarithms of
    the ranges of the search. Setting `theta` changes the kernel.
    """

    __slots__ = ("_bounds", "_names", "_template", "_theta")

    #: Rows of numbers, as in scikit-learn's kernels.
    requires_vector_input = True

    def __init__(self, template, names, bounds, theta):
        self._template = template
        self._names = list(names)
        self._bounds = np.asarray(bounds, dtype=np.float64).reshape(-1, 2)
        self.theta = theta

    @property
    def theta(self):
        return self._theta.copy()

    @theta.setter
    def theta(self, theta):
        theta = np.array(theta, dtype=np.float64).ravel()
        if theta.shape != (len(self._names),):
            raise ValueError(f"theta has {theta.size} entries, but the kernel has {len(self._names)} unknowns")
        self._native = self._template.with_values(np.exp(theta).tolist())
        self._theta = theta

    @property
    def bounds(self):
        return self._bounds.copy()

    @property
    def n_dims(self):
        return len(self._names)

    def _check(self, X, job):
        """The domain that it is proven on whatever its numbers are, if any, and a warning, if any, on the rows X."""
        return self._template.check_on(borrowable(X), job)

    @property
    def hyperparameters(self):
        ranges = np.exp(self._bounds)
        return [
            Hyperparameter(name, "numeric", ranges[[i]], 1, False) for i, name in enumerate(self._names)
        ]

    def clone_with_theta(self, theta):
        """Return the same kernel with another `theta`."""
        return LearntKernel(self._template, self._names, self._bounds, theta)

    def set_params(self, **params):
        if params:
            raise ValueError("the hyper-parameters of a learnt kernel are set by its theta")
        return self

    def __sklearn_clone__(self):
        return self.clone_with_theta(self._theta)

    def __reduce__(self):
        return LearntKernel, (self._template, self._names, self._bounds, self._theta)


class Formula:
    """A prior of the language: a template with unknowns, each exp(power·theta[place])."""

    def __init__(self, template, places):
        self.template = template
        self.places = np.array([place for place, _ in places], dtype=np.intp)
        self.powers = np.array([power for _, power in places], dtype=np.float64)

    def values(self, theta):
        return np.exp(self.powers * theta[self.places])

    def covariance(self, theta, X, derivative):
        """Return the kernel as the native likelihoods take it, and the map from their derivative to that in theta."""
        parts = {"kernel": self.template, "values": self.values(theta).tolist(), "rows": borrowable(X)}
        return parts, lambda found: self._in_theta(theta, found["gradient"])

    def _in_theta(self, theta, gradient):
        out = np.zeros_like(theta)
        np.add.at(out, self.places, self.powers * gradient)
        return out

    def kernel(self, theta):
        """Return the kernel with numbers in place of its unknowns."""
        return self.template.with_values(self.values(theta).tolist())

    def matrix(self, theta, X, Z, job):
        return self.kernel(theta).matrix(borrowable(X), None if Z is None else borrowable(Z), job)

    def diagonal(self, theta, X, job):
        return self.kernel(theta).diagonal(borrowable(X), job)


class Object:
    """A prior that is a kernel object without a translation."""

    def __init__(self, kernel):
        self.kernel = kernel

    def covariance(self, theta, X, derivative):
        kernel = self.kernel.clone_with_theta(theta)
        if not derivative:
            return {"gram": _matrix(kernel(X))}, None
        K, slopes = kernel(X, eval_gradient=True)
        return {"gram": _matrix(K)}, lambda found: np.einsum("ij,ijk->k", found["weights"], slopes)

    def matrix(self, theta, X, Z, job):
        kernel = self.kernel.clone_with_theta(theta)
        return _matrix(kernel(X) if Z is None else kernel(X, Z))

    def diagonal(self, theta, X, job):
        return np.array(self.kernel.clone_with_theta(theta).diag(X), dtype=np.float64)


def _matrix(K):
    return np.ascontiguousarray(K, dtype=np.float64)


def start_kernel(kernel, X, seed=0):
    """Return the kernel at which a fit starts: a copy of an object, or a text with a number for every unknown.

    Unknowns start in the middle of their ranges, which depend on the rows X.
    """
    from sklearn.base import clone

    if not isinstance(kernel, (str, Kernel)):
        return clone(kernel)
    if isinstance(kernel, LearntKernel):
        return kernel.clone_with_theta(kernel.theta)
    native = Kernel(kernel)._native
    rows, job = borrowable(X), {"threads": None, "progress": None, "seed": seed}
    native = native.resolve(rows, job)
    unknowns = native.unknowns(rows, job)
    bounds = np.log([(low, high) for _, low, high in unknowns]).reshape(-1, 2)
    counts = {}
    names = []
    for name, _, _ in unknowns:
        counts[name] = counts.get(name, 0) + 1
        names.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return LearntKernel(native, names, bounds, bounds.mean(axis=1))


def prior_of(kernel, columns):
    """Return the prior of a kernel that has `theta`, on rows with `columns` columns (None for rows that are not vectors)."""
    if isinstance(kernel, LearntKernel):
        return Formula(kernel._template, [(place, 1.0) for place in range(kernel.n_dims)])
    if columns is None:
        return Object(kernel)
    translation = _Translation(columns)
    try:
        text = translation.text(kernel)
        formula = Formula(_native.Kernel(text).resolve(np.zeros((1, columns)), {"threads": 1, "progress": None}), translation.places)
    except (_NoTranslation, ValueError):
        return Object(kernel)
    values = formula.values(kernel.theta)
    if np.isfinite(values).all() and formula.template.has_gradient(values.tolist(), columns):
        return formula
    return Object(kernel)


def text_of(kernel, columns):
    """The text of a kernel object on rows of so many columns, with an unknown for each free hyper-parameter, in its bounds; and
    the sum of its white noise apart from it: 0 where there is none, None where it is free.

    Raises
    ------
    ValueError
        Where the object has no translation.
    """
    rest, noises = _without_noise(kernel)
    try:
        if rest is None:
            raise _NoTranslation
        text = _Translation(columns, np.exp(rest.bounds)).text(rest)
    except _NoTranslation:
        raise ValueError(f"kernel={kernel!r} has no translation to a text: write it as a formula") from None
    free = any(noise.theta.size for noise in noises)
    return text, None if free else float(sum(noise.noise_level for noise in noises))


def _without_noise(kernel):
    """A kernel object without the white noise that is added to it, None where nothing is left; and that noise."""
    if type(kernel).__module__ == _MODULE and type(kernel).__name__ == "WhiteKernel":
        return None, [kernel]
    if type(kernel).__module__ != _MODULE or type(kernel).__name__ != "Sum":
        return kernel, []
    (first, one), (second, other) = _without_noise(kernel.k1), _without_noise(kernel.k2)
    rest = [part for part in (first, second) if part is not None]
    return rest[0] + rest[1] if len(rest) == 2 else rest[0] if rest else None, one + other


class _NoTranslation(Exception):
    pass


class _Translation:
    """The text of a kernel object. Free hyper-parameters are ``?``; `places` has for each of them, in the order of the text's
    unknowns, its place in the object's theta and the power of exp(theta) that it is. With `ranges` of exp(theta), unknowns are
    ``?low..high``."""

    def __init__(self, columns, ranges=None):
        self.columns = columns
        self.ranges = ranges
        self.places = []
        self._next = 0

    def text(self, kernel):
        kind = type(kernel)
        method = getattr(self, f"_{kind.__name__}", None)
        if kind.__module__ != _MODULE or method is None:
            raise _NoTranslation
        return method(kernel)

    def _free(self, kernel):
        """Return the index in theta of each free hyper-parameter of one elementary kernel, by name."""
        places = {}
        for hyper in kernel.hyperparameters:
            if not hyper.fixed:
                places[hyper.name] = range(self._next, self._next + hyper.n_elements)
                self._next += hyper.n_elements
        return places

    def _written(self, value, places, power=1.0):
        """Return a hyper-parameter as text: a number if it is fixed, else an unknown."""
        listed = np.ndim(value) > 0 and np.size(value) > 1
        if listed and np.size(value) != self.columns:
            raise _NoTranslation
        if places is not None:
            self.places += [(place, power) for place in places]
            if listed and self.ranges is None:
                return "[?]"
            unknowns = [self._unknown(place, power) for place in places]
            return "[" + ",".join(unknowns) + "]" if listed else unknowns[0]
        numbers = [repr(float(v) ** power) for v in np.atleast_1d(value).ravel()]
        return "[" + ",".join(numbers) + "]" if listed else numbers[0]

    def _unknown(self, place, power):
        if self.ranges is None:
            return "?"
        low, high = (float(end) for end in self.ranges[place] ** power)
        return f"?{low!r}..{high!r}" if 0 < low and high < np.inf else "?"

    def _ConstantKernel(self, kernel):
        free = self._free(kernel)
        return f"const(value={self._written(kernel.constant_value, free.get('constant_value'))})"

    def _WhiteKernel(self, kernel):
        free = self._free(kernel)
        return f"noise(value={self._written(kernel.noise_level, free.get('noise_level'))})"

    def _RBF(self, kernel):
        free = self._free(kernel)
        return f"rbf(sigma={self._written(kernel.length_scale, free.get('length_scale'))})"

    def _Matern(self, kernel):
        free = self._free(kernel)
        length = self._written(kernel.length_scale, free.get("length_scale"))
        if kernel.nu == np.inf:
            return f"rbf(sigma={length})"
        return f"matern(nu={float(kernel.nu)!r},length={length})"

    def _RationalQuadratic(self, kernel):
        free = self._free(kernel)
        alpha = self._written(kernel.alpha, free.get("alpha"))
        return f"rq(alpha={alpha},length={self._written(kernel.length_scale, free.get('length_scale'))})"

    def _ExpSineSquared(self, kernel):
        # With several columns, scikit-learn's is a function of the distance, which is not a kernel and has no name here.
        if self.columns != 1:
            raise _NoTranslation
        free = self._free(kernel)
        period = self._written(kernel.periodicity, free.get("periodicity"))
        return f"periodic(period={period},length={self._written(kernel.length_scale, free.get('length_scale'))})"

    def _DotProduct(self, kernel):
        free = self._free(kernel)
        return f"(linear + const(value={self._written(kernel.sigma_0, free.get('sigma_0'), 2.0)}))"

    def _Sum(self, kernel):
        return f"({self.text(kernel.k1)} + {self.text(kernel.k2)})"

    def _Product(self, kernel):
        return f"({self.text(kernel.k1)})*({self.text(kernel.k2)})"

    def _Exponentiation(self, kernel):
        return f"({self.text(kernel.kernel)})^({float(kernel.exponent)!r})"


def warn_of_bounds(kernel, warn, category):
    """Warn about each hyper-parameter that ended at a bound of its range."""
    close = np.isclose(kernel.bounds, np.atleast_2d(kernel.theta).T)
    place = 0
    for hyper in kernel.hyperparameters:
        if hyper.fixed:
            continue
        for element in range(hyper.n_elements):
            for end, side, advice in ((0, "lower", "Decreasing"), (1, "upper", "Increasing")):
                if close[place, end]:
                    warn(
                        f"The optimal value found for dimension {element} of parameter {hyper.name} is close to the "
                        f"specified {side} bound {hyper.bounds[element][end]}. {advice} the bound and calling fit "
                        "again may find a better value.",
                        category,
                    )
            place += 1
