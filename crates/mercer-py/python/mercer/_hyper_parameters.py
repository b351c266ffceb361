"""The hyper-parameters of a kernel, read from its text and written into it.

A kernel prints every hyper-parameter as ``name=value``, and nothing else in its text has an ``=``.
"""

import re
from numbers import Real

import numpy as np

__all__ = ["read", "write"]

#: name=value: a list, values to tune over, a prior, or anything without a comma or a parenthesis.
_ARGUMENT = re.compile(r"(?P<name>\w+)=(?P<value>\[[^\]]*\]|\?\{[^}]*\}|\?~\w+\([^)]*\)|[^,()]+)")


def read(text):
    """Return {name: value} for a printed kernel: a number, a list of numbers, or the text of ``auto`` and ``?``.

    The second hyper-parameter called sigma is ``sigma_2``.
    """
    return {name: _value(match["value"]) for name, match in _named(text)}


def write(text, values):
    """Return the text with these hyper-parameters, by the names of `read`.

    Raises
    ------
    ValueError
        If the kernel has no hyper-parameter of that name.
    """
    found = dict(_named(text))
    unknown = sorted(values.keys() - found)
    if unknown:
        raise ValueError(f"Invalid parameter {unknown[0]!r} for kernel {text}. Valid parameters are: {list(found)!r}.")
    for name in reversed(found):
        if name in values:
            start, end = found[name].span("value")
            text = text[:start] + _written(name, values[name]) + text[end:]
    return text


def _named(text):
    counts = {}
    for match in _ARGUMENT.finditer(text):
        name = match["name"]
        counts[name] = counts.get(name, 0) + 1
        yield (name if counts[name] == 1 else f"{name}_{counts[name]}"), match


def _value(text):
    if text.startswith("["):
        return [float(part) for part in text[1:-1].split(",")] if "?" not in text else text
    try:
        return float(text)
    except ValueError:
        return text


def _written(name, value):
    if isinstance(value, str):
        return value
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1:
        return "[" + ", ".join(repr(float(number)) for number in value) + "]"
    raise TypeError(f"{name} is a number, a list of numbers or a text such as 'auto', got {value!r}")
