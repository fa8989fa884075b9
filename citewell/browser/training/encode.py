"""Conversion of a pair to tokens: the prompt of a policy is the state alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.browser.pairs import StateCommand
from citewell.core.training.plan import Size
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.transformers import TransformersModel


class PairEncoder:
    """The encoder of states and commands as tokens."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        """`model` is a causal language model of transformers; only its limits are used."""
        self.tokenizer = tokenizer
        self._model = TransformersModel(model, tokenizer)

    def prompt(self, state: str) -> str:
        """Return the prompt: the state as the user's message, in which nothing can end the user's turn."""
        for token in self._model.control_tokens:
            state = state.replace(token, " ")
        return self._model.render([{"role": "user", "content": state}])

    def encode(self, pair: StateCommand) -> TokenizedExample:
        """Return the tokens of a pair."""
        command = self._model.encode(pair.command)
        return TokenizedExample(
            tuple(self._model.encode(self.prompt(pair.state))), (*command, self.tokenizer.eos_token_id)
        )

    def sizes(self, pairs: Sequence[StateCommand]) -> list[Size]:
        """Return the size of each pair, state and command."""
        lengths = [len(each.prompt) + len(each.answer) for each in map(self.encode, pairs)]
        return [Size(1, length, length) for length in lengths]
