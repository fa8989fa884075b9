"""The results of a search as a page of the text browser."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from citewell.browser.characters import inert_line
from citewell.browser.page import Link, TextPage
from citewell.core.text import shorten
from citewell.core.types import Hit
from citewell.retriever.search.presets import PRESETS
from citewell.retriever.search.urls import host_of, in_domains

_MAX_QUERY = 200  # characters, in the title


def results_page(query: str, hits: Sequence[Hit], denied: Collection[str] = PRESETS["webgpt"]) -> TextPage:
    """Return a page with each hit as a link and its snippet below, as in WebGPT's Figure 1 (b).

    Hits of the domains `denied` and their subdomains are dropped. The page has no domain, so that every link
    names its own.
    """
    wanted = [hit for hit in hits if not in_domains(hit.url, denied)]
    links = tuple(
        Link(inert_line(hit.title) or inert_line(hit.url), hit.url, host_of(hit.url)) for hit in wanted
    )
    lines: list[str] = []
    for number, (hit, link) in enumerate(zip(wanted, links, strict=True)):
        lines.append(link.mark(number, ""))
        if snippet := inert_line(hit.snippet):
            lines.append(snippet)
    title = f"Search results for: {shorten(inert_line(query), _MAX_QUERY)}"
    return TextPage("results", "", "", title, title, "\n".join(lines) or "Nothing was found.", links)
