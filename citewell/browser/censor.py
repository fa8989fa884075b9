"""Detection of pages that give an answer away, which WebGPT hides (appendix A)."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.browser.characters import stripped
from citewell.browser.page import TextPage, error_page
from citewell.core.text import words

RUN = 10  # words


def censored(page: TextPage, question: str, answer: str) -> TextPage:
    """Return the page, or an error page if it gives the question or the answer away."""
    if page.kind != "page" or not gives_away(page, question, answer):
        return page
    return error_page(page.url, "it holds the question or its answer word for word")


def gives_away(page: TextPage, question: str, answer: str = "") -> bool:
    """Return True if ten consecutive words of the page are also in the question or in a reference answer.

    Such a page is likely to be where the question was first asked. Case and punctuation do not count. A
    question or answer of fewer than ten words never matches.
    """
    return holds_run(f"{page.name}\n{stripped(page.text)}", question, answer)


def holds_run(text: str, *telling: str) -> bool:
    """Return True if ten consecutive words of the text are also in one of the telling texts."""
    known = {run for each in telling for run in _runs(each)}
    return bool(known) and any(run in known for run in _runs(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    found = words(text)
    return zip(*(found[start:] for start in range(RUN)), strict=False)
