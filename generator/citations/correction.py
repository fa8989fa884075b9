"""Citation correction and the support check: each sentence cites the references that support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.core.text import words
from citewell.core.types import Reference, Sentence
from citewell.generator.citations.marks import read_marks
from citewell.generator.citations.support import ReferenceText

# A reference that supports a sentence this much less than the best one adds nothing to it.
_MARGIN = 0.1


def check_citations(
    answer: str, references: Sequence[Reference], threshold: float = 0.5
) -> tuple[Sentence, ...]:
    """Replace an answer's marks by supported ones, sentence by sentence (WebGLM §3.2.2).

    The paper's rule is ∇ᵢ = {r | f(sᵢ, r) ≥ T} with ROUGE-1 as f: marks that the generator wrote are
    ignored. Two conditions are added: a reference must contain every number and name of the sentence, and
    come close to the best one. An unsupported sentence keeps its text, cites nothing and is marked
    unsupported, with the best precision of any reference. A sentence that repeats an earlier one word for
    word is dropped: small models repeat themselves.
    """
    # The title names the subject of a passage, in words that the passage itself often lacks.
    sources = {r.number: ReferenceText(f"{r.title}\n{r.text}") for r in references}
    texts: dict[tuple[str, ...], str] = {}
    for marked in read_marks(answer):
        texts.setdefault(tuple(words(marked.text)), marked.text)
    return tuple(_check(text, sources, threshold) for text in texts.values())


def _check(text: str, sources: Mapping[int, ReferenceText], threshold: float) -> Sentence:
    precision = {number: source.precision(text) for number, source in sources.items()}
    holding = {n: p for n, p in precision.items() if p >= threshold and sources[n].holds_facts(text)}
    if not holding:
        return Sentence(text, (), round(max(precision.values(), default=0.0), 3), supported=False)
    best = max(holding.values())
    citations = tuple(sorted(n for n, p in holding.items() if p >= best - _MARGIN))
    return Sentence(text, citations, round(best, 3), supported=True)
