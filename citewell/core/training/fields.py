"""Fields of a line of training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from citewell.core.errors import InputError
from citewell.core.jsonl import Line
from citewell.core.text import encodable, encoded_text

_CANDIDATES = 'Write {"candidates": [{"text": "…", "label": 1}]}.'


class TitledPassage(NamedTuple):
    """A passage and the title of its page, which may be empty."""

    title: str
    text: str

    @property
    def encoded(self) -> str:
        """The passage as encoders read it: its text, after its title if it has one."""
        return encoded_text(self.title, self.text)


def text(line: Line, row: Mapping[str, Any], name: str) -> str:
    """Return the text in the field `name`; raise `InputError` if it is missing or not a text.

    Lone surrogates become `?` here and in all other texts: UTF-8 has no form of them.
    """
    value = optional_text(line, row, name)
    if not value.strip():
        raise _no_text(line, name)
    return value


def optional_text(line: Line, row: Mapping[str, Any], name: str) -> str:
    """Return the text in the field `name`, empty if it is missing; raise `InputError` for anything else."""
    value = row.get(name)
    if not isinstance(value, str | None):
        raise _no_text(line, name)
    return encodable(value or "")


def texts(line: Line, row: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts in the field `name`, which may be one text; none if it is missing.

    Raises `InputError` for anything else.
    """
    value = row.get(name)
    found = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise line.error(f"the {name} is neither a text nor a list of texts.", f'Write {{"{name}": ["…"]}}.')
    return [encodable(each) for each in found]


def label(line: Line, row: Mapping[str, Any], known: Mapping[str, float]) -> float:
    """Return the value of the line's `label` among those `known`; raise `InputError` for any other label."""
    value = row.get("label")
    if not isinstance(value, str) or value not in known:
        raise line.error(f"the label {value!r} is not known.", f"Write one of {', '.join(known)}.")
    return known[value]


def listed(line: Line, row: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list in the field `name`, empty if it is missing; raise `InputError` for anything else."""
    value = row.get(name)
    if not isinstance(value, list | None):
        raise line.error(f"the field {name} is not a list.", f'Write {{"{name}": [{{"text": "…"}}]}}.')
    return value or []


def passages(line: Line, row: Mapping[str, Any], name: str) -> list[TitledPassage]:
    """Return the passages in the list `name`, as `passage` reads them; none if it is missing."""
    return [passage(line, each) for each in listed(line, row, name)]


def passage(line: Line, value: Any) -> TitledPassage:
    """Return a passage, which is a text or an object of text and title; raise `InputError` for any other."""
    if isinstance(value, str):
        return TitledPassage("", encodable(value))
    if not isinstance(value, dict):
        raise line.error(
            "a passage is neither text nor an object with its text.", 'Write {"title": "…", "text": "…"}.'
        )
    return TitledPassage(optional_text(line, value, "title"), text(line, value, "text"))


def candidates(line: Line, row: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the texts in the list `candidates` with their labels, 1 for those that answer and 0 for others.

    Raises `InputError` for anything else.
    """
    found = row.get("candidates")
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise line.error("the candidates are not a list of objects.", _CANDIDATES)
    if not all(each.get("label") in (0, 1) for each in found):
        raise line.error("a candidate's label is neither 0 nor 1.", _CANDIDATES)
    return [(text(line, each, "text"), int(each["label"])) for each in found]


def _no_text(line: Line, name: str) -> InputError:
    return line.error(f"the {name} is not a text.", f'Write {{"{name}": "…"}}.')
