"""The random baseline: any command that the state allows."""

from __future__ import annotations

import random
from collections.abc import Iterator

from citewell.browser.commands import Back, Click, Command, End, Find, Quote, Scroll, Search, Top
from citewell.browser.policies.legal import Legal, legal
from citewell.browser.policy import Action
from citewell.browser.state import State

_MAX_WORDS = 30  # of a quote


class RandomLegal:
    """A policy that draws the kind of the command first, uniformly, and then its argument.

    Queries and texts to find are some of the question's words; quotes are in view. It never ends browsing
    without an answer.
    """

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        """Draw with this seed."""
        self._random = random.Random(seed)  # noqa: S311

    async def act(self, state: State) -> Action:
        """Return a command that can be carried out."""
        return Action(str(self._random.choice(list(self._commands(state, legal(state))))))

    def _commands(self, state: State, allowed: Legal) -> Iterator[Command]:
        """Yield one command of each allowed kind."""
        yield Search(self._words(state.question.split(), len(state.question.split())))
        if allowed.links:
            yield Click(self._random.choice(allowed.links))
        if allowed.find:
            yield Find(self._random.choice(allowed.find))
        if allowed.quotable:
            words = self._random.choice(allowed.quotable)
            yield Quote(self._words(words, _MAX_WORDS))
        if allowed.down:
            yield Scroll("down", self._random.randint(1, 3))
        if allowed.up:
            yield Scroll("up", self._random.randint(1, 3))
            yield Top()
        if allowed.back:
            yield Back()
        if allowed.answer:
            yield End("Answer")

    def _words(self, words: list[str] | tuple[str, ...], most: int) -> str:
        """Return some adjacent words."""
        first = self._random.randrange(len(words))
        length = self._random.randint(1, min(most, len(words) - first))
        return " ".join(words[first : first + length])
