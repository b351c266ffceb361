"""What the machines share that can put finitely many features in the place of their kernel: the ``approx`` parameter."""

import re

from mercer import _native
from mercer._rows import borrowable

__all__ = ["Approximated"]


class Approximated:
    """Mixin of kernel machines with an ``approx`` parameter.

    Random features leave a linear model: ``coef_``, and `_linear` as the native code takes it. Landmarks leave an expansion in
    them: ``dual_coef_`` and ``X_fit_``.
    """

    #: The feature map and the weights, where the model is linear in features.
    _linear = None

    def _check_approx(self):
        """The parameter: None for the kernel as it is, "auto" for whatever it takes, else the kind and the number."""
        approx = self.approx
        if approx is None or approx == "auto":
            return approx
        if not isinstance(approx, str) or not re.fullmatch(r"fourier:\d+|nystrom:\d+", approx):
            raise ValueError(
                f"The 'approx' parameter of {type(self).__name__} must be None, 'auto', 'fourier:D' with a number D of "
                f"random features or 'nystrom:M' with a number M of landmarks. Got {approx!r} instead."
            )
        return approx

    def _chosen_approx(self, X):
        """The approximation for these rows: as it is asked for, or what "auto" comes to; `approx_` says it."""
        self.approx_ = self._check_approx()
        native = self._choice.native
        if self.approx_ == "auto":
            self.approx_ = None
            if native is not None:
                with self._job() as job:
                    self.approx_ = _native.choose_approximation(native, borrowable(X), self._fit_seed, job)
        elif self.approx_ is not None and native is None:
            raise ValueError(
                f"approx={self.approx_!r} needs a kernel of the language, which a precomputed or callable kernel is not; "
                "use mercer.Nystroem and a linear model"
            )
        return self.approx_

    def _forget(self, *names):
        """Leaves nothing of a fit of another kind."""
        self._linear = None
        for name in ("coef_", "dual_coef_", "X_fit_", *names):
            vars(self).pop(name, None)

    def _rows_to_draw(self, X):
        if X is not None:
            return self._predict_input(X)
        if not hasattr(self, "X_fit_"):
            raise ValueError("random features keep no training rows: give rows to draw the model over, plot(X)")
        return self.X_fit_
