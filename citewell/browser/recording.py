"""Recordings of what was searched and opened, which are browsed again without a network."""

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
    """A page that a query found or that a URL led to; a line of a recording. Nothing of it is censored."""

    kind: Literal["search", "open"]
    key: str
    """The query or the URL."""
    page: TextPage


class WebRecorder:
    """Notes what is searched and opened in `web`; speaks `Web`.

    What was noted is shown again when asked for again, errors too, so that a policy that browses the
    recording sees the same pages. Belongs to one session.
    """

    def __init__(self, web: Web, known: Iterable[RecordedPage] = ()) -> None:
        """Record `web`; `known` is what was recorded before."""
        self._web = web
        self._known = _by_key(known)
        self._new: list[RecordedPage] = []

    async def search(self, query: str) -> TextPage:
        """The page of results that `web` gives."""
        known = self._known.get(("search", query))
        return known or self._noted("search", query, await self._web.search(query))

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """The page that `web` gives; it is recorded as it is without the censor, which comes after that."""
        known = self._known.get(("open", url))
        page = known or self._noted("open", url, await self._web.open(url, ""))
        return censored(page, question, answer)

    def taken(self) -> list[RecordedPage]:
        """What was noted since the last call."""
        taken, self._new = self._new, []
        return taken

    def _noted(self, kind: Literal["search", "open"], key: str, page: TextPage) -> TextPage:
        # Two that asked at the same time see the same page.
        if (kind, key) not in self._known:
            self._known[kind, key] = page
            self._new.append(RecordedPage(kind, key, page))
        return self._known[kind, key]


class Recorded:
    """The web of a recording; what is not in it is an error page; speaks `Web`."""

    def __init__(self, entries: Iterable[RecordedPage]) -> None:
        self._known = _by_key(entries)

    async def search(self, query: str) -> TextPage:
        """The page of results that was recorded."""
        return self._known.get(("search", query)) or error_page("", f"the recording has no search {query!r}")

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """The page that was recorded, or an error page where it gives this question or answer away."""
        page = self._known.get(("open", url)) or error_page(url, "it is not in the recording")
        return censored(page, question, answer)


def read_recording(file: Path) -> Iterator[RecordedPage]:
    """The entries of a recording; raises `InputError` that names the line of one that is none."""
    for line in read_lines(file):
        yield line.value(
            RecordedPage, "entry of a recording", "Name a file that `citewell browse --record` wrote."
        )


def write_recording(entries: Iterable[RecordedPage], file: Path) -> None:
    """Write a recording, one JSON object a line."""
    write_values(entries, file)


def _by_key(entries: Iterable[RecordedPage]) -> dict[tuple[str, str], TextPage]:
    """The pages by kind and key; of several, the first counts."""
    known: dict[tuple[str, str], TextPage] = {}
    for entry in entries:
        known.setdefault((entry.kind, entry.key), entry.page)
    return known
