"""Class labels in model files, which store integers, numbers and strings."""

import numpy as np


def to_file(classes):
    """Return the labels as stored in a file, and the name of their type. Booleans and very large integers become strings."""
    labels = classes.tolist()
    kind = classes.dtype.kind
    if kind == "b" or (kind == "u" and max(labels) > np.iinfo(np.int64).max):
        labels = [str(label) for label in labels]
    if kind in "biuf":
        return labels, classes.dtype.name
    return labels, classes.dtype.str if kind == "U" else "object"


def from_file(labels, label_type):
    """Return the labels in their original type, or as stored if the file does not name the type."""
    if label_type is None:
        return np.array(labels)
    dtype = np.dtype(label_type)
    if dtype.kind == "b":
        labels = [label == "True" for label in labels]
    elif dtype.kind in "iu":
        labels = [int(label) for label in labels]
    return np.array(labels, dtype=dtype)
