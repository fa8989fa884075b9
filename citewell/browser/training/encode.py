"""From a pair to tokens, as a policy reads a state: the state is all that the model is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.browser.pairs import StateCommand
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.transformers import TransformersModel


class PairEncoder:
    """Turns states and commands into tokens."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        """`model` is a causal language model of transformers, which is asked for its limits only."""
        self.tokenizer = tokenizer
        self._model = TransformersModel(model, tokenizer)

    def prompt(self, state: str) -> str:
        """The prompt: the state as the user's message, in which nothing can end the user's turn."""
        for token in self._model.control_tokens:
            state = state.replace(token, " ")
        return self._model.render([{"role": "user", "content": state}])

    def encode(self, pair: StateCommand) -> TokenizedExample:
        """The tokens of a pair."""
        command = self._model.encode(pair.command)
        return TokenizedExample(
            tuple(self._model.encode(self.prompt(pair.state))), (*command, self.tokenizer.eos_token_id)
        )

    def lengths(self, found: Sequence[StateCommand]) -> list[int]:
        """How many tokens each pair has, state and command."""
        encoded = map(self.encode, found)
        return [len(each.prompt) + len(each.answer) for each in encoded]
