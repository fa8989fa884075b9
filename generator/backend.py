"""The protocol of generator backends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from citewell.core.events import Token
from citewell.core.types import Reference
from citewell.generator.completer import Completer
from citewell.generator.yes import YesModel


class GeneratorBackend(Protocol):
    """A writer of answers from numbered references, with marks such as `[1][3]`."""

    name: str
    yes_model: YesModel | None
    """The same model, to be asked questions of yes or no; None for one that does not write."""
    completer: Completer | None
    """The same model, to complete any messages; None for one that does not write."""
    refuses: bool
    """Whether it weighs an answer against a refusal, and so needs to know how `likely` an answer is."""

    def generate(
        self,
        question: str,
        references: Sequence[Reference],
        n: int,
        *,
        first: int = 0,
        likely: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` candidate answers as pieces of text, each with its candidate's index from `first`.

        `first` is the number of candidates that earlier calls wrote: the new ones are different samples.
        `likely` is the probability (0 to 1) that one of the references' sentences answers the question, where
        it is known: a model that can refuse does so the more readily, the lower it is.

        The pieces of one candidate, joined, are its text. Closing the iterator cancels the work.
        A backend that can write only one answer writes one and ignores `n`.
        """
        ...
