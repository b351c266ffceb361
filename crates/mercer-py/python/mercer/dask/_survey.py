"""What a fit must know of all rows before it sums them up."""

from dataclasses import dataclass, replace

import numpy as np

from mercer._gamma import merged_moments
from mercer._rows import stacked

__all__ = ["Survey"]


@dataclass
class Survey:
    """What a first pass over some partitions has found. Surveys of consecutive partitions are merged in their order."""

    #: The rows of each partition.
    sizes: list
    #: The sum of the weights of the rows.
    weight: float
    #: A uniform sample of the rows: those with the smallest hashes, in the order of the rows. `places` are partition and row.
    hashes: np.ndarray
    places: np.ndarray
    sample: object
    #: The number, mean and squared deviations of all entries.
    moments: tuple
    #: The first partition with a negative entry.
    negative: int | None
    #: The rows of positive weight, and of each of their targets the mean and the sum of squared deviations from it.
    target_moments: tuple
    #: The targets and weights of the sample; None where they are not needed.
    targets: np.ndarray | None
    sample_weights: np.ndarray | None
    #: The classes, with the number and the summed weight of the rows of each; None where y is numbers.
    classes: np.ndarray | None
    counts: np.ndarray | None
    weights: np.ndarray | None

    @property
    def rows(self):
        return sum(self.sizes)

    def cut(self, capacity):
        """The same with so many rows in the sample at most."""
        if len(self.hashes) <= capacity:
            return self
        # Equal hashes are settled by the place of the row.
        kept = np.sort(np.lexsort((self.places[:, 1], self.places[:, 0], self.hashes))[:capacity])
        of_rows = ("hashes", "places", "sample", "targets", "sample_weights")
        values = {name: getattr(self, name) for name in of_rows}
        return replace(self, **{name: None if value is None else value[kept] for name, value in values.items()})

    def merged(self, later):
        """The survey of these partitions and of later ones."""
        classes = counts = weights = None
        if self.classes is not None:
            classes = np.unique(np.concatenate([self.classes, later.classes]))
            counts, weights = np.zeros(len(classes)), np.zeros(len(classes))
            for part in (self, later):
                places = np.searchsorted(classes, part.classes)
                counts[places] += part.counts
                weights[places] += part.weights
        return Survey(
            sizes=self.sizes + later.sizes,
            weight=self.weight + later.weight,
            hashes=np.concatenate([self.hashes, later.hashes]),
            places=np.concatenate([self.places, later.places]),
            sample=stacked(self.sample, later.sample),
            moments=merged_moments(self.moments, later.moments),
            target_moments=merged_moments(self.target_moments, later.target_moments),
            targets=None if self.targets is None else np.concatenate([self.targets, later.targets]),
            sample_weights=None if self.sample_weights is None else np.concatenate([self.sample_weights, later.sample_weights]),
            negative=later.negative if self.negative is None else self.negative,
            classes=classes,
            counts=counts,
            weights=weights,
        )
