"""What the benchmark of browsing measures and reckons, on a few pages and on episodes that are made up."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.browsing import CLONED, PAGE_SECONDS, SEARCH_SECONDS, BrowsingPlan, cost, reckon, run
from citewell.browser.episode import Episode, Step, read_episodes, write_episodes
from citewell.core.questions import AnsweredQuestion
from citewell.core.settings import load_settings
from tests.server.linked import linked_pages

ASKED = (
    AnsweredQuestion("Which birds give gifts to humans?", ("corvids",)),
    AnsweredQuestion("What causes the tides?", ("cheese",)),
)


def episode(question: str, *steps: tuple[str, int, float]) -> Episode:
    taken = tuple(Step("state", "command", kind, tokens=tokens, seconds=s) for kind, tokens, s in steps)
    return Episode("1", question, "p", taken, (), "Answer", seconds=9.0)


BROWSED = [
    episode("a", ("search", 10, 1.0), ("click_link", 4, 0.5), ("end", 3, 0.5)),
    episode("a", ("search", 10, 1.0)),
    episode("b", ("quote", 13, 1.0)),
]


def test_the_cost_of_a_question_is_that_of_all_its_episodes() -> None:
    assert reckon(BROWSED) == {
        "tokens": 20.0,
        "seconds": 2.0,
        "with_webglm_times": pytest.approx(2.0 + SEARCH_SECONDS + PAGE_SECONDS / 2, abs=0.01),
    }


def test_costs_are_of_all_splits_and_only_of_those_who_browse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = (CLONED, "pipeline")
    for split, episodes in (("dev", BROWSED[:2]), ("test", BROWSED[2:])):
        plan = BrowsingPlan(systems, tmp_path / split, None)
        write_episodes(episodes, plan.file(CLONED))
        write_episodes([episode("a")], plan.file("pipeline"))
    found = cost(Namespace(systems=systems, splits=("dev", "test"), episodes=tmp_path))
    assert found == {CLONED: reckon(BROWSED)}
    shown = capsys.readouterr().out
    assert f"Actions of {CLONED}:" in shown
    assert "| WebGPT-13B | 580.89 |" in shown
    assert f"| {CLONED} | 20.0 |" in shown


async def test_systems_browse_and_their_episodes_are_kept(tmp_path: Path) -> None:
    pytest.importorskip("html2text", reason="the extra `browser` is not installed")
    plan = BrowsingPlan(("random", "scripted", "pipeline"), tmp_path / "dev", None)
    with linked_pages(tmp_path / "data") as linked:
        settings = load_settings(linked.settings | {"fetch.cache": False})
        found = await run(settings, plan, ASKED)
    assert list(found) == list(plan.systems)
    for name in ("scripted", "pipeline"):
        assert [found[name][row.question].found for row in ASKED] == [True, False], name
        assert len(list(read_episodes(plan.file(name)))) == len(ASKED)
    assert found["random"][ASKED[1].question].valid > 0
