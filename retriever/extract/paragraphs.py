"""Division of blocks of any length into passages of a length that suits the encoder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.text import split_sentences
from citewell.core.types import Passage
from citewell.retriever.extract.document import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Soft hyphens and zero-width spaces serve browsers only; elsewhere they would split words.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
_INDENT = re.compile(r"[ \t]*")
_LEAD_IN = (":", "：")


def to_passages(
    blocks: Iterable[Block],
    url: str,
    title: str,
    *,
    min_chars: int = 60,
    max_chars: int = 1000,
) -> tuple[Passage, ...]:
    """Divide blocks into passages of at most `max_chars` characters, and at least `min_chars` where possible.

    A block that is too short, or ends in a colon, is joined to the next one of the same section; one that
    is too long is split between lines, else between sentences, else between words. WebGLM (§3.1.1) drops
    lines under 50 characters instead; here only exact repetitions of a passage are dropped. The upper limit
    corresponds to a typical encoder's window of 256 tokens.
    """
    passages: dict[str, Passage] = {}
    tidy = (block._replace(text=_tidy(block.text, block.verbatim)) for block in blocks)
    for block in _joined((block for block in tidy if block.text), min_chars, max_chars):
        for text in _split(block.text, min_chars, max_chars):
            passages.setdefault(text, Passage(url, title, text, block.headings))
    return tuple(passages.values())


def _tidy(text: str, verbatim: bool) -> str:
    """Remove stray white space except line breaks and indentation; return `verbatim` text unchanged."""
    lines = text.translate(_INVISIBLE).splitlines()
    if verbatim:
        return "\n".join(line.rstrip() for line in lines if line.strip())
    return "\n".join(_indent(line) + " ".join(line.split()) for line in lines if line.strip()).strip()


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match[0] if match else ""


def _joined(blocks: Iterable[Block], min_chars: int, max_chars: int) -> list[Block]:
    """Join each short block to the next of its section, and a short last one to the one before it."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last.headings == block.headings and _waits(last, min_chars):
            joined[-1] = _join(last, block)
        else:
            _settle(joined, min_chars, max_chars)
            joined.append(block)
    _settle(joined, min_chars, max_chars)
    return joined


def _waits(block: Block, min_chars: int) -> bool:
    return len(block.text) < min_chars or block.text.endswith(_LEAD_IN)


def _settle(joined: list[Block], min_chars: int, max_chars: int) -> None:
    """Join the last block of a section, if it is still too short, to the one before it."""
    if len(joined) < 2 or len(joined[-1].text) >= min_chars:
        return
    both = _join(*joined[-2:])
    if joined[-2].headings == joined[-1].headings and len(both.text) <= max_chars:
        joined[-2:] = [both]


def _join(first: Block, second: Block) -> Block:
    return first._replace(text=f"{first.text}\n{second.text}")


def _split(text: str, min_chars: int, max_chars: int) -> list[str]:
    """Split `text` into pieces of about the same length, at most `max_chars` characters."""
    if len(text) <= max_chars:
        return [text]
    goal = len(text) / -(-len(text) // max_chars)
    pieces = [""]
    for part in _parts(text, max_chars):
        full = len(pieces[-1]) + len(part.rstrip()) > max_chars
        if full or len(pieces[-1]) >= goal:
            pieces.append("")
        pieces[-1] += part
    pieces = [_tidy(piece, verbatim=True) for piece in pieces if piece.strip()]
    if len(pieces) > 1 and len(pieces[-1]) < min_chars:
        joined = f"{pieces[-2]}\n{pieces[-1]}"
        if len(joined) <= max_chars:
            pieces[-2:] = [joined]
    return pieces


def _parts(text: str, max_chars: int) -> Iterator[str]:
    """Yield the lines of `text`; the sentences of a line that is too long, the words of such a sentence."""
    for line in text.split("\n"):
        if len(line) <= max_chars:
            yield line + "\n"
            continue
        for sentence in split_sentences(line):
            if len(sentence) <= max_chars:
                yield sentence + " "
            else:
                yield from _words(sentence, max_chars)
        yield "\n"


def _words(sentence: str, max_chars: int) -> Iterator[str]:
    for word in sentence.split():
        for start in range(0, len(word), max_chars):
            yield word[start : start + max_chars] + " "
