"""Pages and a web for tests of the browser: plain values, of which every text is known."""

from __future__ import annotations

from collections.abc import Mapping

from citewell.browser.page import Link, TextPage


def article(
    text: str, name: str = "Crows", domain: str = "birds.example", path: str = "crows", *links: Link
) -> TextPage:
    """A page whose `text` has `{0}` where the mark of its link 0 stands."""
    marked = text.format(*(link.mark(number, domain) for number, link in enumerate(links)))
    url = f"https://{domain}/{path}"
    return TextPage("page", url, domain, f"{name} ({domain})", name, marked, tuple(links))


def results(query: str, *hits: tuple[TextPage, str]) -> TextPage:
    """Results as a search shows them: the pages that were found, each with its snippet."""
    links = tuple(Link(page.name, page.url, page.domain) for page, _ in hits)
    parts = [f"{link.mark(n, '')}\n{hits[n][1]}" for n, link in enumerate(links)]
    title = f"Search results for: {query}"
    return TextPage("results", "", "", title, title, "\n".join(parts), links)


def failed(url: str) -> TextPage:
    """The page for what cannot be opened."""
    return TextPage("error", url, "", "Error", "Error", "The page cannot be opened.")


class Shelf:
    """A web of the pages it is given; a search finds all of them. Notes what was asked of it."""

    def __init__(self, *pages: TextPage, found: Mapping[str, TextPage] | None = None) -> None:
        self.pages = {page.url: page for page in pages}
        self.found = dict(found or {})
        self.searched: list[str] = []
        self.opened: list[str] = []
        self.asked: list[tuple[str, str]] = []

    async def search(self, query: str) -> TextPage:
        self.searched.append(query)
        hits = [(page, page.text[:60].replace("\n", " ")) for page in self.pages.values() if not page.links]
        return self.found.get(query) or results(query, *hits)

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        self.opened.append(url)
        self.asked.append((question, answer))
        return self.pages.get(url) or failed(url)
