"""What the transformers share whose output is a number of components."""

from numbers import Integral

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

__all__ = ["Components"]


class Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin of transformers with an ``n_components`` parameter and as many outputs, in the precision of their input."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_components(self):
        count = self.n_components
        if isinstance(count, bool) or not isinstance(count, Integral):
            kind = TypeError
        elif count < 1:
            kind = ValueError
        else:
            return int(count)
        raise kind(
            f"The 'n_components' parameter of {type(self).__name__} must be an int in the range [1, inf). "
            f"Got {count!r} instead."
        )

    def save(self, path):
        """Features alone are not a model.

        Raises
        ------
        ValueError
            Always; pickle them.
        """
        raise ValueError(
            f"{type(self).__name__} makes features, which alone are not a model: pickle it, "
            "or save a mercer.KernelRidge(approx=...)"
        )
