"""Fields of a line from which labels are made."""

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
