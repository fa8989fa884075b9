"""The answering phase: the text that a policy answers from, and the policy as a writer of answers.

WebGPT's model browses, and in the last step of an episode the same model answers from its quotes (appendix A,
https://arxiv.org/abs/2112.09332).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from citewell.browser.characters import inert, inert_line
from citewell.browser.state import TakenQuote
from citewell.core.events import Token
from citewell.core.types import Reference
from citewell.generator.completer import Completer
from citewell.generator.estimate import estimate_tokens
from citewell.generator.yes import YesModel
from citewell.retriever.search.urls import host_of

_END = "■"


@runtime_checkable
class AnsweringPolicy(Protocol):
    """A policy that also answers."""

    name: str

    async def answer(self, prompt: str, *, most: int, seed: int | None) -> str:
        """Answer an `answering_prompt` in at most `most` tokens; sample where a seed is given."""
        ...


def answering_prompt(question: str, quotes: Mapping[int, TakenQuote], most: int) -> str:
    """Return the question and its quotes, by their numbers, as a policy reads them to answer.

    If the whole is longer than `most` tokens, estimated as `estimate_tokens` does, the oldest quotes are left
    out; the others keep their numbers.
    """
    parts = [f"{inert(question)}{_END}"]
    parts += [_numbered(number, quote) for number, quote in quotes.items()]
    while len(parts) > 1 and estimate_tokens("".join(parts)) > most:
        del parts[1]
    return "".join(parts)


def _numbered(number: int, quote: TakenQuote) -> str:
    where = f" ({inert_line(quote.domain)})" if quote.domain else ""
    return f"[{number}] {inert_line(quote.title)}{where}\n\n{inert(quote.text)}{_END}"


class PolicyAnswerer:
    """A browsing policy as a backend of the pipeline: the references that it answers from are its quotes."""

    yes_model: YesModel | None = None
    completer: Completer | None = None
    refuses = False

    def __init__(self, policy: AnsweringPolicy, *, prompt_tokens: int, answer_tokens: int, seed: int) -> None:
        """Read at most `prompt_tokens`, and write at most `answer_tokens`; samples start from `seed`."""
        self.name = policy.name
        self._policy = policy
        self._prompt_tokens = prompt_tokens
        self._answer_tokens = answer_tokens
        self._seed = seed

    async def generate(
        self,
        question: str,
        references: Sequence[Reference],
        n: int,
        *,
        first: int = 0,
        likely: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` answers, each as one piece; a single one is greedy."""
        quotes = {
            each.number: TakenQuote(each.title, host_of(each.url), each.url, each.text)
            for each in references
            if each.text
        }
        prompt = answering_prompt(question, quotes, self._prompt_tokens)
        for number in range(first, first + n):
            seed = None if n == 1 and first == 0 else self._seed + number
            text = await self._policy.answer(prompt, most=self._answer_tokens, seed=seed)
            yield Token(text, number)
