"""Support vector machines on real data: training, prediction and the choice of C and γ, against scikit-learn with and without
Intel's extension."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import sklearn.svm
from harness import Contest, Contestant, Study, Unavailable
from sklearn.model_selection import GridSearchCV

#: Cache of kernel rows of every contestant in megabytes.
CACHE = 4_000

#: Machines trained at tolerance 1e-3, by data set and contestant, reused for prediction so that nothing is trained twice.
TRAINED = {}


@dataclass(frozen=True)
class Data:
    """A data set with the C and γ of its case. scikit-learn needs five minutes for a `slow` one, half a minute for a `once` one."""

    name: str
    C: float
    gamma: float
    scale: float | None = 1.0
    slow: bool = False
    once: bool = False

    def load(self, settings):
        """Return X_train, y_train, X_test, y_test in double precision: divided by `scale`, or standardised if `scale` is None."""
        X, y, X_test, y_test = settings.real(self.name)
        X, X_test = X.astype(np.float64), X_test.astype(np.float64)
        if self.scale is None:
            mean, spread = X.mean(axis=0), X.std(axis=0)
            spread[spread == 0] = 1
            X, X_test = (X - mean) / spread, (X_test - mean) / spread
        else:
            X, X_test = X / self.scale, X_test / self.scale
        rows = settings.size(len(X), 300)
        return X[:rows], y[:rows], X_test[:rows], y_test[:rows]


@dataclass(frozen=True)
class CoverTypes(Data):
    """Return synthetic rows like those of covtype: 10 numbers and 4 + 40 indicators, and seven overlapping classes of very unequal
    size, so that many support vectors are at the bound."""

    def load(self, settings):
        rng = np.random.default_rng(4)
        count = settings.size(20_000, 300)
        numbers = rng.standard_normal((count + count // 4, 10)) @ (np.eye(10) + 0.3 * rng.standard_normal((10, 10)))
        area, soil = rng.integers(0, 4, len(numbers)), (40 * rng.beta(0.7, 2, len(numbers))).astype(int)
        X = np.hstack([numbers / numbers.std(axis=0), np.eye(4)[area], np.eye(40)[soil]])
        level = numbers[:, 0] + np.sin(2 * numbers[:, 1]) + 0.5 * area + 1.5 * np.cos(soil) + 0.6 * rng.standard_normal(len(X))
        y = np.searchsorted(np.quantile(level, [0.36, 0.85, 0.91, 0.92, 0.94, 0.97]), level)
        return X[:count], y[:count], X[count:], y[count:]


CLASSES = (
    Data("a9a", 1, 1 / 32, once=True),
    Data("ijcnn1_12d", 32, 2),
    Data("w8a", 8, 0.5, slow=True),
    Data("cod_rna", 32, 0.5, once=True),
    Data("letter", 16, 4, scale=15),
    Data("usps", 10, 0.02),
    Data("shuttle", 100, 1, scale=None),
    Data("mnist", 5, 0.02, scale=255, slow=True),
    CoverTypes("made like covtype", 10, 1 / 10),
)

PROTEIN = Data("uci_protein", 1, 1 / 9, scale=None, once=True)


def cases(settings):
    for data in CLASSES:
        for tol in (1e-3, 1e-5):
            name = f"svc {data.name} (C {data.C:g}, γ {data.gamma:g}), tol {tol:g}"
            yield Study("svm", name, 0.0, partial(classification, data, tol, settings), slow=data.slow)
    for tol in (1e-3, 1e-5):
        name = f"svr uci_protein (C 1, ε 0.1, γ 1/9), tol {tol:g}"
        yield Study("svm", name, 1e-3, partial(regression, PROTEIN, tol, settings))
    for data in CLASSES:
        yield Study("svm", f"svc {data.name}: predict", 0.0, partial(prediction, data, settings), slow=data.slow)
    yield Study("svm", "svc satimage: 5 C × 5 γ, 5 folds", 0.0, partial(choice, settings))


def intelex(name, settings):
    """Return a class of Intel's extension, limited to the threads of the run."""
    try:
        import daal4py
        import sklearnex.svm
    except ImportError as reason:
        raise Unavailable("needs scikit-learn-intelex: run bench/setup") from reason
    daal4py.daalinit(settings.threads)
    return getattr(sklearnex.svm, name)


def ours(name):
    import mercer

    if not hasattr(mercer, name):
        raise Unavailable(f"mercer has no {name}")
    return getattr(mercer, name)


def contestants(name, X, y, parameters, answer, settings, *, once, single):
    """Return the peers and mercer, each fitted to (X, y), in double precision and, if `single`, in single precision."""
    peer, extension, mercer = getattr(sklearn.svm, name), intelex(name, settings), ours(name)
    small = X.astype(np.float32)

    def fit(model, X, **more):
        return lambda: model(cache_size=CACHE, **parameters, **more).fit(X, y)

    peers = [Contestant("scikit-learn", fit(peer, X), answer, once=once)]
    peers += [Contestant("intelex f32", fit(extension, small), answer)] * single
    peers += [Contestant("intelex f64", fit(extension, X), answer)]
    bar = {peer.label: 1.0 for peer in peers}
    threads = {"n_jobs": settings.threads}
    return peers, [
        Contestant("mercer f32", fit(mercer, small, **threads), answer, bar=bar),
        Contestant("mercer f64", fit(mercer, X, **threads), answer, bar=bar),
    ]


def classification(data, tol, settings):
    """Compare in both precisions at tolerance 1e-3; at smaller tolerances, peers run in double precision only."""
    X, y, X_test, y_test = data.load(settings)
    parameters = {"C": data.C, "gamma": data.gamma, "tol": tol}
    binary = len(np.unique(y)) == 2

    def answer(model):
        quality = {"test errors": np.sum(model.predict(X_test.astype(X.dtype)) != y_test)}
        return quality | ({"objective": objective(model, data.gamma)} if binary else {})

    rows = max(0.001 * len(X_test), 3)
    allowed = {"test errors": lambda peer: peer + rows}
    if binary:
        allowed["objective"] = lambda peer: peer + 1e-5 * abs(peer)
    single = tol >= 1e-3
    peers, mine = contestants("SVC", X, y, parameters, answer, settings, once=data.once, single=single)
    if single:
        peers, mine = ([keeping(c, data.name) for c in side] for side in (peers, mine))
    return Contest(judged(data, peers), mine, allowed)


def judged(data, peers):
    """Return the peers of a data set: without scikit-learn if it takes five minutes and Intel's extension a tenth of that."""
    return [peer for peer in peers if not (data.slow and peer.label == "scikit-learn")]


def keeping(contestant, name):
    """Return the contestant, with its machine kept for the prediction case."""

    def run():
        TRAINED[name, contestant.label] = machine = contestant.run()
        return machine

    return replace(contestant, run=run)


def regression(data, tol, settings):
    X, y, X_test, y_test = data.load(settings)
    parameters = {"C": data.C, "epsilon": 0.1, "gamma": data.gamma, "tol": tol}

    def answer(model):
        return {"test RMSE": np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))}

    return Contest(*contestants("SVR", X, y, parameters, answer, settings, once=data.once, single=tol >= 1e-3))


def objective(model, gamma):
    """Return ½aᵀKa − Σ|a| of a fitted binary machine; the kernel matrix is computed a few rows at a time."""
    vectors, dual = np.asarray(model.support_vectors_, np.float64), np.asarray(model.dual_coef_, np.float64).ravel()
    squares = np.einsum("ij,ij->i", vectors, vectors)
    total = 0.0
    for first in range(0, len(vectors), 512):
        block = slice(first, first + 512)
        distances = squares[block, None] + squares - 2 * vectors[block] @ vectors.T
        total += dual[block] @ (np.exp(-gamma * np.maximum(distances, 0)) @ dual)
    return 0.5 * total - np.abs(dual).sum()


def prediction(data, settings):
    """Compare predictions, each by the contestant's own machine; training is not timed."""
    X, y, X_test, y_test = data.load(settings)
    parameters = {"C": data.C, "gamma": data.gamma}

    def answer(labels):
        return {"test errors": np.sum(labels != y_test)}

    peers, mine = contestants("SVC", X, y, parameters, answer, settings, once=False, single=True)

    def predict(contestant, bar=None):
        model = TRAINED.pop((data.name, contestant.label), None) or contestant.run()
        rows = X_test.astype(np.float32) if contestant.label.endswith("f32") else X_test
        return Contestant(contestant.label, lambda: model.predict(rows), answer, bar=bar)

    def bars(label):
        """Single precision is compared with single precision; double with double, and must not lose to single."""
        single = label.endswith("f32")
        return {"scikit-learn": 10, "intelex f32": 2 if single else 1, "intelex f64": 2}

    rows = max(0.001 * len(X_test), 3)
    allowed = {"test errors": lambda peer: peer + rows}
    return Contest([predict(p) for p in judged(data, peers)], [predict(m, bars(m.label)) for m in mine], allowed)


def choice(settings):
    """Compare searches on the same folds; scikit-learn trains and scores the machine of each choice."""
    X, y, X_test, y_test = settings.real("satimage")
    low, high = X.min(axis=0), X.max(axis=0)
    X, X_test = ((part - low) / (high - low) for part in (X.astype(np.float64), X_test.astype(np.float64)))
    rows = settings.size(len(X), 300)
    X, y = X[:rows], y[:rows]
    Cs, gammas = 2.0 ** np.array([-1, 1, 3, 5, 7]), 2.0 ** np.array([-7, -5, -3, -1, 1])

    def grid(model, jobs):
        def run():
            search = GridSearchCV(model(cache_size=CACHE), {"C": Cs, "gamma": gammas}, cv=5, n_jobs=jobs, refit=False)
            search.fit(X, y)
            return search.best_score_, search.best_params_

        return run

    def tuned():
        search = ours("SVCCV")(kernel="rbf", Cs=Cs, gammas=gammas, cv=5, n_jobs=settings.threads).fit(X, y)
        return search.best_score_, {"C": search.C_, "gamma": search.gamma_}

    def answer(found):
        score, parameters = found
        machine = sklearn.svm.SVC(cache_size=CACHE, **parameters).fit(X, y)
        return {"errors over the folds": 1 - score, "test errors": np.sum(machine.predict(X_test) != y_test)}

    ours("SVCCV")
    bars = {"scikit-learn, GridSearchCV": 10, "intelex, GridSearchCV": 2}
    return Contest(
        [
            Contestant("scikit-learn, GridSearchCV", grid(sklearn.svm.SVC, settings.threads), answer, once=True),
            Contestant("intelex, GridSearchCV", grid(intelex("SVC", settings), None), answer, once=True),
        ],
        [Contestant("mercer SVCCV", tuned, answer, bar=bars)],
        # Stopping at the tolerance leaves a row or two of a fold to chance.
        {"errors over the folds": lambda peer: peer + 2 / len(X)},
    )
