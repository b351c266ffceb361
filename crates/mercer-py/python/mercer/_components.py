"""Common base of the transformers with a number of components."""

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer._constraints import at_least

__all__ = ["Components"]


class Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin of transformers with an ``n_components`` parameter and as many outputs, in the precision of their input."""

    _parameter_constraints = {"n_components": [at_least(1)]}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def save(self, path):
        """Raise ValueError: features alone are not a model.

        Raises
        ------
        ValueError
            Always; pickle them.
        """
        raise ValueError(
            f"{type(self).__name__} makes features, which alone are not a model: pickle it, "
            "or save a mercer.KernelRidge(approx=...)"
        )
