"""The options of a request, as the service takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.server.api.question_schemas import SearchOptions
from citewell.server.api.schemas import to
from citewell.server.work.options import QuestionOptions, listed


def question_options(data: SearchOptions, changes: Mapping[str, Any] = {}) -> QuestionOptions:
    """Return the question of a request with its options, some of them changed."""
    asked = {name: getattr(data, name) for name in data.__struct_fields__} | dict(changes)
    places = {name: listed(asked[name]) for name in ("collection", "search")}
    given = {name: value for name, value in (asked | places).items() if value is not None}
    options: QuestionOptions = to(QuestionOptions, given)
    return options
