"""The protocol of generator backends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from citewell.core.events import Token
from citewell.core.types import Reference


class GeneratorBackend(Protocol):
    """Writes answers to a question from numbered references, with marks such as `[1][3]`."""

    name: str

    def generate(
        self, question: str, references: Sequence[Reference], n: int, *, first: int = 0
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` candidate answers as pieces of text, each with its candidate's index from `first`.

        `first` is how many candidates were asked for before: they are sampled anew, and are not the same.

        The pieces of one candidate, joined, are its text. Closing the iterator cancels the work.
        A backend that can write only one answer writes one, whatever `n` is.
        """
        ...
