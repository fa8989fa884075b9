"""Reading an answer's citation marks: which sentence cites what."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.text import split_sentences, squeeze, words

_MARK = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")
_LEADING_MARKS = re.compile(rf"^(?:\s*{_MARK.pattern})+[.,;]?\s*")
# Marks that leave no space behind: before a stop, and between letters of scripts without spaces.
_CLOSING = re.compile(
    rf"(?:\s*{_MARK.pattern})+\s*(?=[.,;:!?](?!\w)|[。！？、，；：])"
    rf"|(?<=[\u0e00-\uffff])(?:{_MARK.pattern})+(?=[\u0e00-\uffff])"
)


class MarkedSentence(NamedTuple):
    """A sentence without its marks, and the reference numbers that they named, in order."""

    text: str
    marks: tuple[int, ...]


def read_marks(answer: str) -> list[MarkedSentence]:
    """Split an answer into sentences and take their marks `[1]`, `[1][2]` or `[1, 2]` out.

    A mark belongs to the sentence that it stands in; marks right after a full stop belong to the
    sentence before it. Numbers are not checked here.
    """
    sentences: list[MarkedSentence] = []
    for part in split_sentences(answer):
        leading = _LEADING_MARKS.match(part)
        if leading and sentences:
            before = sentences[-1]
            sentences[-1] = before._replace(marks=_merge(before.marks, _numbers(leading.group())))
            part = part[leading.end() :]
        text = squeeze(_MARK.sub(" ", _CLOSING.sub("", part)))
        if words(text):
            sentences.append(MarkedSentence(text, _merge((), _numbers(part))))
    return sentences


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for mark in _MARK.finditer(text) for number in re.findall(r"\d+", mark[1]))


def _merge(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(first + second))
