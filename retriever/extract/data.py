"""Reading of JSON: the article that it holds, or else its values as lines under the path of their keys."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument

_MAX_BLOCKS = 20_000
_DEEPEST = 30
_LONG = 200  # characters; a longer text stands alone, under its key as a heading
_TITLES = ("headline", "title", "name")
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|h[1-6]|tr)>", re.IGNORECASE)
_BLANK = re.compile(r"\n\s*\n")


class JsonText(NamedTuple):
    """The text of a JSON page. `notice` says what was not read; it is empty if everything was."""

    document: ExtractedDocument
    notice: str = ""


def read_json(body: bytes, content_type: str = "") -> JsonText:
    """Read the text of a JSON page (RFC 8259).

    Where objects have an `articleBody` (https://schema.org/Article), that is the text. Otherwise each object
    becomes a block of lines such as `key: value`, an array of objects has one row for each, and the keys that
    lead there are the headings. Raises `ExtractionError` for invalid JSON.
    """
    try:
        value = json.loads(decode(body, content_type))
    except (ValueError, RecursionError) as error:
        reason = "its parts are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ExtractionError(f"its JSON cannot be read ({reason})") from error
    articles = list(_articles(value, 0))
    if articles:
        first = articles[0]
        blocks = [Block(text) for article in articles for text in _paragraphs(article["articleBody"])]
        return JsonText(ExtractedDocument(_title(first), tuple(blocks)))
    blocks = []
    for block in _blocks(value, (), 0):
        if len(blocks) == _MAX_BLOCKS:
            return JsonText(
                ExtractedDocument(_title(value), tuple(blocks)), "only the beginning of its data was read"
            )
        blocks.append(block)
    return JsonText(ExtractedDocument(_title(value), tuple(blocks)))


def _articles(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        if isinstance(value.get("articleBody"), str):
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _articles(part, depth + 1)


def _title(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return ""
    values = (value.get(key) for key in _TITLES)
    values = (value.get("rendered") if isinstance(value, dict) else value for value in values)  # WordPress
    return next((" ".join(plain_text(value).split()) for value in values if isinstance(value, str)), "")


def _blocks(value: Any, path: tuple[str, ...], depth: int) -> Iterator[Block]:
    """Yield the blocks of a value: its own simple members as lines first, then the values nested in it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        simple = [text for part in value if (text := _simple(part))]
        if simple:
            yield Block(", ".join(simple), path)
        for part in value:
            if isinstance(part, list | dict):
                yield from _blocks(part, path, depth + 1)
    elif isinstance(value, dict):
        # Keywords of JSON-LD, such as @context and @type, tell a reader nothing.
        members = [(_unicode(key), part) for key, part in value.items() if not key.startswith("@")]
        lines = []
        for key, part in members:
            if (text := _simple(part)) and len(text) <= _LONG:
                lines.append(f"{key}: {text}")
        if lines:
            yield Block("\n".join(lines) if depth == 0 else " | ".join(lines), path)
        for key, part in members:
            if isinstance(part, list | dict):
                yield from _blocks(part, (*path, key), depth + 1)
            elif isinstance(part, str) and len(part) > _LONG:
                for text in _paragraphs(part):
                    yield Block(text, (*path, key))
    elif text := _simple(value):
        yield Block(text, path)


def _simple(value: Any) -> str:
    """Return a string, a number or a boolean as text; an empty string for null, arrays and objects."""
    if isinstance(value, str):
        return " ".join(plain_text(value).split())
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return ""


def _paragraphs(text: str) -> list[str]:
    return [part.strip() for part in _BLANK.split(plain_text(text)) if part.strip()]


def plain_text(text: str) -> str:
    """Return a JSON string without the markup that many services put in, and without lone surrogates."""
    if "</" in text or "<br" in text:
        text = html.unescape(_TAG.sub("", _BREAK.sub("\n\n", text)))
    return _unicode(text)


def _unicode(text: str) -> str:
    """Return `text` without lone surrogates, which JSON can express and UTF-8 cannot."""
    return text.encode(errors="replace").decode()
