from typing import Any, Literal

__all__ = ["Verdict"]

class Verdict:
    verdict: Literal["proven", "refuted", "undefined", "undecided"]
    kernel: str
    dim: int | Literal["any"]
    domain: str
    proof: dict[str, Any] | None
    refutation: dict[str, Any] | None
    evidence: dict[str, Any] | None
    document: dict[str, Any]
    certificate: str | None
    def __init__(self, document: str, text: str, certificate: str | None = None) -> None: ...
    def __bool__(self) -> bool: ...
