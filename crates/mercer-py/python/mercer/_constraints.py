"""Allowed values of the estimators' parameters, written as scikit-learn's constraints and checked by its code."""

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Hidden, Interval, InvalidParameterError, StrOptions

__all__ = [
    "ANY_KERNEL",
    "CLASS_WEIGHT",
    "FINITE",
    "FORMULA_OR_NAME",
    "InvalidParameterError",
    "NON_NEGATIVE",
    "NU",
    "ON_DEVICE",
    "PENALTY",
    "POSITIVE",
    "POSITIVE_OR_INFINITE",
    "PROBABILITY",
    "SHARED",
    "at_least",
    "has_methods",
    "one_of",
]

#: Real numbers.
FINITE = Interval(Real, None, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
POSITIVE_OR_INFINITE = Interval(Real, 0, None, closed="right")

#: Parameters of every estimator.
SHARED = {"n_jobs": [Integral, None], "verbose": ["verbose"]}

#: Parameters of every estimator that computes kernel values. The native code checks the device.
ON_DEVICE = {**SHARED, "device": [str]}

#: A kernel and the hyper-parameters of scikit-learn's kernel names, where the defaults are those of its kernel functions.
FORMULA_OR_NAME = {
    "kernel": [str, callable],
    "gamma": [NON_NEGATIVE, None],
    "degree": [NON_NEGATIVE],
    "coef0": [FINITE],
    "kernel_params": [dict, None],
    "random_state": ["random_state"],
}

#: The same for estimators whose γ may be "scale" or "auto".
ANY_KERNEL = {**FORMULA_OR_NAME, "gamma": [StrOptions({"scale", "auto"}), NON_NEGATIVE]}

#: C of support vector machines, which may be infinite, and ν.
PENALTY = {"C": [POSITIVE_OR_INFINITE]}
NU = {"nu": [Interval(Real, 0, 1, closed="right")]}

CLASS_WEIGHT = {"class_weight": [StrOptions({"balanced"}), dict, None]}

#: "deprecated" is the default of scikit-learn's machines.
PROBABILITY = {"probability": ["boolean", Hidden(StrOptions({"deprecated"}))]}


def one_of(*words):
    """Return the constraint that allows these strings."""
    return StrOptions(set(words))


def at_least(low):
    """Return the constraint that allows integers of at least `low`."""
    return Interval(Integral, low, None, closed="left")


def has_methods(*names):
    """Return the constraint that allows objects with these methods."""
    return HasMethods(list(names))
