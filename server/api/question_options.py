"""The options of a request, as the service takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.server.api.question_schemas import SearchOptions
from citewell.server.api.schemas import to
from citewell.server.work.options import QuestionOptions


def question_options(data: SearchOptions, changes: Mapping[str, Any] = {}) -> QuestionOptions:
    """Return the question of a request with its options, some of them changed."""
    given = {name: getattr(data, name) for name in data.__struct_fields__} | dict(changes)
    places = {name: listed(given[name]) for name in ("collection", "search")}
    options: QuestionOptions = to(QuestionOptions, given | places)
    return options


def listed(given: str | list[str] | None) -> tuple[str, ...]:
    """Return the names that a request or a stored question gives as one name, as a list, or not at all."""
    return tuple(dict.fromkeys([given] if isinstance(given, str) else given or ())) if given else ()
