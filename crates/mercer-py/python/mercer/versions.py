"""Versions, threads and machine, for bug reports."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["show_versions"]

#: Required packages, then optional ones.
_PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn", "joblib", "pandas", "matplotlib", "tqdm")


def show_versions():
    """Print the versions of mercer, Python and related packages, and the hardware that mercer detected.

    >>> import mercer
    >>> mercer.show_versions()  # doctest: +ELLIPSIS
    mercer: ...
    """
    import mercer
    from mercer import _native

    facts = {name: mercer.__version__ if name == "mercer" else _version(name) for name in _PACKAGES}
    facts |= {
        "python": sys.version.replace("\n", " "),
        "executable": sys.executable,
        "machine": platform.platform(),
        "instruction set": _native.instruction_set(),
        "threads": _native.available_threads(),
    }
    for name, fact in facts.items():
        print(f"{name}: {fact}")


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
