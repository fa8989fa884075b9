"""The recipes of PPO that come with Citewell can be read, and wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from citewell.core.errors import InputError
from citewell.core.training.run import Run
from citewell.reinforcement.browsing.config import load_config as load_browsing
from citewell.reinforcement.config import AnswersRecipe, PpoConfig, load_config
from citewell.reinforcement.run import train_answers
from tests.reinforcement.made_up import write_start

ROOT = Path(__file__).parents[2]
NAMES = ("ppo", "ppo-ptx", "ppo-beta-0", "grpo")
PLAIN, PTX, FREE, GRPO = (ROOT / "recipes" / f"answers-{name}.toml" for name in NAMES)
SOURCE = '[[data]]\nname = "a"\nfiles = ["a.jsonl"]\nlicense = "CC0"\n'


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny generator, its rows, and texts."""
    folder = write_start(tmp_path_factory.mktemp("world"))
    (folder / "texts.jsonl").write_text('{"text": "%s"}\n' % ("amber and birch " * 40))
    return folder


def smaller(config: AnswersRecipe, world: Path) -> AnswersRecipe:
    """The recipe with a tiny model, its rows, and one iteration of few answers."""
    rows = {"files": ("rows.jsonl",), "limit": 8}
    update = {
        "model": config.model.model_copy(update={"start": str(world / "start")}),
        "prompt": config.prompt.model_copy(update={"prompt_tokens": 300, "answer_tokens": 8}),
        "data": tuple(each.model_copy(update=rows | {"held_out": 4}) for each in config.data),
        "dev": (),
        "ppo": config.ppo.model_copy(update={"episodes": 16, "batch": 16, "minibatch": 8}),
    }
    if config.ptx is not None:
        update["ptx"] = config.ptx.model_copy(update={"files": ("texts.jsonl",)})
    return config.model_copy(update=update)


def test_the_two_recipes_differ_in_the_weight_of_the_texts() -> None:
    plain, ptx = load_config(PLAIN), load_config(PTX)
    assert plain.ptx is not None
    assert ptx == plain.model_copy(update={"ptx": plain.ptx.model_copy(update={"weight": 0.2})})
    assert plain.ptx.weight == 0


def test_without_a_penalty_the_answers_are_judged_and_nothing_else_differs() -> None:
    plain, free = load_config(PLAIN), load_config(FREE)
    assert (free.ppo.beta, free.ppo.kl_budget, free.reward.judge) == (0, None, "citewell-scorer")
    same = {"beta": plain.ppo.beta, "kl_budget": plain.ppo.kl_budget, "episodes": plain.ppo.episodes}
    assert free.ppo.model_copy(update=same) == plain.ppo
    assert (free.model, free.prompt, free.value) == (plain.model, plain.prompt, plain.value)


@pytest.mark.parametrize("file", [PLAIN, PTX, FREE, GRPO])
def test_the_recipe_starts(file: Path, world: Path) -> None:
    config = smaller(load_config(file), world)
    made = Run(recipe=file, out=world / file.stem, cache=world / "cache", data=world, command="")
    outcome = train_answers(made, config, lambda line: None)
    assert outcome.steps == 1
    assert (made.out / "adapter_model.safetensors").is_file()


def test_the_recipe_of_browsing_can_be_read() -> None:
    config = load_browsing(ROOT / "recipes" / "browser-ppo.toml")
    assert config.model.start == "citewell-browser"
    assert not config.reward.answers


def test_the_defaults_are_those_of_instructgpt() -> None:
    ppo = PpoConfig()
    assert (ppo.episodes, ppo.batch, ppo.minibatch, ppo.inner_epochs) == (256_000, 512, 64, 1)
    assert (ppo.beta, ppo.clip, ppo.gae_lambda, ppo.iterations) == (0.02, 0.2, 0.95, 500)
    assert ppo.rate(0) == pytest.approx(ppo.learning_rate / 10)
    assert ppo.rate(10) == ppo.rate(400) == pytest.approx(ppo.learning_rate)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SOURCE, "dev answers are needed"),
        (SOURCE + "held_out = 2\n[ppo]\nbatch = 4", "ppo.minibatch is greater than ppo.batch"),
        (SOURCE + "held_out = 2\n[ppo]\nepisodes = 4", "ppo.episodes is less than ppo.batch"),
        (SOURCE + "held_out = 2\n[reward]\nkind = 'taste'", "reward.kind"),
        (SOURCE + "held_out = 2\n[ppo]\nbeta_ = 1", "there is no key ppo.beta_"),
    ],
)
def test_a_recipe_that_cannot_be(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=problem):
        load_config(file)
