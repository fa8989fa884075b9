"""A reward model of the fine-tuned generator: it reads references, and the value function begins as it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

import torch

from citewell.core.training.config import AdapterConfig
from citewell.core.training.run import Run
from citewell.generator.resolve import resolve
from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.networks import PolicyNetworks, build_networks, collated
from citewell.reinforcement.run import train
from citewell.reinforcement.value_start import start_value
from citewell.scorer.encode import InputTokenizer
from citewell.scorer.load import PreferenceScorer, load_scorer
from citewell.scorer.training.run import train as train_scorer
from tests.reinforcement.made_up import write_recipe, write_start
from tests.scorer.training.made_up import choices, write_rows

RECIPE = """
[model]
base = {base}
frozen = 0.5
[model.lora]
rank = 2
[model.layout]
max_tokens = 200
question_tokens = 40
references = 2
[[data]]
name = "choices"
files = ["choices.jsonl"]
license = "CC0"
[objective]
ties = "drop"
[split]
half = "first"
test = 0.0
[training]
epochs = 2
batch = 8
learning_rate = 0.01
schedule_floor = 0.1
threads = 1
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generator, and a reward model on it."""
    folder = write_start(tmp_path_factory.mktemp("world"))
    rows: list[dict[str, Any]] = [
        row | {"references": ["amber is red", "birch is old"]} for row in choices(60)
    ]
    rows[0] |= {"preferred": "tie"}
    write_rows(folder / "choices.jsonl", rows)
    recipe = folder / "reward.toml"
    recipe.write_text(RECIPE.format(base=json.dumps(str(folder / "start"))), encoding="utf-8")
    train_scorer(
        Run(recipe=recipe, out=folder / "reward", cache=folder / "cache", command=""), lambda line: None
    )
    return folder


@pytest.fixture
def scorer(world: Path) -> PreferenceScorer:
    return load_scorer(str(world / "reward"), world / "cache", 1)


def networks(world: Path) -> PolicyNetworks:
    source = resolve(str(world / "start"))
    return build_networks(source, AdapterConfig(rank=4), world / "cache", own_value=True, seed=0)


def test_the_rate_falls_to_a_tenth(world: Path) -> None:
    lines = map(json.loads, (world / "reward" / "training.jsonl").read_text().splitlines())
    rates = [line["learning_rate"] for line in lines if "learning_rate" in line]
    assert 0.1 * 0.01 <= rates[-1] < 0.2 * 0.01  # a cosine to 0 would be below


def test_it_reads_the_references(scorer: PreferenceScorer) -> None:
    answers = ["it is kind", "it is kind"]
    one, other = scorer.rate("what?", answers, [["amber is red"], ["fjord is cold"]])
    assert one != other


def test_the_first_values_are_its_scores(world: Path, scorer: PreferenceScorer) -> None:
    made = networks(world)
    assert start_value(made, scorer, 0.25) == "The value function begins as the reward model."
    question, answer, references = "what is amber?", "it is kind", ["amber is red"]
    read = InputTokenizer(made.tokenizer, scorer.form.layout).encode(question, answer, references)
    part = collated([TokenizedExample(read.ids, (7,))], [0])
    with torch.no_grad():
        (value,) = made.values(part).tolist()
    assert value == pytest.approx(scorer.rate(question, [answer], [references])[0] - 0.25, abs=5e-3)
    assert all(weight.requires_grad for weight in made.value_weights)


def test_answers_are_trained_against_it(world: Path) -> None:
    recipe = write_recipe(world, "against.toml", episodes=64)
    text = recipe.read_text().replace('kind = "support"', f'kind = "score"\nscorer = "{world / "reward"}"')
    recipe.write_text(text.replace('network = "head"', 'network = "adapter"'))
    told: list[str] = []
    made = Run(recipe=recipe, out=world / "against", cache=world / "cache", command="")
    train(made, told.append)
    assert "The value function begins as the reward model." in told
    record = json.loads((world / "against" / "training.json").read_text())
    uses = {file["use"]: file["sha256"] for file in record["data"]}
    assert uses["reward model"] in (world / "against" / "README.md").read_text()


def test_a_reward_model_of_another_base_does_not_start_the_value(world: Path) -> None:
    made = networks(world)
    shipped = load_scorer("citewell-scorer", world / "cache", 1)
    assert "its base is all-MiniLM-L6-v2" in start_value(made, shipped, 0.0)
    assert made.head.weight.abs().sum() == 0
