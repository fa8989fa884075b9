"""A language model that browses: it writes one command per state, limited to those that the state allows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace

from citewell.browser.commands import Search, parse
from citewell.browser.policies.grammar import commands_grammar
from citewell.browser.policies.legal import is_new_search, onwards
from citewell.browser.policies.prompted import prompted
from citewell.browser.policy import Action
from citewell.browser.state import State
from citewell.generator.causal import Sampling
from citewell.generator.completer import CompletedText, Completer
from citewell.generator.prompt import Message

TEMPERATURE = 0.8
"""Temperature of WebGPT's samples (§4)."""

_MAX_TOKENS = 96  # tokens of a command
_SEEDS = 1_000  # seeds of an episode, more than it has actions


class ModelPolicy:
    """A policy of any backend that completes messages, local or remote.

    With `constrained`, the model can write only commands that make progress: links in view that were not
    opened, sentences in view that were not quoted, and scrolling within the page. If the model repeats a
    query, it has to write another command.
    """

    def __init__(
        self,
        completer: Completer,
        name: str,
        *,
        messages: Callable[[State], list[Message]] = prompted,
        constrained: bool = True,
    ) -> None:
        """Browse greedily; `messages` builds the prompt of a state, `name` appears in episodes."""
        self.name = name
        self._completer = completer
        self._messages = messages
        self._constrained = constrained
        self._sampling = Sampling(TEMPERATURE, 0, frequency_penalty=0.0)

    def sampled(self, seed: int, temperature: float = TEMPERATURE) -> ModelPolicy:
        """Return the same policy, sampling commands with this seed, for several episodes of a question."""
        other = copy(self)
        other._sampling = Sampling(temperature, seed * _SEEDS, frequency_penalty=0.0, single=True)
        return other

    async def act(self, state: State) -> Action:
        """Return the next command; raises the errors of the backend."""
        if not self._constrained:
            written = await self._write(state, "")
            return Action(_first_line(written.text), written.tokens)
        allowed = onwards(state)
        written = await self._write(state, commands_grammar(allowed))
        command, tokens = _first_line(written.text), written.tokens
        found = parse(command)
        if isinstance(found, Search) and not is_new_search(state, found.query):
            written = await self._write(state, commands_grammar(replace(allowed, search=False)))
            command, tokens = _first_line(written.text), tokens + written.tokens
        return Action(command, tokens)

    async def answer(self, prompt: str, *, most: int, seed: int | None) -> str:
        """Answer a prompt of `citewell.browser.answering`, without a grammar."""
        sampling = self._sampling._replace(seed=seed or 0, single=seed is not None)
        written = await self._completer.complete(
            [{"role": "user", "content": prompt}], most=most, sampling=sampling
        )
        return written.text

    async def _write(self, state: State, grammar: str) -> CompletedText:
        sampling = self._sampling._replace(seed=self._sampling.seed + state.actions_left)
        return await self._completer.complete(
            self._messages(state), most=_MAX_TOKENS, sampling=sampling, grammar=grammar
        )


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
