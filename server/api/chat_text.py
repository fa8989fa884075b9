"""An answer as the text of a chat message: Markdown, with footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from citewell.core.markdown import harmless, laid_out, without_links
from citewell.core.text import squeeze
from citewell.core.types import Sentence, marked
from citewell.server.api.schemas import to

_WEB = re.compile(r"https?://[^\s<>]+")


def literal(text: str) -> str:
    """Escape a page's text as Markdown that shows its links, images and HTML literally."""
    return without_links(squeeze(text))


def sentences_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences as they were written and their marks, as in `… in the dark. [1][3]`."""
    return laid_out(
        (each.before, marked(each, literal(each.text)))
        if each.before is None
        else (harmless(each.before), marked(each, harmless(each.text)))
        for each in sentences
    )


def answer_text(body: Mapping[str, Any]) -> str:
    """Return the text of a stored answer, without footnotes."""
    return sentences_text(to(Sentence, each) for each in body["sentences"]) or literal(body["answer"])


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
