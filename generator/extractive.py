"""The extractive generator: quotes the sentences of the references that answer best."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from citewell.core.asked_section import asked_section
from citewell.core.events import Token
from citewell.core.notes import capitalized
from citewell.core.pointing_back import points_back
from citewell.core.question_sentences import is_question
from citewell.core.quotable import Quotable, listed, quotable
from citewell.core.relevance import Relevance
from citewell.core.stated_aims import may_answer
from citewell.core.subject import LAST_NAME, asked_subject, defines, is_about
from citewell.core.text import content_words, encoded_text, split_sentences, squeeze, words
from citewell.core.types import Reference
from citewell.generator.completer import Completer
from citewell.generator.named import not_named
from citewell.generator.readable import is_readable
from citewell.generator.yes import YesModel

Split = Callable[[str], Sequence[str]]
"""Splits a question into its parts, as `citewell.retriever.parts.parts` does."""

# Beginnings that take back what the sentence before says: it is never quoted without them.
_TAKES_BACK = re.compile(
    r"(?:however|but|in fact|in reality|in truth|actually|nevertheless|on the contrary)\b|"
    r"(?:this|that|the) (?:\w+ )?(?:claim|belief|idea|theory|story|notion|view|legend|myth)\b|"
    r"(?:this|that|it) (?:is|was) (?:\w+ )?(?:a myth|false|untrue|incorrect|wrong)\b",
    re.IGNORECASE,
)
# A sentence that scores this much less than the best one is off topic.
_DROP = 0.25
# A sentence with less does not answer, as the dev half of `benchmarks.own_documents` shows.
_LEAST_SCORE = 0.15
# A part of the question whose best sentence scores this much less than that of another part has no answer.
_NO_ANSWER = 0.3
# Content words in common, as a share of the shorter sentence, at which the second one is a repetition.
_REPEATS = 0.7
# Weight of the passage's score, which reflects the subject, beside the sentence's own score.
_CONTEXT = 0.5
# The first sentence of a page on X answers "What is X?" if it scores at most this much less than the best;
# the second is for one that defines X, and for the first of a section that the question asks for.
_LEAD, _DEFINING = 0.2, 0.5
_FIRST = 1e-3  # above the best
_CLEARLY = 0.08  # worse than the best
_REMEMBERED = 8  # questions
_SHORT_ITEM = 25  # words


class _Sentence(NamedTuple):
    reference: int  # index among the references
    position: int  # index among the reference's sentences
    piece: Quotable
    score: float
    is_answer: bool
    """Whether it follows a question."""

    @property
    def text(self) -> str:
        return self.piece.text


class _QuotedQuestion(NamedTuple):
    """A question in a reference, such as a heading of a list of frequent questions, and its score."""

    reference: int
    score: float


_NO_QUESTION = _QuotedQuestion(-1, 0.0)


class ExtractiveGenerator:
    """A generator that quotes instead of writing, so that every sentence is supported by construction.

    It takes the most relevant sentences of all references, or none if none is relevant. It skips
    repetitions, questions, fragments, the aims of studies and rows other than those the question names, adds
    the sentence before one that refers to it and the one after that takes it back, and groups sentences by
    reference in their own order, best reference first; the best sentence begins, if no other is nearly as
    good. Each part of the question gets its share of the sentences.
    """

    name = "extractive"
    yes_model: YesModel | None = None
    completer: Completer | None = None
    refuses = False

    def __init__(self, relevance: Relevance, *, sentences: int, split: Split) -> None:
        """Quote at most `sentences` sentences, chosen by `relevance` for each part of `split`."""
        self._relevance = relevance
        self._most = sentences
        self._split = split
        # Asked for the best score, and then for the sentences.
        self._remembered = lru_cache(_REMEMBERED)(self._score)

    def best_score(self, question: str, references: Sequence[Reference]) -> float:
        """Return the score of the sentence that answers a question best, -1 without one.

        It is the sentence's relevance plus half the score of its passage. Slow: for a thread.
        """
        return max(
            (sentence.score for sentence in self._remembered(question, tuple(references))), default=-1.0
        )

    async def generate(
        self,
        question: str,
        references: Sequence[Reference],
        n: int,
        *,
        first: int = 0,
        likely: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        """Stream the only answer sentence by sentence; `n` is ignored."""
        if first:
            return
        chosen = await asyncio.to_thread(self._choose, question, references)
        for index, (reference, text) in enumerate(_statements(chosen)):
            yield Token(f"{' ' if index else ''}{text} [{references[reference].number}]")

    def _choose(self, question: str, references: Sequence[Reference]) -> list[_Sentence]:
        asked = list(self._split(question))[: self._most]
        pools = [self._remembered(part, tuple(references)) for part in asked]
        best = max((s.score for pool in pools for s in pool), default=0.0)
        answered = [pool for pool in pools if any(s.score > best - _NO_ANSWER for s in pool)]
        chosen: dict[tuple[int, int], _Sentence] = {}
        for number, pool in enumerate(answered, start=1):
            self._extend(chosen, pool, self._most * number // len(answered))
        order = list(dict.fromkeys(s.reference for s in chosen.values()))
        found = sorted(chosen.values(), key=lambda s: (order.index(s.reference), s.position))
        return _from_best(found, next(iter(chosen.values()))) if len(answered) == 1 and chosen else found

    def _extend(self, chosen: dict[tuple[int, int], _Sentence], pool: Sequence[_Sentence], most: int) -> None:
        """Add the best sentences of the pool, until there are `most`."""
        by_position = {(s.reference, s.position): s for s in pool}
        ranked = sorted(pool, key=lambda s: -s.score)
        least = max(_LEAST_SCORE, ranked[0].score - _DROP)
        for sentence in ranked:
            if len(chosen) >= most or sentence.score < least:
                break
            group = [sentence]
            while points_back(group[0].text) and not group[0].is_answer:
                before = by_position.get((group[0].reference, group[0].position - 1))
                if before is None:
                    group = []
                    break
                group.insert(0, before)
            after = by_position.get((sentence.reference, sentence.position + 1))
            if group and after is not None and _TAKES_BACK.match(after.text):
                group.append(after)
            new = [s for s in group if (s.reference, s.position) not in chosen]
            fits = len(chosen) + len(new) <= most
            if new and fits and not any(_repeats(s, other) for s in new for other in chosen.values()):
                chosen.update({(s.reference, s.position): s for s in new})

    def _score(self, question: str, references: Sequence[Reference]) -> list[_Sentence]:
        found = [
            (index, position, piece)
            for index, reference in enumerate(references)
            for position, piece in enumerate(quotable(reference.text))
        ]
        texts = [encoded_text(references[index].title_path, piece.text) for index, _, piece in found]
        scores = self._relevance(question, texts)
        pool: list[_Sentence] = []
        asked = _NO_QUESTION
        occurrences = Counter((index, piece.text) for index, _, piece in found)
        for (index, position, piece), score in zip(found, scores, strict=True):
            text = piece.text
            if is_question(text):
                asked = _QuotedQuestion(index, float(score))
                continue
            # Of notes without capitals, the title and the headings have got them here.
            above = (references[index].title, *references[index].headings)
            if text.rstrip(".") in map(capitalized, above):
                continue
            # What a passage says twice is the text of a picture and its caption.
            if not is_readable(text) or occurrences[index, text] > 1 or not may_answer(question, text):
                continue
            # The sentence after a question answers it, and often does not repeat its words.
            is_answer = asked.reference == index
            own = max(float(score), asked.score) if is_answer else float(score)
            context = _CONTEXT * references[index].score
            pool.append(_Sentence(index, position, piece, own + context, is_answer))
            asked = _NO_QUESTION
        others = not_named(question, references, [(s.reference, s.piece) for s in pool])
        pool = [s for s in pool if (s.reference, s.piece) not in others]
        lead = _lead(question, references)
        return pool if lead is None else _with_lead(pool, lead, references[lead])


def _from_best(found: Sequence[_Sentence], begin: _Sentence) -> list[_Sentence]:
    """Return sentences in order, but those of the first reference from `begin` on before its others.

    They stay as they are where one of the others is nearly as good as the best, as the steps of a procedure.
    """
    place = found.index(begin)
    while place and _answers_before(found[place - 1], found[place]):
        place -= 1
    ahead, own = found[:place], [s for s in found if s.reference == begin.reference]
    best = max(s.score for s in found)
    if any(s.score > best - _CLEARLY for s in ahead):
        return list(found)
    return [*own[place:], *ahead, *found[len(own) :]]


def _answers_before(before: _Sentence, sentence: _Sentence) -> bool:
    """Return whether a sentence continues the answer to a question that the one before begins."""
    is_next = (before.reference, before.position + 1) == (sentence.reference, sentence.position)
    return before.is_answer and is_next


def _with_lead(pool: list[_Sentence], lead: int, reference: Reference) -> list[_Sentence]:
    """Return the sentences, the first of the reference `lead` with the best score if its own is near.

    A sentence that defines the title comes before the first, and need not be as near, like that of a section.
    """
    best = max((s.score for s in pool), default=0.0)
    of_lead = [place for place, s in enumerate(pool) if s.reference == lead]
    defining = (place for place in of_lead if defines(reference.title, pool[place].text))
    place = next(defining, None)
    near = _DEFINING if place is not None or reference.headings else _LEAD
    place = next(iter(of_lead), None) if place is None else place
    if place is not None and pool[place].score >= best - near:
        pool[place] = pool[place]._replace(score=best + _FIRST)
    return pool


def _lead(question: str, references: Sequence[Reference]) -> int | None:
    """Return the index of the reference that begins the page or the section that the question asks for.

    A last name alone is not sure enough.
    """
    subject, section = asked_subject(question), asked_section(question)
    about = [0.0 if of.headings else is_about(subject, of.title) for of in references]
    if section and not any(about):
        about = [section.certainty(of.title, of.headings) for of in references]
    best = max(about, default=0.0)
    return about.index(best) if best > LAST_NAME else None


def reference_sentences(passage: str) -> list[str]:
    """Return the sentences of a passage; a line ends one."""
    return [squeeze(s) for line in passage.splitlines() for s in split_sentences(line)]


def _statements(chosen: Sequence[_Sentence]) -> Iterator[tuple[int, str]]:
    """Yield the index of a reference and what it says: a sentence, or the short items of a list in one."""
    for (reference, _), group in groupby(chosen, lambda s: (s.reference, _list_of(s.piece) or s.position)):
        items = [sentence.piece for sentence in group]
        yield reference, listed(items) if len(items) > 1 else items[0].text


def _list_of(piece: Quotable) -> str:
    """Return the lead of a short item, otherwise nothing."""
    is_short = len(words(piece.own)) <= _SHORT_ITEM and len(split_sentences(piece.own)) == 1
    return piece.lead if is_short else ""


def _repeats(sentence: _Sentence, other: _Sentence) -> bool:
    pieces = sentence.piece, other.piece
    of_one_list = pieces[0].lead == pieces[1].lead
    mine, others = (set(content_words(each.own if of_one_list else each.text)) for each in pieces)
    return len(mine & others) >= _REPEATS * max(1, min(len(mine), len(others)))
