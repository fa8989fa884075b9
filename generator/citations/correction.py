"""Citation correction and the support check: each sentence cites the references that support it."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from citewell.core.markdown import before_next
from citewell.core.types import Reference, Sentence
from citewell.generator.citations.marks import MarkedSentence, read_marks, read_quotations
from citewell.generator.citations.support import ReferenceText

# A reference that supports a sentence this much less than the best one adds nothing to it.
_MARGIN = 0.1
_LAST_STOP = re.compile(r"[\s.,;:!?]+$")


def check_citations(
    answer: str, references: Sequence[Reference], threshold: float = 0.5, *, markdown: bool = False
) -> tuple[Sentence, ...]:
    """Replace an answer's marks by supported ones, sentence by sentence (WebGLM §3.2.2).

    The paper's rule is ∇ᵢ = {r | f(sᵢ, r) ≥ T} with ROUGE-1 as f: marks that the generator wrote are
    ignored. Two conditions are added: a reference must contain every number and name of the sentence, and
    come close to the best one. An unsupported sentence keeps its text, cites nothing and is marked
    unsupported, with the best precision of any reference. A sentence that repeats an earlier one word for
    word is dropped: small models repeat themselves.
    """
    return _checked(read_marks(answer, markdown=markdown), references, threshold)


def check_quotations(
    answer: str, references: Sequence[Reference], threshold: float = 0.5
) -> tuple[Sentence, ...]:
    """Return quoted sentences, each of which ends with its marks, as `check_citations` returns others."""
    return _checked(read_quotations(answer), references, threshold)


def _checked(
    marked: Sequence[MarkedSentence], references: Sequence[Reference], threshold: float
) -> tuple[Sentence, ...]:
    # The title names the subject of a passage, in words that the passage itself often lacks.
    sources = {r.number: ReferenceText(r.text, r.title_path) for r in references}
    first: dict[str, int] = {}
    for place, sentence in enumerate(marked):
        first.setdefault(_LAST_STOP.sub("", sentence.text.casefold()), place)
    return kept(
        [_check(sentence.text, sentence.before, sources, threshold) for sentence in marked],
        frozenset(first.values()),
    )


def kept(sentences: Sequence[Sentence], places: Container[int]) -> tuple[Sentence, ...]:
    """Return the sentences at some places, laid out as if there were no others."""
    left: list[Sentence] = []
    dropped: str | None = None
    for place, sentence in enumerate(sentences):
        before = before_next(dropped, sentence.before)
        if place in places:
            left.append(replace(sentence, before=before))
        dropped = None if place in places else before
    return tuple(left)


def supported_only(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the supported sentences, but none that ends with a colon if what it introduces is left out."""
    places: set[int] = set()
    for place in reversed(range(len(sentences))):
        introducing = introduces(sentences[place].text)
        if sentences[place].supported and (not introducing or place + 1 in places):
            places.add(place)
    return kept(sentences, places)


def introduces(text: str) -> bool:
    """Return whether a sentence says nothing by itself: it ends with a colon, and others follow."""
    return text.rstrip().endswith((":", "："))


def running_on(sentences: Sequence[Sentence]) -> list[int]:
    """Return the places of later sentences of running text, not in lists, tables or code."""
    return [
        place
        for place, sentence in enumerate(sentences)
        if place > 0 and sentence.before is not None and not sentence.before.strip()
    ]


def _check(text: str, before: str | None, sources: Mapping[int, ReferenceText], threshold: float) -> Sentence:
    precision = {number: source.precision(text) for number, source in sources.items()}
    holding = {n: p for n, p in precision.items() if p >= threshold and sources[n].holds_facts(text)}
    if not holding:
        return Sentence(
            text, (), round(max(precision.values(), default=0.0), 3), supported=False, before=before
        )
    best = max(holding.values())
    citations = tuple(sorted(n for n, p in holding.items() if p >= best - _MARGIN))
    return Sentence(text, citations, round(best, 3), supported=True, before=before)
