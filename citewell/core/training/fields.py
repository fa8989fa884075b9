"""Fields of a line of training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.core.jsonl import Line
from citewell.core.text import encoded_text


def text(line: Line, row: Mapping[str, Any], name: str) -> str:
    """Return the text in the field `name`; raise `InputError` if it is missing or not a text."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise line.error(f"the {name} is not a text.", f'Write {{"{name}": "…"}}.')
    return value


def texts(line: Line, row: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts in the field `name`, which may be one text; none if it is missing.

    Raises `InputError` for anything else.
    """
    value = row.get(name)
    found = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise line.error(f"the {name} is neither a text nor a list of texts.", f'Write {{"{name}": ["…"]}}.')
    return found


def passages(line: Line, row: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the passages in the field `name`, objects of title and text; none if it is missing.

    Raises `InputError` for anything else.
    """
    value = row.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise line.error(f"{name} is not a list of objects with title and text.")
    for each in value:
        text(line, each, "text")
    return value


def passage(line: Line, value: Any) -> str:
    """Return a passage as encoders read it: its text, after its title if it has one.

    `value` is a text, or an object of text and title. Raises `InputError` for anything else.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise line.error("a passage is neither text nor an object with its text.")
    title, body = value.get("title"), text(line, value, "text")
    return encoded_text(title or "", body)
