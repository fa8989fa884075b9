"""Reads an answer's citation marks: the references that each sentence cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from citewell.core.formulas import held, restored, stands_alone
from citewell.core.marks import MARK, without_marks
from citewell.core.text import split_sentences, squeeze, words
from citewell.generator.citations.blocks import WrittenBlock, read_blocks
from citewell.generator.citations.spoken_marks import with_marks_moved

_LEADING_MARKS = re.compile(rf"^(?:\s*{MARK.pattern})+[.,;]?\s*")
_ENDING_MARKS = re.compile(rf"(?:\s+{MARK.pattern})+$")
# Adjacent marks, and the stop right after them, which belongs to the text before them.
_GROUP = re.compile(rf"(?:\s*{MARK.pattern})+(?P<stop>\s*(?:[.,;:!?]+(?!\w)|[。！？、，；：]+))?")
# Marks after a stop within quotation marks or parentheses, where `split_sentences` sees no end.
_MARKED_END = re.compile(
    rf"[.!?…。！？][\"'”’»」』)\]]+(?:\s*{MARK.pattern})+\s*(?=[\"'“‘«「『(]*(?P<next>\w))"
)
_FEWEST_WORDS = 3
_STOP_AT_END = re.compile(r"\s*[.,;:!?。！？、，；：]+\s*$|\s*$")


class MarkedSegment(NamedTuple):
    """A verbatim piece of an answer without its marks, and the reference numbers that it cites."""

    text: str
    marks: tuple[int, ...]


class MarkedSentence(NamedTuple):
    """A sentence without its marks, and the reference numbers of the marks, in order.

    `before` is the Markdown before it, as in `Sentence`.
    """

    text: str
    marks: tuple[int, ...]
    before: str | None = None


def read_marks(answer: str, *, markdown: bool = False) -> list[MarkedSentence]:
    """Split an answer into sentences and separate their marks `[1]`, `[1][2]` or `[1, 2]`.

    A mark belongs to the sentence that contains it; marks right after a full stop belong to the
    sentence before it. Numbers are not checked here. In `markdown`, a sentence ends with its block, and a
    block of code is a sentence without marks; a formula is not divided, and belongs to the sentence before it
    even if it has a line of its own.
    """
    sentences: list[MarkedSentence] = []
    is_open = False  # whether a formula, or what follows one, continues the last sentence
    for block in read_blocks(answer) if markdown else [WrittenBlock("", answer)]:
        before = block.before if markdown else None
        if block.is_code:
            sentences.append(MarkedSentence(block.text, (), before))
            is_open = False
            continue
        is_row = block.before.endswith("| ")
        is_open = is_open and not is_row
        text, held_back = held(block.text, code=True) if markdown else (block.text, [])
        for part in _sentences(with_marks_moved(text)):
            leading = _LEADING_MARKS.match(part)
            if leading and sentences:
                last = sentences[-1]
                sentences[-1] = last._replace(marks=_merge(last.marks, _numbers(leading.group())))
                part = part[leading.end() :]
            text = squeeze(without_marks(part))
            text = restored(text, held_back) if markdown else text
            if not words(text):
                continue
            open_ = sentences[-1] if is_open and not (before or "").strip() else None
            if open_ and (stands_alone(text) or stands_alone(open_.text)):
                marks = _merge(open_.marks, _numbers(part))
                sentences[-1] = open_._replace(text=f"{open_.text} {text}", marks=marks)
            else:
                sentences.append(MarkedSentence(text, _merge((), _numbers(part)), before))
            before = " " if markdown else None
            is_open = markdown and not is_row
    return sentences


def read_quotations(answer: str) -> list[MarkedSentence]:
    """Split quoted sentences, each of which ends with its marks: `sys.argv[1]` in one is part of it."""
    sentences: list[MarkedSentence] = []
    for part in _sentences(answer):
        leading = _LEADING_MARKS.match(part)
        if leading and sentences:
            last = sentences[-1]
            sentences[-1] = last._replace(marks=_merge(last.marks, _numbers(leading.group())))
            part = part[leading.end() :]
        ending = _ENDING_MARKS.search(part)
        text = squeeze(part[: ending.start()] if ending else part)
        if words(text):
            sentences.append(MarkedSentence(text, _numbers(ending.group()) if ending else ()))
    return sentences


def _sentences(text: str) -> Iterator[str]:
    for part in split_sentences(text):
        ends = [end.end() for end in _MARKED_END.finditer(part) if not end["next"].islower()]
        yield from (part[start:end].strip() for start, end in pairwise([0, *ends, len(part)]))


def read_segments(answer: str, *, sentences: bool = False) -> list[MarkedSegment]:
    """Split an answer after its marks (WebGLM §3.2.2), and with `sentences` at the ends of sentences too.

    Marks that are used as words are moved first (`with_marks_moved`); the texts, joined, are then the answer
    without its marks. A segment of one or two words, as in `Whales [1] sing.`, is merged into the next one,
    or into the last one.
    """
    pieces: list[MarkedSegment] = []
    start = 0
    answer = with_marks_moved(answer)
    for group in _GROUP.finditer(answer):
        text = answer[start : group.start()] + (group["stop"] or "").strip()
        pieces += _cut(text, _merge((), _numbers(group.group())), sentences=sentences)
        start = group.end()
    pieces += _cut(answer[start:], (), sentences=sentences)
    return _joined(pieces)


def write_marks(segments: Iterable[MarkedSegment]) -> str:
    """Join segments into an answer, each with its marks before its full stop, as in `… is blue[1][3].`"""
    written = ""
    for text, marks in segments:
        end = _STOP_AT_END.search(text)
        stop = end.start() if end else len(text)
        written += text[:stop] + "".join(f"[{number}]" for number in marks) + text[stop:]
    return written.strip()


def renumber_marks(answer: str, numbers: Mapping[int, int]) -> str:
    """Return the answer with each mark's number replaced; a number that is not in `numbers` becomes 0."""

    def mark(found: re.Match[str]) -> str:
        return "".join(f"[{numbers.get(number, 0)}]" for number in _numbers(found.group()))

    return MARK.sub(mark, answer)


def _cut(text: str, marks: tuple[int, ...], *, sentences: bool) -> list[MarkedSegment]:
    """Return the segment of a text, or one for each sentence of it, of which the last has the marks."""
    pieces = []
    for sentence in split_sentences(text)[:-1] if sentences else ():
        end = text.index(sentence) + len(sentence)
        pieces.append(MarkedSegment(text[:end], ()))
        text = text[end:]
    return [*pieces, MarkedSegment(text, marks)]


def _joined(pieces: Iterable[MarkedSegment]) -> list[MarkedSegment]:
    """Merge short pieces into the next one, or into the last one."""
    segments: list[MarkedSegment] = []
    before = MarkedSegment("", ())
    for piece in pieces:
        piece = MarkedSegment(before.text + piece.text, _merge(before.marks, piece.marks))
        if len(words(piece.text)) < _FEWEST_WORDS:
            before = piece
            continue
        segments.append(piece)
        before = MarkedSegment("", ())
    if before.text.strip() and segments:
        last = segments.pop()
        before = MarkedSegment(last.text + before.text, _merge(last.marks, before.marks))
    return [*segments, before] if before.text.strip() else segments


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for mark in MARK.finditer(text) for number in re.findall(r"\d+", mark[1]))


def _merge(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(first + second))
