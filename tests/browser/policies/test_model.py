"""Language models that browse: what they are asked, and what they are held to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from citewell.browser.commands import Invalid, parse
from citewell.browser.policies.model import ModelPolicy
from citewell.browser.policies.prompted import INSTRUCTION, cloned, prompted
from citewell.generator.causal import Sampling
from citewell.generator.completer import CompletedText
from citewell.generator.prompt import Message

from .states import page, results


class Writer:
    """Writes what it is given, and keeps what it was asked."""

    name = "writer"

    def __init__(self, *texts: str) -> None:
        self._texts: Iterator[str] = iter(texts)
        self.grammars: list[str] = []
        self.samplings: list[Sampling] = []
        self.messages: list[Sequence[Message]] = []

    def count(self, text: str) -> int:
        return len(text)

    async def complete(
        self, messages: Sequence[Message], *, most: int, sampling: Sampling, grammar: str = ""
    ) -> CompletedText:
        self.messages.append(messages)
        self.samplings.append(sampling)
        self.grammars.append(grammar)
        return CompletedText(next(self._texts), 7, cut=False)


async def test_the_command_and_its_tokens() -> None:
    writer = Writer("Clicked on link 1\n")
    assert await ModelPolicy(writer, "m").act(page()) == ("Clicked on link 1", 7)
    assert '"Clicked on link " link' in writer.grammars[0]


async def test_instead_of_the_same_search_again_it_is_asked_for_something_else() -> None:
    writer = Writer("Search when do spring tides happen?", "Clicked on link 1")
    assert await ModelPolicy(writer, "m").act(results()) == ("Clicked on link 1", 14)
    first, second = writer.grammars
    assert '"Search " query' in first
    assert '"Search " query' not in second


async def test_it_answers_without_a_grammar_and_samples_by_the_seed() -> None:
    writer = Writer("They call [1].", "They sing [1].")
    policy = ModelPolicy(writer, "m")
    assert await policy.answer("why■", most=50, seed=None) == "They call [1]."
    assert await policy.answer("why■", most=50, seed=3) == "They sing [1]."
    assert writer.grammars == ["", ""]
    assert writer.messages[0] == [{"role": "user", "content": "why■"}]
    assert [(each.single, each.seed) for each in writer.samplings] == [(False, 0), (True, 3)]


async def test_unconstrained_it_writes_what_it_likes() -> None:
    writer = Writer("\nI would click on link 1.\nThen quote.")
    policy = ModelPolicy(writer, "m", constrained=False)
    assert (await policy.act(results())).text == "I would click on link 1."
    assert writer.grammars == [""]


async def test_it_is_greedy_unless_it_is_sampled() -> None:
    writer = Writer("Back", "Back", "Back")
    policy = ModelPolicy(writer, "m")
    await policy.act(page())
    await policy.sampled(3).act(page())
    await policy.sampled(3).act(page(actions_left=7))
    greedy, drawn, later = writer.samplings
    assert (greedy.single, drawn.single, drawn.temperature) == (False, True, 0.8)
    assert drawn.seed != later.seed, "a loop would draw the same commands again"


async def test_a_clone_sees_the_state_alone() -> None:
    writer = Writer("Back")
    await ModelPolicy(writer, "m", messages=cloned).act(page())
    assert writer.messages == [[{"role": "user", "content": str(page())}]]


def test_others_are_told_the_commands_and_shown_one() -> None:
    system, _, shown, state = prompted(page())
    assert system["content"] == INSTRUCTION
    assert not isinstance(parse(shown["content"]), Invalid)
    assert state["content"] == str(page())


@pytest.mark.parametrize(
    "name",
    ["Search", "Clicked on link", "Find in page:", "Quote:", "Scrolled down", "Scrolled up", "Top", "Back"],
)
def test_the_instruction_names_every_command(name: str) -> None:
    assert any(line.startswith(name) for line in INSTRUCTION.splitlines())
