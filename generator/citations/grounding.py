"""Does one sentence of the references, the closest to the question, hold all that an answer adds to it?

A small model that judges an answer takes a name or a number from the next row for the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from citewell.core.denial import denies
from citewell.core.question_sentences import is_question
from citewell.core.quotable import pieces
from citewell.core.stated_aims import may_answer
from citewell.core.text import STOP_WORDS, content_words, words
from citewell.core.types import Reference
from citewell.generator.citations.support import digits, stems

_HEADING = 0.5  # of a word of the question in the title or the headings, beside one in the sentence
_NEAR, _ENOUGH = 1, 2  # words fewer than the most that count as well, if there are so many
# What an answer may add on its own.
_ADDED = "yes up about around approximately at least most only just exactly each"
_FREE = STOP_WORDS | frozenset(_ADDED.split())
# As in `E2: no water. Open the tap.`, where the next sentence speaks of what the label names.
_LABEL = re.compile(r"[^.:|]{1,40}: ")
_LETTERS = re.compile(r"[^\W\d_]+")
_YES, _NO = (re.compile(rf"\W*{word}\b", re.IGNORECASE) for word in ("yes", "no"))
# What leaves a question open.
_OPEN = re.compile(
    r"\b(?:whether|if|unclear|unknown|uncertain|controversial|debated|hypothes\w+)\b", re.IGNORECASE
)
_TOLD = 0.75  # of the words of a question
_CLAUSE = re.compile(r"[,;:(]")
_YES_OR_NO = re.compile(r"\W*(?:yes|no)\b", re.IGNORECASE)
_FILE = re.compile(r"\.\w{2,5}$")  # a title that is the name of a file
_FILES = frozenset(("document", "documents", "file", "files", "page", "pages"))
# Questions that begin with one of these, and those with "or", may be answered in their own words.
_ASKS_WHETHER = frozenset(
    "am are can could did do does had has have is may might must shall should was were will would".split()  # noqa: SIM905
)


def adds_nothing(question: str, answer: str, references: Sequence[Reference] = ()) -> bool:
    """Return whether an answer only asks, or repeats a question that asks for more than yes or no.

    It is true, as "The sky is blue." to "Why is the sky blue?", and answers nothing. Nor does the name of the
    file of one of its references, unless a file is asked for.
    """
    asked = words(question)
    files = [] if _FILES.intersection(asked) else [of.title for of in references if _FILE.search(of.title)]
    added = _added(question, answer) - stems(word for file in files for word in content_words(file))
    whether = "or" in asked or bool(asked and asked[0] in _ASKS_WHETHER)
    repeats = not whether and not _YES_OR_NO.match(answer) and not added
    return repeats or is_question(answer)


def affirms_untold(question: str, answer: str, references: Sequence[Reference]) -> bool:
    """Return whether an answer adds nothing but a yes to its question, which no sentence says in its words.

    A small model says yes to what a study asks, whatever it found. A sentence says it if most words of the
    question stand there, those of its headings for half, and if it leaves nothing open and may answer.
    """
    asked = stems(content_words(question))
    if not _YES.match(answer) or denies(answer) or _added(question, answer):
        return False
    units = (unit for reference in references for unit in _units(reference))
    return not any(
        unit.shared(asked) >= _TOLD * len(asked)
        for unit in units
        if not (is_question(unit.text) or _OPEN.search(unit.text)) and may_answer(question, unit.text)
    )


def says_the_opposite(answer: str, references: Sequence[Reference]) -> bool:
    """Return whether an answer says yes where its references deny something, or no where they say yes.

    The sentence that shares most words with it tells, and of that only the first clause: "You may cancel, but
    not on the last day" denies nothing. An answer that follows a question has the question's words as well.
    """
    affirms = _YES.match(answer) is not None and not denies(answer)
    if not affirms and not _NO.match(answer):
        return False
    said = stems(content_words(answer))
    told = [each for reference in references for each in _told(reference)]
    closest = max(told, key=lambda each: len(said & each.words), default=_Told("", frozenset()))
    clause = _CLAUSE.split(closest.text, maxsplit=1)[0]
    return denies(clause) if affirms else _YES.match(clause) is not None


def affirms_another_number(answer: str, references: Sequence[Reference]) -> bool:
    """Return whether an answer says yes with numbers that no sentence has beside another word of it.

    A small model does not compare numbers: it says yes to a child of 7 where children under 8 may not, and
    finds its 7 among the hours.
    """
    said = _told_words(answer)
    numbers = {word for word in said if word.isdecimal()}
    if not numbers or not _YES.match(answer):
        return False
    texts = (stems(words(text)) for of in references for text in pieces(of.text))
    return not any(numbers <= text and text & (said - numbers) for text in texts)


def _added(question: str, answer: str) -> frozenset[str]:
    return _told_words(answer) - stems(content_words(question))


def _told_words(answer: str) -> frozenset[str]:
    """Return the stems of the words that tell something."""
    return stems(word for word in content_words(answer) if word not in _FREE)


def grounding(question: str, answer: str, references: Sequence[Reference]) -> Reference | None:
    """Return the reference with the sentence, item or row that the first sentence of an answer rests on.

    That is one of those that share most words with the question, if it has, with its headings, all words
    and numbers that the answer adds to the question, and denies something if the answer does. After a label,
    the next sentence may have words too, but no names or numbers. None if there is none, or if the answer
    adds nothing and is neither yes nor no.
    """
    asked = stems(content_words(question))
    added = _added(question, answer)
    if not added and not _YES_OR_NO.match(answer):
        return None
    units = [unit for reference in references for unit in _units(reference)]
    most = max((unit.shared(asked) for unit in units), default=0.0)
    if not most:
        return None
    least = min(most, max(most - _NEAR, _ENOUGH))
    is_denial = denies(answer)
    for unit in units:
        held = unit.words | unit.above | unit.after
        if unit.shared(asked) >= least and added <= held and (unit.denies or not is_denial):
            return unit.reference
    return None


class _Told(NamedTuple):
    text: str
    words: frozenset[str]
    """Its own, and those of a question before it."""


def _told(reference: Reference) -> Iterator[_Told]:
    for before, text in pairwise(["", *pieces(reference.text)]):
        asked = before if is_question(before) else ""
        if not is_question(text):
            yield _Told(text, stems(words(f"{asked} {text}")))


class _Unit(NamedTuple):
    reference: Reference
    text: str
    words: frozenset[str]
    above: frozenset[str]
    """Words of the title and the headings."""
    after: frozenset[str]
    """Words of the next sentence, where they count."""
    denies: bool

    def shared(self, asked: frozenset[str]) -> float:
        """Return how many words of the question it has."""
        return len(asked & self.words) + _HEADING * len((asked & self.above) - self.words)


def _units(reference: Reference) -> list[_Unit]:
    above = stems(content_words(reference.title_path))
    texts = [*pieces(reference.text), ""]
    found = []
    for text, after in pairwise(texts):
        held = stems(content_words(text))
        found.append(_Unit(reference, text, held, above, _after(text, after, reference.text), denies(text)))
    return found


def _after(text: str, after: str, passage: str) -> frozenset[str]:
    """Return the words of the next sentence in the line of one with a label, but names and numbers."""
    in_line = _LABEL.match(text) and f"{text} {after}" in passage
    return stems(_plain(after)) if in_line else frozenset()


def _plain(sentence: str) -> list[str]:
    """Return the words that are neither names nor numbers."""
    found = _LETTERS.findall(f"{sentence[:1].lower()}{sentence[1:]}")
    return [word for word in found if word.islower() and not digits(word)]
