"""NVIDIA's libraries from Python packages, where the system's loader does not look."""

import ctypes
import sys
from pathlib import Path

# Each one before those that need it.
_LIBRARIES = ("nvrtc", "cublasLt", "cublas", "nvJitLink", "cusparse", "cusolver")

#: Filled by the first call of `preload`, which is the only one that looks for files.
_TRIED: list[bool] = []


def find(folders):
    """The newest of each library in the first of these folders that has it, in the order in which they can be loaded."""
    found = []
    for name in _LIBRARIES:
        each = (list(Path(folder).glob(f"nvidia/*/lib/lib{name}.so.*")) for folder in folders)
        files = next(filter(None, each), [])
        found += sorted(files, key=_version)[-1:]
    return found


def _version(file):
    return [int(part) if part.isdecimal() else -1 for part in file.name.partition(".so.")[2].split(".")]


def preload():
    """Load the libraries that are not on the loader's path, so that the native module finds them by their names."""
    if _TRIED:
        return
    _TRIED.append(True)
    for file in find(sys.path):
        if not _load(file.name.partition(".so.")[0] + ".so"):
            _load(str(file))


def _load(name):
    try:
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True
