"""Lists that are read page by page, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Generic, NamedTuple, Protocol, TypeVar

from litestar.params import QueryParameter

Before = Annotated[
    str | None, QueryParameter(max_length=64, description="Only what is older than that of this id.")
]
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="Most rows of a page.")]


class _Row(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Row)


class ListPage(NamedTuple, Generic[T]):
    """Rows of a list; `next` is the `before` of the page that follows, None where this is the last one."""

    rows: Sequence[T]
    next: str | None


def page_of(rows: Sequence[T], limit: int) -> ListPage[T]:
    """A page of at most `limit` rows, of which one more was read, to see whether there are more."""
    return ListPage(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)
