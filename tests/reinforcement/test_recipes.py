"""The recipes of PPO that come with Citewell can be read, and wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.reinforcement.config import PpoConfig, load_config

ROOT = Path(__file__).parents[2]
PLAIN, PTX = (ROOT / "recipes" / f"answers-{name}.toml" for name in ("ppo", "ppo-ptx"))
SOURCE = '[[data]]\nname = "a"\nfiles = ["a.jsonl"]\nlicense = "CC0"\n'


def test_the_two_recipes_differ_in_the_weight_of_the_texts() -> None:
    plain, ptx = load_config(PLAIN), load_config(PTX)
    assert plain.ptx is not None
    assert ptx == plain.model_copy(update={"ptx": plain.ptx.model_copy(update={"weight": 0.2})})
    assert plain.ptx.weight == 0


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
