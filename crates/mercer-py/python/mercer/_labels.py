"""Labels of classes in model files, which know integers, numbers and texts."""

import numpy as np


def to_file(classes):
    """The labels as a file holds them, and the name of their type: booleans and the largest integers become texts."""
    labels = classes.tolist()
    kind = classes.dtype.kind
    if kind == "b" or (kind == "u" and max(labels) > np.iinfo(np.int64).max):
        labels = [str(label) for label in labels]
    if kind in "biuf":
        return labels, classes.dtype.name
    return labels, classes.dtype.str if kind == "U" else "object"


def from_file(labels, label_type):
    """The labels as they were, or as a file holds them where it does not name their type."""
    if label_type is None:
        return np.array(labels)
    dtype = np.dtype(label_type)
    if dtype.kind == "b":
        labels = [label == "True" for label in labels]
    elif dtype.kind in "iu":
        labels = [int(label) for label in labels]
    return np.array(labels, dtype=dtype)
