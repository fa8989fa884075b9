"""Paginated lists, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Generic, NamedTuple, Protocol, TypeVar

from litestar.params import QueryParameter

Before = Annotated[
    str | None,
    QueryParameter(pattern="^[0-9a-f-]{36}$", description="List only rows older than the one with this id."),
]
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="Max rows per page.")]


class _Row(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Row)


class ListPage(NamedTuple, Generic[T]):
    """Rows of a list. `next` is the `before` of the next page, None on the last page."""

    rows: Sequence[T]
    next: str | None


def page_of(rows: Sequence[T], limit: int) -> ListPage[T]:
    """Return a page of at most `limit` rows; `rows` has one more if another page follows."""
    return ListPage(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)
