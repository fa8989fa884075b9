"""An evaluation: results by question, which survive an interruption, and their report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from browser.environment import Browser
from browser.episode import Episode, read_episodes
from browser.evaluation.evaluate import evaluate, results
from browser.evaluation.questions import Asked, read_questions
from browser.evaluation.report import as_json, markdown
from browser.evaluation.systems import PolicySystem
from browser.policies.random_legal import RandomLegal
from browser.policies.scripted import Scripted
from browser.state import TakenQuote
from core.errors import InputError
from tests.browser.schools import School, relevance

ASKED = (
    Asked("who wrote the song about rain", ("Mary Jones",)),
    Asked("what colour is snow", ("green",)),
)


class Quoting:
    """Quotes what it is told to; two episodes a question, of which the second is chosen."""

    name = "quoting"

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[str] = []

    async def browse(self, question: str) -> list[Episode]:
        self.asked.append(question)
        quotes = (TakenQuote("t", "d", "u", self.text),)
        first = Episode("1", question, "quoting", (), (), "Answer", seconds=1.0, about={"chosen": "no"})
        return [first, Episode("2", question, "quoting", (), quotes, "Answer", seconds=2.0)]


def quiet(text: str) -> None:
    pass


async def test_a_policy_is_judged_by_its_quotes(tmp_path: Path) -> None:
    policy = Scripted(relevance)
    system = PolicySystem("scripted", policy, lambda: Browser(School()), n=1, actions=12, rate=lambda _: 0.0)
    found = await evaluate(system, ASKED, tmp_path / "scripted.jsonl", quiet)
    assert [found[row.question].found for row in ASKED] == [True, False]
    assert found[ASKED[0].question].actions > 2
    rewards = [episode.reward for episode in read_episodes(tmp_path / "scripted.jsonl")]
    assert rewards == [1.0, 0.0]


async def test_what_was_asked_is_not_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "quoting.jsonl"
    await evaluate(Quoting("by Mary Jones"), ASKED[:1], file, quiet)
    again = Quoting("by nobody")
    found = await evaluate(again, ASKED, file, quiet)
    assert again.asked == [ASKED[1].question]
    assert [found[row.question].found for row in ASKED] == [True, False]


async def test_the_chosen_episode_counts_and_all_episodes_cost(tmp_path: Path) -> None:
    found = await evaluate(Quoting("Mary Jones"), ASKED[:1], tmp_path / "e.jsonl", quiet)
    assert found[ASKED[0].question]._asdict() == {
        "found": True,
        "quotes": 1,
        "actions": 0,
        "valid": 0,
        "tokens": 0,
        "seconds": 3.0,
    }
    assert results(read_episodes(tmp_path / "e.jsonl")) == found


async def test_the_best_of_several_episodes_is_rated(tmp_path: Path) -> None:
    def rate(episode: Episode) -> float:
        return -len(episode.steps)

    policy = Scripted(relevance)
    with pytest.raises(InputError, match="no best of 2"):
        PolicySystem("2*scripted", policy, lambda: Browser(School()), n=2, actions=5, rate=rate)
    assert RandomLegal(0).name


async def test_the_report_compares_systems(tmp_path: Path) -> None:
    good = await evaluate(Quoting("Mary Jones says green"), ASKED, tmp_path / "good.jsonl", quiet)
    bad = await evaluate(Quoting("nothing"), ASKED, tmp_path / "bad.jsonl", quiet)
    outcomes = {"bad": bad, "good": good}
    text = markdown(outcomes, "bad")
    assert "| good | 2 | 1.000 |" in text
    assert "Compared with bad:" in text
    assert json.loads(as_json(outcomes))["good"]["found"] == 1.0


def test_questions_are_read_from_lines(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"question": "q", "answers": ["a"], "origin": "o"}\n\n{"question": "r", "answers": []}\n'
    )
    assert read_questions(file, 1) == (Asked("q", ("a",)),)
    assert len(read_questions(file)) == 2


@pytest.mark.parametrize("text", ["", "no json\n", '{"question": "q"}\n'])
def test_a_file_without_questions_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match="holds no questions"):
        read_questions(file)
