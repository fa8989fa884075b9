"""The statistics of episodes are those of WebGLM's Tables 11 and 12."""

from __future__ import annotations

from citewell.browser.episode import Episode, Step
from citewell.browser.evaluation.statistics import KINDS, statistics


def episode(*steps: tuple[str, str, int]) -> Episode:
    taken = tuple(Step("state", command, kind, tokens=tokens) for command, kind, tokens in steps)
    return Episode("1", "why", "test", taken, (), "Answer", seconds=3.0)


def test_counts_are_a_question_and_tokens_an_action() -> None:
    found = statistics(
        [
            episode(("Search a", "search", 10), ("Search b", "search", 20), ("End: Answer", "end", 3)),
            episode(("Search c", "search", 30), ("fly", "invalid", 7)),
        ],
        len,
    )
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in found.table().splitlines()[2:]}
    assert [float(cell) for cell in rows["search"]] == [1.5, 20.0, 30.0]
    assert [float(cell) for cell in rows["end"]] == [0.5, 3.0, 1.5]
    assert [float(cell) for cell in rows["invalid"]] == [0.5, 7.0, 3.5]
    assert [float(cell) for cell in rows["all"]] == [2.5, 14.0, 35.0]
    assert rows["seconds"][-1].strip() == "3.00"
    assert list(rows) == [*KINDS, "all", "seconds"]


def test_commands_of_people_have_the_tokens_of_their_text() -> None:
    found = statistics([episode(("Top", "top", 0))], len)
    assert found.tokens["top"] == 3
