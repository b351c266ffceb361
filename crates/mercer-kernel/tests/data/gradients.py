"""Derivatives of kernels in the logarithms of their unknowns: `pip install mpmath==1.4.1; python gradients.py > gradients.txt`.

Every kernel is written here a second time, from its definition, as a function of its unknowns and two rows. `Dual` computes the
derivatives by the chain rule with 50 digits; mpmath's differences must agree to 30 digits of the value and the derivative.

`Dual` also follows rounding errors to first order, in units of the machine epsilon: each operation adds 1 unit of its result to
the errors of its operands times the partial derivatives. The table has these sums for the value and for each derivative: e^(-a)
has a relative error of |a| + 1 units if a has one of 1 unit, for example. Where a slope is computed as a difference of terms of the
size of the function, as (cos a - sinc a)/a is, the error of df/dlog a is 1 unit of |f| more.
"""
import mpmath
from mpmath import mp, mpf

mp.dps = 50


class Dual:
    """A value, its derivatives in the logarithm of each unknown, and the rounding errors of both."""

    def __init__(self, value, slopes=(), error=0, slope_errors=()):
        self.value, self.error = mpf(value), mpf(error)
        self.slopes = [mpf(0)] * unknowns if not slopes else slopes
        self.slope_errors = [mpf(0)] * unknowns if not slope_errors else slope_errors

    def of(self, f, f1, f2, own=1, own_slope=None):
        """f(self), from f, f' and f'' there; `own` and `own_slope` are the roundings of f and of df/dlog a."""
        a = self.value
        error = abs(f1) * self.error + own * abs(f)
        if own_slope is None:
            own_slope = abs(a * f1)
        per_slope = abs(f2) * self.error + (own_slope / abs(a) if a else abs(f1))
        errors = [abs(f1) * e + per_slope * abs(s) for s, e in zip(self.slopes, self.slope_errors)]
        return Dual(f, [f1 * s for s in self.slopes], error, errors)

    def __add__(self, other):
        other = dual(other)
        value, slopes = self.value + other.value, [a + b for a, b in zip(self.slopes, other.slopes)]
        errors = [a + b + abs(s) for a, b, s in zip(self.slope_errors, other.slope_errors, slopes)]
        return Dual(value, slopes, self.error + other.error + abs(value), errors)

    def __mul__(self, other):
        other = dual(other)
        value, slopes, errors = self.value * other.value, [], []
        for p in range(unknowns):
            slopes.append(self.slopes[p] * other.value + self.value * other.slopes[p])
            error = mpf(0)
            for a, b in ((self, other), (other, self)):
                error += abs(a.slopes[p]) * b.error + a.slope_errors[p] * abs(b.value) + 2 * abs(a.slopes[p] * b.value)
            errors.append(error)
        return Dual(value, slopes, abs(self.value) * other.error + self.error * abs(other.value) + abs(value), errors)

    def __neg__(self):
        return Dual(-self.value, [-s for s in self.slopes], self.error, self.slope_errors)

    def __sub__(self, other):
        return self + -dual(other)

    def __rsub__(self, other):
        return dual(other) - self

    def __truediv__(self, other):
        return self * dual(other) ** -1

    def __rtruediv__(self, other):
        return dual(other) / self

    def __pow__(self, n):
        """a^n with n a number or a Dual, and then a > 0."""
        a, n = self.value, dual(n)
        value = a**n.value
        power = self.of(value, n.value * value / a, n.value * (n.value - 1) * value / a**2)
        if not any(n.slopes) and not n.error:
            return power
        log = mp.log(a)
        slopes = [s + value * log * t for s, t in zip(power.slopes, n.slopes)]
        relative = self.error / abs(a) * (abs(n.value * log) + 1) + abs(log) * n.error * (abs(log) + 1) + 2 * abs(log)
        errors = [
            s + abs(value) * (abs(log) * e + relative * abs(t))
            for s, e, t in zip(power.slope_errors, n.slope_errors, n.slopes)
        ]
        return Dual(value, slopes, power.error + abs(value * log) * n.error, errors)

    def __rpow__(self, base):
        return dual(base) ** self

    __radd__, __rmul__ = __add__, __mul__


def dual(a):
    return a if isinstance(a, Dual) else Dual(a)


def exp(a):
    k = mp.exp(a.value)
    return a.of(k, k, k)


def log(a):
    return a.of(mp.log(a.value), 1 / a.value, -1 / a.value**2)


def sqrt(a):
    root = mp.sqrt(a.value)
    return a.of(root, 1 / (2 * root), -1 / (4 * root**3)) if root else dual(0)


def absolute(a):
    return a if a.value >= 0 else -a


def sin(a):
    s, c = mp.sin(a.value), mp.cos(a.value)
    return a.of(s, c, -s)


def cos(a):
    s, c = mp.sin(a.value), mp.cos(a.value)
    return a.of(c, -s, -c)


def tan(a):
    t = mp.tan(a.value)
    return a.of(t, 1 + t**2, 2 * t * (1 + t**2))


def sinc(a):
    t = a.value
    if t == 0:
        return dual(1)
    s, c = mp.sin(t), mp.cos(t)
    slope = (t * c - s) / t**2
    return a.of(s / t, slope, -s / t - 2 * slope / t, 1, abs(s / t) + abs(t * slope))


def sinh(a):
    s, c = mp.sinh(a.value), mp.cosh(a.value)
    return a.of(s, c, s)


def cosh(a):
    s, c = mp.sinh(a.value), mp.cosh(a.value)
    return a.of(c, s, c)


def tanh(a):
    t, slope = mp.tanh(a.value), mp.sech(a.value) ** 2
    return a.of(t, slope, -2 * t * slope)


def asin(a):
    r = 1 - a.value**2
    return a.of(mp.asin(a.value), 1 / mp.sqrt(r), a.value / r ** mpf(1.5))


def acos(a):
    r = 1 - a.value**2
    return a.of(mp.acos(a.value), -1 / mp.sqrt(r), -a.value / r ** mpf(1.5))


def atan(a):
    r = 1 + a.value**2
    return a.of(mp.atan(a.value), 1 / r, -2 * a.value / r**2)


def each_column(h, x):
    """One hyper-parameter for each column."""
    return h if isinstance(h, list) else [h] * len(x)


def total(terms):
    terms = list(terms)
    return sum(terms[1:], terms[0])


def difference(a, b):
    return Dual(a - b, (), abs(a - b))


def dot(x, z):
    return total(Dual(a) * b for a, b in zip(x, z))


def norm(x):
    return sqrt(dot(x, x))


def squared(x, z, length=1):
    """The sum of ((x-z)/length)^2 over the columns."""
    return total((difference(a, b) / h) * (difference(a, b) / h) for a, b, h in zip(x, z, each_column(length, x)))


def distance(x, z):
    return sqrt(squared(x, z))


def distance1(x, z, gamma=1):
    return total(absolute(difference(a, b)) * h for a, b, h in zip(x, z, each_column(gamma, x)))


def rbf(x, z, sigma):
    return exp(-squared(x, z, sigma) / 2)


def rbf_gamma(x, z, gamma):
    return exp(-total(difference(a, b) * difference(a, b) * h for a, b, h in zip(x, z, each_column(gamma, x))))


def laplacian(x, z, gamma):
    return exp(-distance1(x, z, gamma))


def matern(x, z, nu, length):
    """2^(1-nu)/Gamma(nu) s^nu K_nu(s) with s = sqrt(2 nu) |x-z|/length, as a function of q = (|x-z|/length)^2."""
    q = squared(x, z, length)
    if q.value == 0:
        return dual(1)
    nu = mpf(nu)
    s = mp.sqrt(2 * nu * q.value)
    factor = 2 ** (1 - nu) / mp.gamma(nu) * s**nu
    value, first = factor * mp.besselk(nu, s), -factor * mp.besselk(nu - 1, s)
    second = -factor * (mp.besselk(nu - 1, s) / s - mp.besselk(nu - 2, s))
    first, second = s * first / 2, (s * first + s**2 * second) / 4  # in log q
    # The error that the tests of src/special.rs allow: 2e-14, which is 90 units, and 4 for each of the exponents s and nu log s.
    # Half-integers are a polynomial with positive terms times e^(-s).
    is_half_integer = mp.isint(nu - mpf(0.5))
    own = 4 * (nu + s) if is_half_integer else 90 + 4 * (nu + s)
    # The slope is 2 nu times the difference of two orders, M_(nu+1) - M_nu.
    own_slope = own * (2 * nu * value + abs(2 * first))
    return q.of(value, first / q.value, (second - first) / q.value**2, own, own_slope)


def rq(x, z, alpha, length):
    return (1 + squared(x, z, length) / (2 * dual(alpha))) ** -dual(alpha)


def periodic(x, z, period, length):
    def term(a, b, p, h):
        sine = sin(Dual(mp.pi, (), mp.pi) * difference(a, b) / p) / h
        return sine * sine

    return exp(-2 * total(map(term, x, z, each_column(period, x), each_column(length, x))))


def poly(x, z, degree, gamma, c):
    return (gamma * dot(x, z) + c) ** degree


def chi2(x, z, gamma):
    terms = (difference(a, b) * difference(a, b) / (dual(a) + b) for a, b in zip(x, z) if a + b)
    exponent = -gamma * total(terms)
    k = mp.exp(exponent.value)
    # The slope is computed as k log k, from k rounded to a double.
    return exponent.of(k, k, k, 1, k + abs(k * exponent.value))


def wendland(x, z, k, radius):
    r = sqrt(squared(x, z, radius))
    if r.value >= 1:
        return dual(0)
    if r.value == 0:
        return dual(1)
    l = len(x) // 2 + k + 1
    decay = (1 - r) ** (l + k)
    if k == 0:
        return decay
    if k == 1:
        return decay * (1 + (l + 1) * r)
    return decay * (3 + (3 * l + 6) * r + (l * l + 4 * l + 3) * r * r) / 3


def noise(x, z, value):
    return dual(value) if x == z else dual(0)


def linear(x, z):
    return dot(x, z)


def cosine(x, z):
    return dot(x, z) / (norm(x) * norm(z))


A, B, C = [0.3, 1.2, 0.5], [0.1, 0.4, 2.0], [1.5, 1.0, 0.25]
POINTS = [
    (A, B),
    (C, [0.3, 1.2, 0.75]),
    (A, [0.3, 1.2, 0.75]),
    (A, A),
    (A, [0.3 + 1e-9, 1.2 - 1e-9, 0.5 + 1e-9]),
    (C, [1.5, 1.0, 0.25 + 1e-9]),
    (A, [25.0, 31.0, 4.0]),
    (A, [130.0, 220.0, 9.0]),
]
WITH_SIGNS = POINTS + [([-0.7, 0.2, -1.1], B), ([-0.7, 0.2, -1.1], [0.6, 0.3, -0.9])]


def usual(n):
    return [1.3 + 0.37 * p for p in range(n)]


def scales(n):
    """Usual values, small and large ones, and both mixed."""
    mixed = [[1e-3 if p % 2 else 1e3 for p in range(n)]] if n > 1 else []
    return [usual(n), [1e-3] * n, [1e3] * n] + mixed


def case(text, sets, formula, points=WITH_SIGNS):
    """A kernel, the values of its unknowns, and the same as a function of the unknowns and two rows."""
    global unknowns
    for values in sets:
        unknowns = len(values)
        for x, z in points:
            def at(*shifts):
                t = []
                for p, value in enumerate(values):
                    moved = mpf(value) * mp.exp(shifts[p])
                    t.append(Dual(moved, [moved if p == i else mpf(0) for i in range(unknowns)]))
                return dual(formula(t, list(map(mpf, x)), list(map(mpf, z))))

            found = at(*[mpf(0)] * unknowns)
            row = [found.value, found.error]
            for p in range(unknowns):
                def moved(shift, p=p):
                    return at(*[shift if i == p else mpf(0) for i in range(unknowns)]).value

                slope = mp.diff(moved, 0)
                size = abs(found.slopes[p]) + abs(found.value)
                assert abs(slope - found.slopes[p]) <= mpf(10) ** -30 * size, (text, values, x, z, p)
                row += [found.slopes[p], found.slope_errors[p]]
            numbers = " ".join(mp.nstr(v, 3 if i % 2 else 18) for i, v in enumerate(row))
            lists = "\t".join(" ".join(map(repr, list_)) for list_ in (values, x, z))
            print(text, lists, numbers, sep="\t")


def families():
    case("rbf(sigma=?)", scales(1), lambda t, x, z: rbf(x, z, t[0]))
    case("rbf(gamma=?)", scales(1), lambda t, x, z: rbf_gamma(x, z, t[0]))
    case("rbf(sigma=[?])", scales(3), lambda t, x, z: rbf(x, z, t))
    case("rbf(gamma=[?])", scales(3), lambda t, x, z: rbf_gamma(x, z, t))
    case("laplacian(gamma=?)", scales(1), lambda t, x, z: laplacian(x, z, t[0]))
    case("laplacian(gamma=[?])", scales(3), lambda t, x, z: laplacian(x, z, t))
    for nu in (0.5, 1.5, 2.5, 3.5, 0.3, 0.8, 1.0, 1.2, 3.2, 20.0):
        case(f"matern(nu={nu}, length=?)", scales(1), lambda t, x, z: matern(x, z, nu, t[0]))
    for nu in (0.5, 1.5, 2.5, 0.8, 3.2):
        case(f"matern(nu={nu}, length=[?])", [usual(3), [1e3, 1e-3, 1e3]], lambda t, x, z: matern(x, z, nu, t))
    case("rq(alpha=?, length=?)", scales(2) + [[1e-3, 1e3]], lambda t, x, z: rq(x, z, t[0], t[1]))
    case("rq(alpha=0.7, length=[?])", scales(3), lambda t, x, z: rq(x, z, 0.7, t))
    case("periodic(period=?, length=?)", scales(2) + [[1e-3, 1e3]], lambda t, x, z: periodic(x, z, t[0], t[1]))
    case("periodic(period=[?], length=[?])", [usual(6)], lambda t, x, z: periodic(x, z, t[:3], t[3:]))
    case("poly(degree=3, gamma=?, c=?)", scales(2), lambda t, x, z: poly(x, z, 3, t[0], t[1]))
    case("poly(degree=1, gamma=?, c=?)", scales(2), lambda t, x, z: poly(x, z, 1, t[0], t[1]))
    for degree in (0.5, 2.3):
        text = f"poly(degree={degree}, gamma=?, c=?)"
        case(text, scales(2), lambda t, x, z: poly(x, z, degree, t[0], t[1]), POINTS)
    case("chi2(gamma=?)", scales(1), lambda t, x, z: chi2(x, z, t[0]), POINTS + [([0.0, 1.0, 2.0], [0.0, 0.0, 3.0])])
    for k in (0, 1, 2):
        case(f"wendland(k={k}, radius=?)", scales(1), lambda t, x, z: wendland(x, z, k, t[0]))
        case(f"wendland(k={k}, radius=[?])", [usual(3), [1e3] * 3], lambda t, x, z: wendland(x, z, k, t))
        case(f"wendland(k={k}, radius=?)[1]", scales(1), lambda t, x, z: wendland(x[1:2], z[1:2], k, t[0]))
    case("sigmoid(gamma=?, c=?)", scales(2) + [[5.0, 4.0]], lambda t, x, z: tanh(t[0] * dot(x, z) + t[1]))
    case("const(value=?)", scales(1), lambda t, x, z: t[0])
    case("noise(value=?)", scales(1), lambda t, x, z: noise(x, z, t[0]))


def formulas():
    def both(n):
        return [usual(n), [1e-3 * (p + 1) for p in range(n)]]

    case(
        "?*rbf(sigma=?) + ?*linear + noise(value=?)",
        scales(4),
        lambda t, x, z: t[0] * rbf(x, z, t[1]) + t[2] * linear(x, z) + noise(x, z, t[3]),
    )
    case(
        "?*periodic(period=?, length=?)[0]*rbf(sigma=[?])[1,2] - 0.1*linear",
        [usual(5), [1e3, 10.0, 1e3, 1e-3, 1e3]],
        lambda t, x, z: t[0] * periodic(x[:1], z[:1], t[1], t[2]) * rbf(x[1:], z[1:], t[3:]) - 0.1 * linear(x, z),
    )
    case(
        "(?*rbf(sigma=?) + 1)^2.5 / (2 + ?*linear)",
        scales(3),
        lambda t, x, z: (t[0] * rbf(x, z, t[1]) + 1) ** 2.5 / (2 + t[2] * linear(x, z)),
        POINTS,
    )
    case("rbf(sigma=?) / (1 + ?*|x|*|z|)^?", both(3), lambda t, x, z: rbf(x, z, t[0]) / (1 + t[1] * norm(x) * norm(z)) ** t[2])
    case(
        "exp(-(?)*|x-z|^2) + 2^(-(?)*|x-z|)",
        scales(2),
        lambda t, x, z: exp(-t[0] * squared(x, z)) + 2 ** (-t[1] * distance(x, z)),
    )
    case(
        "(?*linear[2] + rbf(sigma=?)[1])[0..3]",
        scales(2),
        lambda t, x, z: t[0] * linear(x[2:], z[2:]) + rbf(x[1:2], z[1:2], t[1]),
    )
    case("laplacian(gamma=?)[2,0]*matern(nu=1.5, length=[?])[1,2]", [usual(3)],
         lambda t, x, z: laplacian([x[2], x[0]], [z[2], z[0]], t[0]) * matern(x[1:], z[1:], 1.5, t[1:]))
    case("sinc(?*|x-z|)", scales(1), lambda t, x, z: sinc(t[0] * distance(x, z)))
    case("tanh(?*linear)", scales(1), lambda t, x, z: tanh(t[0] * linear(x, z)))
    case("log(1 + ?*|x|*|z|)", scales(1), lambda t, x, z: log(1 + t[0] * norm(x) * norm(z)))
    case("sqrt(?*rbf(sigma=2))", scales(1), lambda t, x, z: sqrt(t[0] * rbf(x, z, 2)))
    case("abs(?*cosine)", scales(1), lambda t, x, z: absolute(t[0] * cosine(x, z)))
    case("cosh(?*rbf)*sinh(?)", [usual(2), [1e-3, 1e-3], [20.0, 1e2]], lambda t, x, z: cosh(t[0] * rbf(x, z, 1)) * sinh(t[1]))
    case("atan(?*linear)", scales(1), lambda t, x, z: atan(t[0] * linear(x, z)))
    case("asin(?*rbf/9) - acos(?*rbf/9)", [[1.3, 1.67], [1e-3, 8.999]],
         lambda t, x, z: asin(t[0] * rbf(x, z, 1) / 9) - acos(t[1] * rbf(x, z, 1) / 9))
    case("cos(?)*tan(?/9)*sin(?*|x-z|_1)", [usual(3), [1e-3] * 3, [1e3] * 3],
         lambda t, x, z: cos(t[0]) * tan(t[1] / 9) * sin(t[2] * distance1(x, z)))


if __name__ == "__main__":
    print("# Kernel, values of its unknowns, x, z; then the value and each derivative in log θ, each followed by its rounding error in")
    print(f"# units of the machine epsilon. Made by gradients.py with mpmath {mpmath.__version__}.")
    families()
    formulas()
