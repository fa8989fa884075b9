"""A script that browses like a hurried reader: a strong baseline, and a teacher for language models."""

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
from citewell.core.relevance import Relevance
from citewell.core.text import content_words, encoded_text, split_sentences, words

_MIN_WORDS = 8  # words of a passage that is worth quoting
_STOPS = (".", "!", "?", "。")


@dataclass(frozen=True, slots=True)
class Script:
    """The parameters of the script; relevance is the dual encoder's inner product."""

    enough: int = 5
    """Number of quotes after which it answers."""
    per_page: int = 3
    """Maximum quotes per page."""
    windows: int = 4
    """Maximum windows to read from the top of a page."""
    finds: int = 4
    """Maximum words of the question to look for in a page."""
    pages: int = 6
    """Maximum pages to open."""
    passage: int = 100
    """Maximum words of a quoted passage, unless a single sentence is longer."""
    quoted: float = 0.45
    """Minimum relevance of a passage to quote."""
    promising: float = 0.45
    """Minimum relevance of a title and snippet to open a page after the first quote."""


class _Rated(NamedTuple):
    """An item in view, and its relevance."""

    relevance: float
    place: int


class Scripted:
    """A policy that searches for the question, opens promising results, quotes the best passages, and ends.

    It has no memory: the state shows which pages it opened, how far it read and what it quoted. On a page of
    results it opens the most relevant unopened title and snippet. On a page it quotes the most relevant
    passages in view, scrolls, then looks for the question's longest words, and at last goes back. Later
    queries are the content words of the question.
    """

    name = "scripted"

    def __init__(self, relevance: Relevance, script: Script | None = None) -> None:
        """Browse by `relevance`, such as `citewell.retriever.rank.Ranker.scores`, which may be slow."""
        self._relevance = relevance
        self._script = script or Script()

    async def act(self, state: State) -> Action:
        """Return the next command."""
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
        """Search for the content words of the question; end if they were searched for already."""
        about = " ".join(content_words(state.question))
        if len(queries(state)) == 1 and is_new_search(state, about):
            return Search(about)
        return End("Answer")

    def _on_page(self, state: State) -> Command:
        allowed = onwards(state)
        here = sum(quote.url == state.url for quote in state.quotes)
        if state.url and here < self._script.per_page:
            # Two passages with the same ends have one name, by which only the first can be quoted.
            passages = [each for each in self._passages(allowed) if abbreviated(each) not in allowed.taken]
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
        """Return the next word to look for: the content words of the question, the longest first."""
        sought = sum(action.startswith("Find in page: ") for action in since_opened(state))
        known = set(words(state.title))
        left = [word for word in allowed.find if word not in known]
        return max(left, key=len) if left and sought < self._script.finds else None

    def _best_link(self, state: State, allowed: Legal) -> _Rated | None:
        """Return the most relevant unopened result, by its title and its snippet."""
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
        """Return the most relevant passage."""
        if not passages:
            return None
        title = state.title.rpartition(" (")[0]
        scores = self._relevance(state.question, [encoded_text(title, passage) for passage in passages])
        return max(_Rated(float(score), place) for place, score in enumerate(scores))

    def _passages(self, allowed: Legal) -> Iterator[str]:
        """Yield the quotable passages in view: as many whole sentences as fit in a passage."""
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
