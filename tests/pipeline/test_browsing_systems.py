"""The systems that `citewell eval browse` compares, over a small collection with the real encoder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.browser.limits import BrowserLimits
from citewell.core.errors import InputError, ModelError
from citewell.core.settings import Settings
from citewell.pipeline.browsing_systems import open_systems
from tests.notes import BATS

pytest.importorskip("html2text", reason="the extra `browser` is not installed")

FOUND = "Bats find their way in the dark by echolocation."
Make = Callable[..., Settings]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a policy that learned nothing."""
    for package in ("torch", "peft", "xgrammar"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from tests.browser.training.made_up import write_policy

    return write_policy(tmp_path_factory.mktemp("policy") / "policy")


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a scorer that is a linear probe of a tiny model."""
    pytest.importorskip("datasets", reason="the extra `train` is not installed")
    from citewell.core.training.run import Run
    from citewell.scorer.training.run import train
    from tests.scorer.training.made_up import write_recipe, write_world

    world = write_world(tmp_path_factory.mktemp("scorer"))
    recipe = write_recipe(world, "probe.toml", depth=2, probe=0.01, steps=0)
    out = world / "kind"
    train(Run(recipe=recipe, out=out, cache=world / "cache", command=""), lambda line: None)
    return out


async def test_the_pipeline_has_references_and_the_script_has_quotes(settings: Make) -> None:
    async with open_systems(settings(), actions=5, free=False, log=print) as systems:
        pipeline = await systems.open("pipeline", "pipeline", 1)
        (found,) = await pipeline.browse(BATS)
        assert (found.steps, found.ending, found.reward) == ((), "Answer", None)
        assert any(FOUND in quote.text for quote in found.quotes)
        assert all(quote.url.startswith("file://") for quote in found.quotes)
        scripted = await systems.open("the script", "scripted", 1)
        (browsed,) = await scripted.browse(BATS)
    assert scripted.name == "the script"
    assert any(FOUND in quote.text for quote in browsed.quotes)
    assert 2 < len(browsed.steps) <= 5
    assert browsed.steps[0].state.count("♦Actions left: 5\n") == 1
    assert "judge" not in browsed.about


@pytest.mark.parametrize(
    ("name", "n", "error", "message"),
    [
        ("pipeline", 2, InputError, "2 episodes would be equal"),
        ("scripted", 3, InputError, "cannot browse 3 times"),
        ("extractive", 1, ModelError, "not a language model"),
    ],
)
async def test_systems_that_there_are_not(
    settings: Make, name: str, n: int, error: type[Exception], message: str
) -> None:
    async with open_systems(settings(), actions=None, free=False, log=print) as systems:
        with pytest.raises(error, match=message):
            await systems.open(name, name, n)


async def test_a_policy_keeps_its_limits_and_relevance_chooses_without_a_trained_scorer(
    settings: Make, policy: Path
) -> None:
    async with open_systems(settings(), actions=None, free=False, log=print) as systems:
        system = await systems.open("2*mine", str(policy), 2)
        episodes = await system.browse(BATS)
    assert len(episodes) == 2
    assert all(episode.about["judge"] == "relevance" for episode in episodes)
    assert sum("chosen" in episode.about for episode in episodes) == 1
    assert all("♦Actions left: 6\n" in episode.steps[0].state for episode in episodes)
    assert all(step.kind != "invalid" for episode in episodes for step in episode.steps)


async def test_settings_limit_and_free_a_policy(settings: Make, policy: Path) -> None:
    changed = settings(browser__actions=2, browser__constrained=False)
    async with open_systems(changed, actions=None, free=False, log=print) as systems:
        (episode,) = await (await systems.open("mine", str(policy), 1)).browse(BATS)
    assert [step.kind for step in episode.steps] == ["invalid", "invalid"]


async def test_a_trained_scorer_chooses(settings: Make, policy: Path, scorer: Path) -> None:
    changed = settings(scorer__name=str(scorer))
    async with open_systems(changed, actions=2, free=False, log=print) as systems:
        system = await systems.open("2*mine", str(policy), 2)
        episodes = await system.browse(BATS)
    assert all(episode.about["judge"] == str(scorer) for episode in episodes)
    assert all(len(episode.steps) <= 2 < BrowserLimits().actions for episode in episodes)


async def test_a_policy_that_is_free_may_give_invalid_commands(settings: Make, policy: Path) -> None:
    async with open_systems(settings(), actions=2, free=True, log=print) as systems:
        system = await systems.open("mine", str(policy), 1)
        (episode,) = await system.browse(BATS)
    assert [step.kind for step in episode.steps] == ["invalid", "invalid"]
