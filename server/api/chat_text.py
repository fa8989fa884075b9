"""An answer as the text of a chat message: Markdown, with footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from citewell.core.text import squeeze

_TAG = re.compile(r"(\\*)<(?=[A-Za-z/!?])")  # together with a backslash that would escape ours
_WEB = re.compile(r"https?://[^\s<>]+")


def literal(text: str) -> str:
    """Escape a page's text as Markdown that shows it literally.

    Links, images and HTML are escaped: a page must not decide what a reader's computer
    loads.
    """
    return _TAG.sub(r"\1\1\\<", squeeze(text).replace("](", r"]\("))


def sentence_text(sentence: Mapping[str, Any]) -> str:
    """Return a sentence and its marks, as in `… in the dark. [1][3]`."""
    marks = "".join(f"[{number}]" for number in sentence["citations"])
    return literal(sentence["text"]) + (f" {marks}" if marks else "")


def answer_text(body: Mapping[str, Any]) -> str:
    """Return the text of a stored answer, without footnotes."""
    sentences: Sequence[Mapping[str, Any]] = body["sentences"]
    return " ".join(map(sentence_text, sentences)) or literal(body["answer"])


def end_text(body: Mapping[str, Any], notices: Iterable[str]) -> str:
    """Footnotes for the cited references, and the notices."""
    cited = {number for sentence in body["sentences"] for number in sentence["citations"]}
    footnotes = [_footnote(reference) for reference in body["references"] if reference["number"] in cited]
    notes = [f"Note: {literal(notice)}" for notice in notices]
    blocks = ["\n".join(footnotes)] if footnotes else []
    return "".join(f"\n\n{block}" for block in blocks + notes)


def _footnote(reference: Mapping[str, Any]) -> str:
    url: str = reference["url"]
    place = f"<{url}>" if _WEB.fullmatch(url) else literal(url)
    title = literal(reference["title"])
    return f"- [{reference['number']}] {f'{title}, ' if title else ''}{place}"
