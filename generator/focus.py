"""The sentences of the references that matter for a question: a small model errs less with few of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from citewell.core.question_sentences import is_question
from citewell.core.quotable import Quotable, named_rows, quotable
from citewell.core.relevance import Relevance
from citewell.core.stated_aims import may_answer
from citewell.core.text import encoded_text
from citewell.core.types import Reference
from citewell.generator.extractive import Split
from citewell.generator.named import not_named

# How much less relevant than the best sentence one may be.
_MARGIN = 0.2
_GAP = " … "

_Place = tuple[int, int]
"""The place of a reference, and that of a sentence in it."""


def focused(
    question: str, references: Sequence[Reference], relevance: Relevance, most_words: int, split: Split
) -> list[Reference]:
    """Return the references with the sentences that matter, about `most_words` in all.

    For each part of `split`, these are the best sentence and those nearly as relevant; what follows a
    question is as relevant as that. They stay in order, with an ellipsis for a gap, and rows of tables name
    their columns. A reference without one is left out. What only states the aim of a study is left out too,
    if there is anything else: a small model takes it for the result; and so are rows and sections other than
    those the question names.
    """
    found = _pieces(references)
    others = not_named(question, references, [(of, piece) for (of, _), piece in found.items()])
    found = {(of, at): piece for (of, at), piece in found.items() if (of, piece) not in others}
    texts = {place: piece.text for place, piece in found.items()}
    sentences = {place: text for place, text in texts.items() if may_answer(question, text)} or texts
    behind = dict.fromkeys(sentences, float("inf"))
    for part in split(question):
        scores = _with_answers(_scores(part, references, sentences, relevance), sentences)
        best = max(scores.values(), default=0.0)
        behind = {place: min(behind[place], best - score) for place, score in scores.items()}
    best_of_part = {place for place in behind if behind[place] == 0}
    near = sorted((place for place in behind if behind[place] <= _MARGIN), key=behind.__getitem__)
    kept = _fitting(best_of_part, near, sentences, most_words)
    return [each for each in _with_sentences(references, sentences, kept) if each.text]


def shortened(
    question: str, references: Sequence[Reference], relevance: Relevance, most_words: int
) -> list[Reference]:
    """Return all references with their most relevant sentences, about `most_words` in all.

    Each keeps its best sentence, as where a model should learn to tell references apart.
    """
    sentences = {place: piece.text for place, piece in _pieces(references).items()}
    if sum(len(sentence.split()) for sentence in sentences.values()) <= most_words:
        return [replace(reference, text=named_rows(reference.text)) for reference in references]
    scores = _scores(question, references, sentences, relevance)
    ranked = sorted(sentences, key=lambda place: -scores[place])
    best_of_each = {place[0]: place for place in reversed(ranked)}
    kept = _fitting(set(best_of_each.values()), ranked, sentences, most_words)
    return _with_sentences(references, sentences, kept)


def _pieces(references: Sequence[Reference]) -> dict[_Place, Quotable]:
    return {
        (place, at): piece
        for place, reference in enumerate(references)
        for at, piece in enumerate(quotable(reference.text, headers=True))
    }


def _scores(
    question: str,
    references: Sequence[Reference],
    sentences: Mapping[_Place, str],
    relevance: Relevance,
) -> dict[_Place, float]:
    encoded = [encoded_text(references[of].title_path, sentence) for (of, _), sentence in sentences.items()]
    return dict(zip(sentences, map(float, relevance(question, encoded)), strict=True))


def _with_answers(scores: Mapping[_Place, float], sentences: Mapping[_Place, str]) -> dict[_Place, float]:
    """Return the scores, that of what follows a question at least the question's."""
    asked = {(of, at + 1): score for (of, at), score in scores.items() if is_question(sentences[of, at])}
    return {place: max(score, asked.get(place, score)) for place, score in scores.items()}


def _fitting(
    kept: set[_Place], ranked: Iterable[_Place], sentences: Mapping[_Place, str], most_words: int
) -> list[_Place]:
    """Return, in order, the places that are kept anyway, and the first others that fit."""
    left = most_words - sum(len(sentences[place].split()) for place in kept)
    for place in ranked:
        length = len(sentences[place].split())
        if place not in kept and length <= left:
            kept.add(place)
            left -= length
    return sorted(kept)


def _with_sentences(
    references: Sequence[Reference], sentences: Mapping[_Place, str], kept: Sequence[_Place]
) -> list[Reference]:
    found = []
    for place, reference in enumerate(references):
        text, before = "", -1
        for at in (at for of, at in kept if of == place):
            gap = _GAP if at > before + 1 else " "
            text = f"{text}{gap if text or gap == _GAP else ''}{sentences[place, at]}"
            before = at
        found.append(replace(reference, text=text.strip()))
    return found
