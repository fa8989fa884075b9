"""What whoever browses sees of a page that gives the question or its answer away."""

from __future__ import annotations

from browser.censor import gives_away
from browser.page import TextPage, error_page


def censored(page: TextPage, question: str, answer: str) -> TextPage:
    """The page, or an error page where it gives the question or the answer away (WebGPT, appendix A)."""
    if page.kind != "page" or not gives_away(page, question, answer):
        return page
    return error_page(page.url, "it holds the question or its answer word for word")
