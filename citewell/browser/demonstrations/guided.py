"""A demonstrator that knows the answer and browses like a person who knows where to look."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from citewell.browser.characters import stripped
from citewell.browser.commands import Back, Click, Command, End, Quote, Scroll, Search
from citewell.browser.page import TextPage
from citewell.browser.policies.legal import is_results, onwards
from citewell.browser.policies.quoting import abbreviated
from citewell.browser.policy import Action
from citewell.browser.state import State
from citewell.browser.web import Web
from citewell.core.answers import has_answer
from citewell.core.relevance import Relevance
from citewell.core.text import split_sentences, squeeze, words

LEAST = 0.4
"""Minimum relevance of a sentence to the question for its answer to be trusted."""

_READ = 5_000  # characters of a page: about four windows, which is as far as is scrolled
_LATER = 0.05 / 1_300  # relevance that a sentence has to have more for each character further down
_MIN_WORDS, _MAX_WORDS = 5, 60  # words of a sentence
_ENOUGH, _PER_PAGE, _PAGES = 3, 2, 2
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")


class _Found(NamedTuple):
    """The sentence of a page that answers best, and how relevant it is."""

    relevance: float
    sentence: str


class Guided:
    """A policy for one question whose `answers` are known, with a few commands in a fixed order.

    It searches for the question, opens the result with the most relevant sentence that has an answer, scrolls
    to this sentence, quotes it and perhaps another one, goes back, opens a second result, and ends. Its
    states explain each command except the choice of the sentence, which is what a model has to learn. If no
    other page has an answer, the second page is opened and quoted by relevance alone, as a person who does
    not know the answer would do.
    """

    name = "guided"

    def __init__(self, web: Web, relevance: Relevance, answers: Sequence[str]) -> None:
        self._web = web
        self._relevance = relevance
        self._answers = answers

    async def act(self, state: State) -> Action:
        """Return the next command."""
        return Action(str(await self._choose(state)))

    async def _choose(self, state: State) -> Command:
        if not state.title:
            return Search(state.question)
        if len(state.quotes) >= _ENOUGH or state.actions_left == 1:
            return End("Answer")
        return await self._on_results(state) if is_results(state) else await self._on_page(state)

    async def _on_results(self, state: State) -> Command:
        links = onwards(state).links
        if _opened(state) >= _PAGES or not links:
            return End("Answer")
        pages = [await self._web.open(state.links[link].url, state.question) for link in links]
        found = [await self._best(state, page) for page in pages]
        best, link = max(zip((each.relevance if each else 0.0 for each in found), links, strict=True))
        if best >= LEAST:
            return Click(link)
        if not state.quotes:
            return Scroll("down", 1) if state.last < state.lines else End("Answer")
        names = [page.name for page in pages]
        scores = await asyncio.to_thread(self._relevance, state.question, names)
        return Click(links[int(scores.argmax())])

    async def _on_page(self, state: State) -> Command:
        page = await self._web.open(state.url, state.question)
        here = sum(quote.url == state.url for quote in state.quotes)
        best = await self._best(state, page) if here < _PER_PAGE else None
        if best is not None and best.relevance >= LEAST:
            if _is_in_view(best.sentence, state):
                return Quote(abbreviated(best.sentence))
            if not here and state.last < state.lines:
                return Scroll("down", 1)
        if _opened(state) < _PAGES:
            return Back()
        if not here and (sentences := [each for each in _sentences(page) if _is_in_view(each, state)]):
            scores = await asyncio.to_thread(self._relevance, state.question, sentences)
            return Quote(abbreviated(sentences[int(scores.argmax())]))
        return End("Answer")

    async def _best(self, state: State, page: TextPage) -> _Found | None:
        """Return the most relevant unquoted sentence with an answer from the beginning of a page."""
        taken = {squeeze(quote.text) for quote in state.quotes}
        sentences = [
            sentence
            for sentence in _sentences(page)
            if has_answer(sentence, self._answers) and sentence not in taken
        ]
        if page.kind != "page" or not sentences:
            return None
        texts = [f"{page.name}. {sentence}" for sentence in sentences]
        scores = await asyncio.to_thread(self._relevance, state.question, texts)
        text = squeeze(stripped(page.text))
        return max(
            _Found(float(score) - _LATER * text.find(sentence), sentence)
            for score, sentence in zip(scores, sentences, strict=True)
        )


def _opened(state: State) -> int:
    return sum(action.startswith("Click ") for action in state.past_actions)


def _is_in_view(sentence: str, state: State) -> bool:
    return sentence in squeeze(stripped(state.text))


def _sentences(page: TextPage) -> Iterator[str]:
    """Yield the whole sentences at the beginning of a page."""
    for paragraph in _PARAGRAPHS.split(stripped(page.text[:_READ])):
        for sentence in map(squeeze, split_sentences(squeeze(paragraph))):
            if sentence.endswith((".", "!", "?")) and _MIN_WORDS <= len(words(sentence)) <= _MAX_WORDS:
                yield sentence
