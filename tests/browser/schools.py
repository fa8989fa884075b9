"""A small web of articles in memory, and a relevance that counts words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from citewell.browser.characters import stripped
from citewell.browser.page import Link, TextPage, error_page, text_page
from citewell.browser.results import results_page
from citewell.core.text import content_words, words
from citewell.core.types import Hit

ADDRESS = "http://schools.example/wiki/"
ARTICLES = {
    "Rain": "Rain is water that falls. Many people sing about it when they are sad.",
    "Songs": "Songs are sung by people.\n\nThe song about rain was written by Mary Jones in the year 1912. "
    "It was not the last one of hers.",
    "Snow": "Snow is white and cold. It falls in winter on 【0†Rain】 and on all other things.",
}


def address(name: str) -> str:
    """The URL of an article."""
    return ADDRESS + name


class School:
    """Finds every article for every question, in the same order."""

    async def search(self, query: str) -> TextPage:
        """All articles."""
        return results_page(
            query, [Hit(address(name), name, stripped(text), "test") for name, text in ARTICLES.items()]
        )

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """An article."""
        name = url.removeprefix(ADDRESS)
        if name not in ARTICLES:
            return error_page(url, "HTTP 404")
        links = (Link("Rain", address("Rain"), "schools.example"),) if name == "Snow" else ()
        return text_page(url, name, ARTICLES[name], links)


def relevance(question: str, texts: Sequence[str]) -> Any:
    """The share of the question's content words that each text has."""
    wanted = set(content_words(question))
    return np.array([len(wanted & set(words(text))) / len(wanted) for text in texts], dtype=np.float32)
