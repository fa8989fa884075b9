"""The queue of a crawl, stored with the collection so that an interrupted crawl can resume."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

State = Literal["read", "gone", "failed", "skipped"]
"""The state of a settled URL: `read`; `gone`, if the site has no page there, or one that was read already;
`failed`, if it could not be fetched; or `skipped`, if robots.txt forbids it or it led to another page."""


class Queued(NamedTuple):
    """A URL to fetch, and its number of links from the start page."""

    url: str
    depth: int


class Frontier(Protocol):
    """The URLs of the crawl from one start page, queued or settled."""

    def next(self) -> Queued | None:
        """Return the next URL to fetch, nearest to the start first; None at the end."""
        ...

    def settle(self, states: Mapping[str, State], links: Iterable[str], depth: int) -> None:
        """Set the state of URLs at `depth`, and queue the links found there."""
        ...

    def is_settled(self, url: str) -> bool:
        """Return whether the state of `url` is final in this crawl."""
        ...

    def site(self) -> str:
        """Return the URL that the start redirects to, or the start itself before it was fetched."""
        ...

    def visits(self) -> int:
        """Return the number of URLs fetched."""
        ...

    def urls(self, state: State | Literal["queued"]) -> set[str]:
        """Return all URLs in this state, or those that are not settled."""
        ...

    def end(self) -> None:
        """Delete the queue, so that the next crawl from the same start begins again."""
        ...
