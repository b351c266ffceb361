"""Models drawn with matplotlib."""

import numpy as np

from mercer._rows import borrowable, is_sparse

#: Largest number of bumps drawn; the largest bumps are kept.
BUMPS = 40


def draw_classes(model, X, y, *, names=None, ax=None, points=160):
    """Draw a classifier of two features: its classes, shaded by confidence, and the rows."""
    plt = _pyplot()
    ax = plt.gca() if ax is None else ax
    X = X.toarray() if is_sparse(X) else np.asarray(X)
    if X.shape[1] != 2:
        raise ValueError(f"the plot of a classifier needs two features, but this one has {X.shape[1]}")
    classes = model.classes_
    if len(classes) > 10:
        raise ValueError(f"the plot of a classifier has colours for ten classes, but there are {len(classes)}")
    first, second = (np.linspace(*_range(column), points) for column in X.T)
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2).astype(X.dtype)
    shades = _confidence(model, grid).reshape(points, points, len(classes))
    colours = np.array([plt.matplotlib.colors.to_rgb(f"C{code}") for code in range(len(classes))])
    winner = shades.argmax(axis=2)
    strength = 0.1 + 0.5 * np.clip(shades.max(axis=2), 0, 1)[:, :, None]
    extent = (first[0], first[-1], second[0], second[-1])
    image = 1 - strength * (1 - colours[winner])
    ax.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="bilinear", zorder=0)
    if y is not None:
        y = np.asarray(y)
        for code, label in enumerate(classes.tolist()):
            rows = X[y == label]
            ax.scatter(rows[:, 0], rows[:, 1], s=12, color=f"C{code}", edgecolor="white", linewidth=0.5, label=str(label))
        ax.legend()
    names = names or ["x0", "x1"]
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax


def _confidence(model, grid):
    """Return the confidence in each class at every row of the grid: the largest wins; 0 to 1 is the visible range."""
    n_classes = len(model.classes_)
    if hasattr(model, "predict_proba"):
        return (model.predict_proba(grid) - 1 / n_classes) / (1 - 1 / n_classes)
    decision = model.decision_function(grid)
    if decision.ndim == 1:
        decision = np.stack([-decision, decision], axis=1)
    ordered = np.sort(decision, axis=1)
    lead = decision - np.where(decision == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
    return lead / (np.abs(lead).max() or 1.0)


def _pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plotting needs matplotlib: pip install matplotlib") from None
    return plt


def draw(predict, X, y, *, names=None, bumps=None, ax=None):
    """Draw a regression: curve and bumps over one column, contours over two, predicted against actual over more."""
    ax = _pyplot().gca() if ax is None else ax
    X = X.toarray() if is_sparse(X) else np.asarray(X)
    y = None if y is None else np.asarray(y, dtype=np.float64)
    names = names or [f"x{i}" for i in range(X.shape[1])]
    if X.shape[1] == 1:
        _curve(ax, predict, X, y, bumps)
        ax.set_xlabel(names[0])
    elif X.shape[1] == 2:
        _contours(ax, predict, X, y)
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
    else:
        if y is None:
            raise ValueError(f"a model of {X.shape[1]} features is drawn as predicted against actual values: pass y")
        _predicted_against_actual(ax, predict(X), y)
    return ax


def _range(values):
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _curve(ax, predict, X, y, bumps):
    grid = np.linspace(*_range(X), 400)[:, None].astype(X.dtype)
    if bumps is not None:
        kernel, centred, centres, dual, intercept = bumps
        dual = np.asarray(dual).reshape(len(centres), -1)[:, 0]
        largest = np.sort(np.argsort(-np.abs(dual), kind="stable")[:BUMPS])
        job = {"threads": None, "progress": None}
        heights = kernel.matrix(borrowable(centred(grid)), borrowable(centred(centres[largest])), job)
        base = float(np.ravel(intercept)[0])
        ax.plot(grid, base + heights * dual[largest], color="0.75", linewidth=0.6, zorder=1)
    ax.plot(grid, predict(grid), color="C0", linewidth=2, zorder=3, label="prediction")
    if y is not None:
        ax.plot(X[:, 0], y, "o", color="0.2", markersize=3, zorder=2, label="data")
    ax.legend()


def _contours(ax, predict, X, y, points=120):
    first, second = (np.linspace(*_range(column), points) for column in X.T)
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2).astype(X.dtype)
    heights = np.asarray(predict(grid), dtype=np.float64).reshape(len(grid), -1)[:, 0].reshape(points, points)
    filled = ax.contourf(first, second, heights, levels=14)
    ax.figure.colorbar(filled, ax=ax)
    if y is None:
        ax.plot(X[:, 0], X[:, 1], "o", color="white", markeredgecolor="0.2", markersize=3)
    else:
        colours = y.reshape(len(X), -1)[:, 0]
        ax.scatter(*X.T, c=colours, edgecolors="0.2", linewidths=0.5, s=14, norm=filled.norm, cmap=filled.cmap)


def _predicted_against_actual(ax, predicted, y):
    ax.plot(np.ravel(y), np.ravel(predicted), "o", markersize=3, alpha=0.6)
    both = _range(np.concatenate([np.ravel(y), np.ravel(predicted)]))
    ax.plot(both, both, color="0.5", linewidth=1)
    ax.set_xlabel("actual")
    ax.set_ylabel("predicted")
