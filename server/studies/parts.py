"""A rater's opinion of the parts of an answer: its references and its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from citewell.core.errors import InputError
from citewell.server.api.schemas import ClaimRating, ReferenceTrust

PartLevels = Mapping[tuple[str, int], str]
"""A level by what it is of: `trust` and a reference, or `support` or `relevance` and a sentence."""

_OF_CLAIMS = ("support", "relevance")


def part_levels(answer: Mapping[str, Any]) -> PartLevels:
    """Return what is said of the parts of an answer, in `trust` and `claims`."""
    trust = {("trust", each["reference"]): each["trust"] for each in answer.get("trust") or ()}
    claims = {
        (name, each["sentence"]): each[name]
        for each in answer.get("claims") or ()
        for name in _OF_CLAIMS
        if each.get(name)
    }
    return trust | claims


def judged_parts(
    given_trust: Sequence[ReferenceTrust],
    given_claims: Sequence[ClaimRating],
    references: int,
    sentences: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the opinion as it is stored, in order, with the text of each sentence.

    `sentences` is None for a plain text. Raises `InputError` if a part is judged twice, or does not exist.
    """
    trust = {each.reference: each.trust for each in given_trust}
    claims = {each.sentence: each for each in given_claims}
    if len(trust) < len(given_trust) or len(claims) < len(given_claims):
        raise InputError("A reference or a sentence of an answer is judged twice.", "Judge each once.")
    if max(trust, default=0) > references:
        raise InputError(f"The answer has {references} references.", "They count from 1.")
    if sentences is not None and max(claims, default=-1) >= len(sentences):
        raise InputError(f"The answer has {len(sentences)} sentences.", "They count from 0.")
    kept: dict[str, Any] = {}
    if trust:
        kept["trust"] = [{"reference": number, "trust": level} for number, level in sorted(trust.items())]
    if claims:
        kept["claims"] = [
            to_builtins(claim) | ({"text": sentences[number]} if sentences is not None else {})
            for number, claim in sorted(claims.items())
        ]
    return kept
