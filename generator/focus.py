"""The sentences of the references that matter for a question, so that a language model has less to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.core.quotable import named_rows, pieces
from citewell.core.relevance import Relevance
from citewell.core.text import encoded_text
from citewell.core.types import Reference

_GAP = " … "


def focused(
    question: str, references: Sequence[Reference], relevance: Relevance, most_words: int
) -> list[Reference]:
    """Return the references with their most relevant sentences, about `most_words` in all.

    Each keeps its best sentence, and the sentences that are kept stay in order, with an ellipsis for a gap.
    Rows of tables name their columns.
    """
    texts = [pieces(reference.text) for reference in references]
    places = [(number, at) for number, sentences in enumerate(texts) for at in range(len(sentences))]
    if sum(len(texts[number][at].split()) for number, at in places) <= most_words:
        return [replace(reference, text=named_rows(reference.text)) for reference in references]
    encoded = [encoded_text(references[number].title_path, texts[number][at]) for number, at in places]
    scores = dict(zip(places, relevance(question, encoded), strict=True))
    ranked = sorted(places, key=lambda place: -scores[place])
    best = {number: (number, at) for number, at in reversed(ranked)}
    kept = set(best.values())
    left = most_words - sum(len(texts[number][at].split()) for number, at in kept)
    for number, at in ranked:
        length = len(texts[number][at].split())
        if (number, at) not in kept and length <= left:
            kept.add((number, at))
            left -= length
    return [
        replace(reference, text=_joined(texts[number], [at for owner, at in sorted(kept) if owner == number]))
        for number, reference in enumerate(references)
    ]


def _joined(sentences: Sequence[str], kept: Sequence[int]) -> str:
    text = ""
    for before, at in zip([-1, *kept], kept, strict=False):
        gap = _GAP if at > before + 1 else " "
        text = f"{text}{gap if text or gap == _GAP else ''}{sentences[at]}"
    return text.strip()
