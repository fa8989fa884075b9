"""An evaluation: results by question, which survive an interruption, and their report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode, read_episodes
from citewell.browser.evaluation.evaluate import evaluate, results
from citewell.browser.evaluation.report import as_json, details, markdown
from citewell.browser.evaluation.systems import PolicySystem
from citewell.browser.policies.best_of import EpisodeJudge, by_quotes
from citewell.browser.policies.scripted import Scripted
from citewell.browser.policy import Action
from citewell.browser.state import State, TakenQuote
from citewell.core.errors import CitewellError, InputError, ServiceError
from citewell.core.questions import AnsweredQuestion
from tests.browser.schools import School, relevance

JUDGE = by_quotes(relevance)
ASKED = (
    AnsweredQuestion("who wrote the song about rain", ("Mary Jones",)),
    AnsweredQuestion("what color is snow", ("green",)),
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


class Drawing:
    """Gives commands by the seed, one after the other."""

    name = "drawing"

    def __init__(self, *drawn: Sequence[str]) -> None:
        self._drawn = drawn

    def sampled(self, seed: int) -> Drawing:
        return Drawing(self._drawn[seed])

    async def act(self, state: State) -> Action:
        return Action(self._drawn[0][5 - state.actions_left])


def quiet(text: str) -> None:
    pass


async def test_a_policy_is_judged_by_its_quotes(tmp_path: Path) -> None:
    policy = Scripted(relevance)
    system = PolicySystem("scripted", policy, lambda: Browser(School()), n=1, actions=12, judge=JUDGE)
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


@pytest.mark.parametrize("lost", [1, 9])
async def test_an_evaluation_that_was_killed_in_a_line_goes_on(tmp_path: Path, lost: int) -> None:
    file = tmp_path / "quoting.jsonl"
    system = PolicySystem(
        "scripted", Scripted(relevance), lambda: Browser(School()), n=1, actions=12, judge=JUDGE
    )
    found = await evaluate(system, ASKED, file, quiet)
    file.write_bytes(file.read_bytes()[:-lost])
    again = await evaluate(system, ASKED, file, quiet)
    assert [result.found for result in again.values()] == [result.found for result in found.values()]
    assert [episode.question for episode in read_episodes(file)] == [row.question for row in ASKED]


class Failing(Quoting):
    """Fails on given questions."""

    def __init__(self, *questions: str) -> None:
        super().__init__("Mary Jones")
        self.questions = questions

    async def browse(self, question: str) -> list[Episode]:
        if question in self.questions:
            raise ServiceError("The engine is down.", "Wait.")
        return await super().browse(question)


async def test_a_failure_is_reported_and_asked_again(tmp_path: Path) -> None:
    file, told = tmp_path / "quoting.jsonl", list[str]()
    found = await evaluate(Failing(ASKED[1].question), ASKED, file, told.append)
    assert told[-1] == "quoting: 2 of 2, failed: The engine is down. Wait."
    said = "quoting failed on 1 of 2 questions, which count as not found: The engine is down. Wait."
    assert said in markdown({"quoting": found}, "quoting")
    assert json.loads(as_json({"quoting": found}))["quoting"]["failures"] == 1
    failures = {ASKED[1].question: "The engine is down. Wait."}
    assert json.loads(details({"quoting": found}))["failures"] == {"quoting": failures}
    again = await evaluate(Quoting("green"), ASKED, file, quiet)
    assert [result.found for result in again.values()] == [True, True]


async def test_where_all_fails_nothing_is_measured(tmp_path: Path) -> None:
    system = Failing(*(row.question for row in ASKED))
    with pytest.raises(CitewellError, match=r"failed on 2 questions in a row.*because: The engine is down"):
        await evaluate(system, ASKED, tmp_path / "quoting.jsonl", quiet)
    many = [AnsweredQuestion(f"why {number}", ("because",)) for number in range(12)]
    system = Failing(*(row.question for row in many[1:]))
    with pytest.raises(CitewellError, match="failed on 10 questions in a row"):
        await evaluate(system, many, tmp_path / "many.jsonl", quiet)


async def test_the_chosen_episode_counts_and_all_episodes_cost(tmp_path: Path) -> None:
    found = await evaluate(Quoting("Mary Jones"), ASKED[:1], tmp_path / "e.jsonl", quiet)
    assert found[ASKED[0].question]._asdict() == {
        "found": True,
        "quotes": 1,
        "actions": 0,
        "valid": 0,
        "tokens": 0,
        "seconds": 3.0,
        "judge": "",
        "error": "",
    }
    episodes = list(read_episodes(tmp_path / "e.jsonl"))
    assert results(episodes, {row.question: row.answers for row in ASKED}) == found
    corrected = results(episodes, {ASKED[0].question: ("Ann Lee",)})
    assert not corrected[ASKED[0].question].found


def test_a_script_has_no_best_of_several_episodes() -> None:
    policy = Scripted(relevance)
    with pytest.raises(InputError, match="cannot browse 2 times"):
        PolicySystem("2*scripted", policy, lambda: Browser(School()), n=2, actions=5, judge=JUDGE)


async def test_the_best_of_several_episodes_is_chosen_and_the_table_says_by_what(tmp_path: Path) -> None:
    question = ASKED[0].question
    search = f"Search {question}"
    policy = Drawing(
        [search, "End: Nonsense"], [search, "Clicked on link 1", "Quote: by Mary Jones", "End: Answer"]
    )
    judge = EpisodeJudge("the most quotes", lambda episode: len(episode.quotes))
    system = PolicySystem("2*drawing", policy, lambda: Browser(School()), n=2, actions=5, judge=judge)
    file = tmp_path / "drawing.jsonl"
    found = await evaluate(system, ASKED[:1], file, quiet)
    assert found[question]._replace(seconds=0.0) == (True, 1, 6, 6, 0, 0.0, "the most quotes", "")
    assert [episode.about.get("chosen", "yes") for episode in read_episodes(file)] == ["no", "yes"]
    assert await evaluate(system, ASKED[:1], file, quiet) == found
    file.write_bytes(file.read_bytes().partition(b"\n")[0] + b"\n")
    again = await evaluate(system, ASKED[:1], file, quiet)
    assert again[question]._replace(seconds=0.0) == found[question]._replace(seconds=0.0)
    alone = await evaluate(Quoting("by Mary Jones"), ASKED[:1], tmp_path / "quoting.jsonl", quiet)
    lines = markdown({"quoting": alone, "2*drawing": found}, "quoting").splitlines()
    assert lines[0].endswith("| chosen by |")
    assert lines[2].endswith("|  |")
    assert lines[3].endswith("| the most quotes |")


async def test_the_report_compares_systems(tmp_path: Path) -> None:
    good = await evaluate(Quoting("Mary Jones says green"), ASKED, tmp_path / "good.jsonl", quiet)
    bad = await evaluate(Quoting("nothing"), ASKED, tmp_path / "bad.jsonl", quiet)
    outcomes = {"bad": bad, "good": good}
    text = markdown(outcomes, "bad")
    assert "| good | 2 | 1.000 |" in text
    assert "Compared with bad:" in text
    assert json.loads(as_json(outcomes))["good"]["found"] == 1.0
