"""A script that browses as a hurried reader would: a strong baseline, and a teacher for language models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.browser.characters import MARK
from citewell.browser.commands import Back, Click, Command, End, Find, Quote, Scroll, Search
from citewell.browser.policies.legal import Legal, is_new_search, is_results, onwards, queries, since_opened
from citewell.browser.policies.quoting import abbreviated
from citewell.browser.policy import Action
from citewell.browser.state import State
from citewell.core.text import content_words, encoded_text, split_sentences, words
from citewell.generator.extractive import Relevance

_MIN_WORDS = 8  # words of a passage that is worth quoting
_STOPS = (".", "!", "?", "。")


@dataclass(frozen=True, slots=True)
class Script:
    """The numbers of the script; relevance is the inner product that the dual encoder gives."""

    enough: int = 5
    """Quotes with which it answers."""
    per_page: int = 3
    """Quotes of one page."""
    windows: int = 4
    """Windows that it reads from the top of a page."""
    finds: int = 4
    """Words of the question that it looks for in a page."""
    pages: int = 6
    """Pages that it opens."""
    passage: int = 100
    """Words of a passage that is quoted, at most, unless one sentence has more."""
    quoted: float = 0.45
    """Relevance from which a passage is quoted."""
    promising: float = 0.45
    """Relevance of a title with its snippet from which a page is opened for more than a first quote."""


class _Rated(NamedTuple):
    """Something in view, and how relevant it is."""

    relevance: float
    place: int


class Scripted:
    """Searches for the question, opens results by promise, quotes the best passages, and ends.

    It has no memory: which pages it opened, how far it read and what it quoted is all in the state. On a page
    of results it opens the most relevant title and snippet that it has not opened. On a page it quotes the
    most relevant passages in view, scrolls, then looks for the question's longest words, and at last goes
    back. What it searches for next are the words of the question that say what it is about.
    """

    name = "scripted"

    def __init__(self, relevance: Relevance, script: Script | None = None) -> None:
        """Browse by `relevance`, such as `citewell.retriever.rank.Ranker.scores`, which may take a while."""
        self._relevance = relevance
        self._script = script or Script()

    async def act(self, state: State) -> Action:
        """The next command."""
        return Action(str(await asyncio.to_thread(self._choose, state)))

    def _choose(self, state: State) -> Command:
        if not state.title:
            return Search(state.question)
        if len(state.quotes) >= self._script.enough or (state.quotes and state.actions_left == 1):
            return End("Answer")
        return self._on_results(state) if is_results(state) else self._on_page(state)

    def _on_results(self, state: State) -> Command:
        allowed = onwards(state)
        opened = sum(action.startswith("Click ") for action in state.past_actions)
        best = self._best_link(state, allowed) if opened < self._script.pages else None
        if best and (best.relevance >= self._script.promising or not state.quotes):
            return Click(best.place)
        if best is None and not state.quotes and allowed.down and opened < self._script.pages:
            return Scroll("down", 1)
        return End("Answer") if state.quotes else self._search_again(state)

    def _search_again(self, state: State) -> Command:
        """Search for what the question is about; without anything new to search for, end."""
        about = " ".join(content_words(state.question))
        if len(queries(state)) == 1 and is_new_search(state, about):
            return Search(about)
        return End("Answer")

    def _on_page(self, state: State) -> Command:
        allowed = onwards(state)
        here = sum(quote.url == state.url for quote in state.quotes)
        if state.url and here < self._script.per_page:
            passages = list(self._passages(allowed))
            if (best := self._best(state, passages)) and best.relevance >= self._script.quoted:
                return Quote(abbreviated(passages[best.place]))
            if allowed.down and since_opened(state).count("Scrolled down 1") < self._script.windows - 1:
                return Scroll("down", 1)
            if word := self._wanted(state, allowed):
                return Find(word)
        if allowed.back:
            return Back()
        return End("Answer") if state.quotes else self._search_again(state)

    def _wanted(self, state: State, allowed: Legal) -> str | None:
        """The next word to look for: those that say what the question is about, the longest first."""
        sought = sum(action.startswith("Find in page: ") for action in since_opened(state))
        known = set(words(state.title))
        left = [word for word in allowed.find if word not in known]
        return max(left, key=len) if left and sought < self._script.finds else None

    def _best_link(self, state: State, allowed: Legal) -> _Rated | None:
        """The most relevant result that was not opened, by its title and its snippet."""
        if not allowed.links:
            return None
        marks = list(MARK.finditer(state.text))
        ends = [mark.start() for mark in marks[1:]] + [len(state.text)]
        texts = {
            int(mark[1]): f"{mark[2]}. {' '.join(state.text[mark.end() : end].split())}"
            for mark, end in zip(marks, ends, strict=True)
            if int(mark[1]) in allowed.links
        }
        scores = self._relevance(state.question, list(texts.values()))
        return max(_Rated(float(score), link) for score, link in zip(scores, texts, strict=True))

    def _best(self, state: State, passages: Sequence[str]) -> _Rated | None:
        """The most relevant passage."""
        if not passages:
            return None
        title = state.title.rpartition(" (")[0]
        scores = self._relevance(state.question, [encoded_text(title, passage) for passage in passages])
        return max(_Rated(float(score), place) for place, score in enumerate(scores))

    def _passages(self, allowed: Legal) -> Iterator[str]:
        """What can be quoted in view: whole sentences, as many together as make a passage."""
        for paragraph in allowed.quotable:
            passage: list[str] = []
            for sentence in split_sentences(" ".join(paragraph)):
                if not passage and sentence[0].islower():
                    continue  # the end of a sentence that begins above
                length = sum(len(words(part)) for part in passage)
                if passage and length + len(words(sentence)) > self._script.passage:
                    yield " ".join(passage)
                    passage = []
                if sentence.rstrip("\"'”’)]").endswith(_STOPS):
                    passage.append(sentence)
            if sum(len(words(part)) for part in passage) >= _MIN_WORDS:
                yield " ".join(passage)
