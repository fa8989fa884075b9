"""Which steps of demonstrations are learned."""

from __future__ import annotations

from dataclasses import replace

from citewell.browser.episode import Ending, Episode, Step
from citewell.browser.pairs import StateCommand, accepted, balanced, pairs
from citewell.browser.state import TakenQuote


def episode(*commands: tuple[str, str], reward: float | None = 1.0) -> Episode:
    steps = tuple(Step(f"state {n}", text, kind) for n, (text, kind) in enumerate(commands))
    return Episode("1", "why", "test", steps, (), "Answer", reward=reward)


def test_a_pair_is_a_state_and_the_command_that_was_given_in_it() -> None:
    found = list(pairs(episode((" Search why ", "search"), ("End: Answer", "end")), 500))
    assert found == [
        StateCommand("why", "state 0", "Search why", "search"),
        StateCommand("why", "state 1", "End: Answer", "end"),
    ]


def test_invalid_commands_are_not_learned() -> None:
    found = pairs(episode(("Clicked on link 9", "invalid"), ("jump", "invalid"), ("Top", "top")), 500)
    assert [pair.command for pair in found] == ["Top"]


def test_the_answer_is_one_more_pair_whose_citations_count_the_quotes_from_1() -> None:
    quote = TakenQuote("Bats", "bats.example", "https://bats.example", "They call.")
    answered = replace(episode(("End: Answer", "end")), quotes=(quote,), answer="They call [1].")
    *commands, last = pairs(answered, 500)
    assert [pair.kind for pair in commands] == ["end"]
    assert last == StateCommand(
        "why", "why■[1] Bats (bats.example)\n\nThey call.■", "They call [1].", "answer"
    )
    assert not any(pair.kind == "answer" for pair in pairs(replace(answered, quotes=()), 500))


def test_episodes_without_enough_reward_are_left_out() -> None:
    some = [episode(reward=reward) for reward in (None, 0.0, 0.5, 1.0)]
    assert list(accepted(some, 0.5)) == some[2:]


def test_what_a_person_answers_from_needs_no_reward() -> None:
    crows = TakenQuote("Crows", "birds.example", "https://birds.example", "They are black.")
    person = replace(episode(("End: Answer", "end"), reward=None), policy="human", quotes=(crows,))
    endings: tuple[Ending, ...] = ("Answer", "quotes", "actions", "abandoned", "Nonsense", "Controversial")
    some = [replace(person, ending=ending) for ending in endings]
    assert list(accepted(some, 0.5)) == some[:3]
    assert list(accepted([replace(person, quotes=()), replace(person, policy="scripted")], 0.5)) == []
    judged = [replace(person, reward=reward) for reward in (0.0, 1.0)]
    assert list(accepted(judged, 0.5)) == judged[1:]


def test_kinds_are_bounded_and_repeats_dropped() -> None:
    scrolls = [StateCommand("q", f"s{n}", "Scrolled down 1", "scroll_down") for n in range(9)]
    other = StateCommand("q", "s", "End: Answer", "end")
    kept = balanced([other, *scrolls, other], {"scroll_down": 4}, seed=0)
    assert kept[0] == other
    assert len(kept) == 5
    assert kept == balanced([other, *scrolls, other], {"scroll_down": 4}, seed=0)
    assert kept != balanced([other, *scrolls, other], {"scroll_down": 4}, seed=1)
