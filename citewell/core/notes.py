"""Lines as people write them for themselves: messages, answers, labeled lines, and lines without capitals."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The time of a message or an entry, as in `[2026-03-02 09:15] ben: yes`, `2/3/26, 09:15 - Ben: yes` and
# `[2/3, 09:15] Ben: yes`
_TIME = re.compile(
    r"\s*\[?((?:\d{1,4}([-/.])\d{1,2}(?:\2\d{1,4})?,? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?|"
    r"\d{4}-\d\d-\d\d)(?:\]|\b)(?: -|:|,)?\s+(?=\S)"
)
_ANSWER = re.compile(r"\s*(?:A|Answer|Antwort|Réponse|Respuesta): +(?=\S)")
# As in `P1 - a fault that stops everybody` and `Next meeting: 1 December`, but not in captions
_LABELED = re.compile(
    r"(?!(?:fig(?:ure)?|table|image|photo|picture|map|chart|source|see also|main article|category)\b)"
    r"[^\W_][^:|.!?]{0,30}(?: [-–—]|:) (?=\S+ \S)",
    re.IGNORECASE,
)
_FEWEST_LABELED = 2  # lines; one alone may be a heading
_BEGINNING = re.compile(r"(?:^|[.!?]\s+)\W*([^\W\d_])", re.MULTILINE)
# Of the sentences and lines, of which there are as many, in a text whose author writes without capitals
_LOWER, _FEWEST_LOWER = 0.66, 2
# What commands and programs have: variables, options, calls, assignments.
_CODE = re.compile(r"[`{}=\\]|\$[A-Za-z]|\w\(|(?:^|\s)--?[A-Za-z]")
# As in `mRNA`, `e5-small`, `encoder_kl`, `docs/index.html` and `fetch.key`, but not `e.g.` and `and/or`
_SMALL_NAME = re.compile(r"[a-z]+(?:[A-Z]|\d+-|_\w|/\w+[/.-]|\.[a-z]{2,}\b)\S*\s")
_PUNCTUATION = re.compile(r"[.!?。！？…:;,][\"'”’)\]]*$")
_STOP = re.compile(r"[.!?。！？…:][\"'”’)\]]*$")
# How a question ends that somebody wrote without its mark, as in `ok. what was the error again`
_ASKS = re.compile(
    r"(?:^|[.!?:] )(?:how|what|when|where|which|who|why)"
    r"(?:'s| (?:are|can|could|did|do|does|is|long|many|much|should|was|were|will|would))\b[^.!?:]*$",
    re.IGNORECASE,
)


def is_punctuated(line: str) -> bool:
    """Return whether a line ends in a stop, a comma or the like, which headings and cut lines do not."""
    return _PUNCTUATION.search(line) is not None


def is_code(line: str) -> bool:
    """Return whether a line looks like a command or a part of a program."""
    return _CODE.search(line) is not None


def capitalized(text: str) -> str:
    """Return a text whose first letter is a capital, unless it begins with a name in lower case."""
    return text if begins_with_name(text) else f"{text[:1].upper()}{text[1:]}"


def begins_with_name(text: str) -> bool:
    """Return whether a text begins with a name that keeps its small letter, such as `mRNA` or `fetch.key`."""
    return _SMALL_NAME.match(text) is not None


def ended(text: str) -> str:
    """Return a text with a stop at its end, or with a question mark."""
    if not text or _STOP.search(text):
        return text
    return f"{text}{'?' if _ASKS.search(text) else '.'}"


class NoteLines:
    """What the lines of a passage that are not prose say."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Look at all lines of a passage."""
        begun = _BEGINNING.findall("\n".join(lines))
        is_lower = sum(map(str.islower, begun)) >= max(_FEWEST_LOWER, _LOWER * len(begun))
        self._has_questions = any(line.rstrip().endswith("?") for line in lines)
        self._has_labels = sum(map(_is_labeled, lines)) >= _FEWEST_LABELED
        self.without_capitals = is_lower and not any(map(is_code, lines))

    def whole(self, line: str) -> str | None:
        """Return what a line says that is one piece: a message, an answer or a labeled line; else None."""
        if time := _TIME.match(line):
            return f"{time[1]} {line[time.end() :]}"
        if self._has_questions and (answer := _ANSWER.match(line)):
            return capitalized(line[answer.end() :])
        return capitalized(line) if self._has_labels and _is_labeled(line) else None

    def begins(self, line: str, before: str) -> bool:
        """Return whether a line begins a sentence, though without a capital, after the line before it."""
        return self.without_capitals or (is_punctuated(before) and not is_code(line))


def _is_labeled(line: str) -> bool:
    return _LABELED.match(line) is not None and not _STOP.search(line) and not is_code(line)
