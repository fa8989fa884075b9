"""Recordings of searches and pages, which can be browsed without a network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from citewell.browser.censor import censored
from citewell.browser.page import TextPage, error_page
from citewell.browser.web import Web
from citewell.core.jsonl import read_lines, write_values


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """A page that a query or a URL led to; one line of a recording, before the censor."""

    kind: Literal["search", "open"]
    key: str
    """The query or the URL."""
    page: TextPage


class WebRecorder:
    """A recorder of the searches and pages of `web`; implements `Web`.

    A repeated request gets the recorded page, errors included, so that a policy that browses the recording
    sees the same pages. Belongs to one session.
    """

    def __init__(self, web: Web, known: Iterable[RecordedPage] = ()) -> None:
        """Record `web`; `known` are earlier entries."""
        self._web = web
        self._known = _by_key(known)
        self._new: list[RecordedPage] = []

    async def search(self, query: str) -> TextPage:
        """Return the page of results of `web`."""
        known = self._known.get(("search", query))
        return known or self._noted("search", query, await self._web.search(query))

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Return the page of `web`; the recording has the page before the censor."""
        known = self._known.get(("open", url))
        page = known or self._noted("open", url, await self._web.open(url, ""))
        return censored(page, question, answer)

    def taken(self) -> list[RecordedPage]:
        """Return the entries recorded since the last call."""
        taken, self._new = self._new, []
        return taken

    def _noted(self, kind: Literal["search", "open"], key: str, page: TextPage) -> TextPage:
        # Two concurrent requests get the same page.
        if (kind, key) not in self._known:
            self._known[kind, key] = page
            self._new.append(RecordedPage(kind, key, page))
        return self._known[kind, key]


class Recorded:
    """The web of a recording, with an error page for anything else; implements `Web`."""

    def __init__(self, entries: Iterable[RecordedPage]) -> None:
        self._known = _by_key(entries)

    async def search(self, query: str) -> TextPage:
        """Return the recorded page of results."""
        return self._known.get(("search", query)) or error_page("", f"the recording has no search {query!r}")

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Return the recorded page, or an error page if it gives this question or answer away."""
        page = self._known.get(("open", url)) or error_page(url, "it is not in the recording")
        return censored(page, question, answer)


def read_recording(file: Path) -> Iterator[RecordedPage]:
    """Yield the entries of a recording; raises `InputError` with the line number of an invalid one."""
    for line in read_lines(file):
        yield line.value(
            RecordedPage, "entry of a recording", "Name a file that `citewell browse --record` wrote."
        )


def write_recording(entries: Iterable[RecordedPage], file: Path) -> None:
    """Write a recording, one JSON object per line."""
    write_values(entries, file)


def _by_key(entries: Iterable[RecordedPage]) -> dict[tuple[str, str], TextPage]:
    """Return the pages by kind and key; of duplicates, the first counts."""
    known: dict[tuple[str, str], TextPage] = {}
    for entry in entries:
        known.setdefault((entry.kind, entry.key), entry.page)
    return known
