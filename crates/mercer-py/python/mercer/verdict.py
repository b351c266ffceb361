"""Result of a kernel check: the formula is a kernel, is not one, or is undecided."""

import json

__all__ = ["Verdict"]


class Verdict:
    """The answer to "is this formula positive semidefinite?", with its proof or its counter-example.

    It is truthy if the formula is proven to be a kernel.

    Attributes
    ----------
    verdict : {"proven", "refuted", "undefined", "undecided"}
    kernel, dim, domain
        The question.
    proof : dict or None
        The rule that proves it, its reference and its premises.
    refutation : dict or None
        The points and weights whose quadratic form is negative, the theorem that rules the formula out,
        or the points at which it is undefined.
    evidence : dict or None
        What was tried, if neither was found.
    document : dict
        All that ``mercer check --json`` prints: in addition to the above, where known, ``parameter`` (the values of ``?``),
        ``largest_dim``, ``conditionally_positive_definite``, ``strictly_positive_definite``, ``characteristic``,
        ``universal`` and ``repairs``.
    certificate : str or None
        The proof or the counter-example as a document that ``mercer verify`` checks; None if undecided.

    Examples
    --------
    >>> from mercer import Kernel
    >>> bool(Kernel("sin(<x,z>) + exp(<x,z>)").check())
    True
    >>> Kernel("exp(|x-z|^2)").check().verdict
    'refuted'
    """

    def __init__(self, document, text, certificate=None):
        answer = json.loads(document)
        self.document = answer
        self.certificate = certificate
        self.kernel = answer["kernel"]
        self.dim = answer["dim"]
        self.domain = answer["domain"]
        self.verdict = answer["verdict"]
        self.proof = answer.get("proof")
        self.refutation = answer.get("refutation")
        self.evidence = answer.get("evidence")
        self._text = text

    def __bool__(self):
        return self.verdict == "proven"

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<mercer.Verdict: {self.kernel} is {self.verdict} (dim {self.dim}, domain {self.domain})>"
