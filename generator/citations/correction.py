"""Citation correction and the support check: what a sentence cites is what supports it."""

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
    """Replace an answer's marks by those that hold, sentence by sentence (WebGLM §3.2.2).

    The paper's rule is ∇ᵢ = {r | f(sᵢ, r) ≥ T} with ROUGE-1 as f: marks that the generator wrote neither
    help nor hinder. Two conditions are added: a reference must hold every number and name of the sentence,
    and come close to the best one. A sentence that nothing supports keeps its text, cites nothing and is
    marked unsupported, with the best precision that any reference reached. A sentence that the answer has had
    before, word for word, is left out: small models repeat themselves.
    """
    # The title says what a passage is about, in words that the passage itself often leaves out.
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
