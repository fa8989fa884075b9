"""A whole run on claims: all layers of a tiny model learn, and are kept as int8."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import InputError, ModelError
from citewell.core.ranking_metrics import area_under_curve
from citewell.core.windows import Windows
from tests.retriever.encoder.conftest import write_bert

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

from citewell.core.training.run import Run, RunResult
from citewell.retriever.cross_encoder.load import load_cross_encoder
from citewell.retriever.cross_encoder.support import load_support_reader
from citewell.retriever.cross_encoder.training.config import load_config
from citewell.retriever.cross_encoder.training.run import train

RECIPES = Path(__file__).parents[3] / "recipes"
_RECIPE = """
[model]
base = {base}
tuning = "full"
max_tokens = 32
question_tokens = 12
{start}
[objective]
scale = 0
binary = 1.0
[[data]]
name = "made-up"
files = ["claims.jsonl"]
format = "claims"
label = "support"
license = "CC0"
held_out = 40
[training]
threads = 1
batch = 16
epochs = {epochs}
learning_rate = 0.003
eval_every = 20
"""


def write_claims(folder: Path) -> list[dict[str, str]]:
    """Claims of `a` are supported by `b`, those of `e` by `c` …; and the base of the recipe."""
    write_bert(folder / "bert", dimension=32)
    chance = random.Random(0)
    rows = []
    for number in range(240):
        family = number % 5
        premise, label = family, "supported"
        if number % 2:
            premise = chance.choice([other for other in range(5) if other != family])
            label = chance.choice(["not_supported", "refuted", "neutral"])
        claim = f"{'aeiou'[family] * 3} {'qrst'[number % 4]}{chr(97 + number % 26)}{number % 7 * 'q'}"
        rows.append(
            {"premise": f"{'bcdfg'[premise] * 3} {chance.choice('xyz')}", "claim": claim, "label": label}
        )
    rows += [{"premise": "a b", "claim": "a and more", "label": "partial"}] * 3
    rows += [{"premise": "", "claim": "a", "label": "neutral"}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "claims.jsonl").write_text(lines, encoding="utf-8")
    return rows


def run(folder: Path, name: str, epochs: int, start: str = "") -> RunResult:
    recipe = folder / f"{name}.toml"
    begin = f"start = {json.dumps(start)}" if start else ""
    text = _RECIPE.format(base=json.dumps(str(folder / "bert")), epochs=epochs, start=begin)
    recipe.write_text(text, encoding="utf-8")
    made = Run(recipe=recipe, out=folder / name, cache=folder / "cache", command="citewell train")
    return train(made, lambda line: None)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, str]], RunResult]:
    folder = tmp_path_factory.mktemp("claims")
    rows = write_claims(folder)
    return folder, rows, run(folder, "trained", 20)


def test_it_learns_which_claims_are_supported(
    world: tuple[Path, list[dict[str, str]], RunResult],
) -> None:
    folder, rows, result = world
    assert result.before.keys() == result.after.keys() == {"made-up", "dev"}
    assert result.after["made-up"] > 0.9
    # Those layers, read back from int8, are what OpenVINO computes with.
    loaded = load_cross_encoder(str(folder / "trained"), folder / "cache", threads=1)
    kept = [row for row in rows if row["premise"] and row["label"] != "partial"]
    scores = np.array([loaded.scores(row["claim"], [row["premise"]])[0] for row in kept])
    assert area_under_curve(scores, np.array([row["label"] == "supported" for row in kept])) > 0.9


def test_the_reader_of_support_gives_calibrated_probabilities(
    world: tuple[Path, list[dict[str, str]], RunResult],
) -> None:
    folder, rows, _ = world
    reader = load_support_reader(str(folder / "trained"), folder / "cache", threads=1)
    kept = [row for row in rows if row["premise"] and row["label"] != "partial"]
    pairs = [(row["claim"], row["premise"]) for row in kept]
    found = np.array(reader.probabilities(pairs))
    supported = np.array([row["label"] == "supported" for row in kept])
    assert ((found >= 0.5) == supported).mean() > 0.85
    assert found[supported].mean() > 0.7
    assert found[~supported].mean() < 0.3
    # The order and the company of a pair do not matter, nor the text around its best window.
    again = reader.probabilities([pairs[7], pairs[3], pairs[7]])
    assert again == pytest.approx([found[7], found[3], found[7]], abs=0.02)
    assert reader.probabilities([("aaa", ""), ("aaa", " "), ("", "bbb")]) == [0.0, 0.0, 0.0]
    # Each sentence of a claim must be supported.
    text = kept[0]["premise"] + ". " + kept[2]["premise"] + "."
    claims = [f"{kept[0]['claim']}.", f"{kept[1]['claim']}."]
    one, other, both = reader.probabilities([(each, text) for each in [*claims, " ".join(claims)]])
    assert both == pytest.approx(min(one, other), abs=0.02)
    assert reader.probabilities([]) == []


def test_only_the_best_window_of_a_long_text_is_read(
    world: tuple[Path, list[dict[str, str]], RunResult],
) -> None:
    folder = world[0]
    reader = load_support_reader(str(folder / "trained"), folder / "cache", threads=1)
    told, other = "The aaa qb stands here.", "Nothing else is said in it. "
    long = other * 20 + told + " " + other * 20
    window = Windows(long).best("aaa qb")
    assert told in window
    assert len(window) < len(long)
    alone, within = reader.probabilities([("aaa qb", text) for text in (window, long)])
    assert alone == within


def test_a_cross_encoder_of_questions_is_no_reader_of_support(
    world: tuple[Path, list[dict[str, str]], RunResult],
) -> None:
    folder = world[0] / "uncalibrated"
    shutil.copytree(world[0] / "trained", folder)
    form = json.loads((folder / "cross_encoder.json").read_text())
    (folder / "cross_encoder.json").write_text(json.dumps(form | {"calibration": None}))
    with pytest.raises(ModelError, match="is not a reader of support"):
        load_support_reader(str(folder), world[0] / "cache", threads=1)


def test_the_card_names_claims_and_no_dual_encoder(
    world: tuple[Path, list[dict[str, str]], RunResult],
) -> None:
    card = (world[0] / "trained" / "README.md").read_text()
    assert "supports the claim" in card
    assert "| train | made-up | support |" in card
    assert "citewell-minilm" not in card


def test_a_run_starts_from_the_layers_of_another(
    world: tuple[Path, list[dict[str, str]], RunResult],
) -> None:
    folder, _, result = world
    further = run(folder, "further", 1, start=str(folder / "trained"))
    assert further.before["dev"] == pytest.approx(result.after["dev"], abs=0.02)


def test_an_unknown_label_is_named(world: tuple[Path, list[dict[str, str]], RunResult]) -> None:
    file = world[0] / "other" / "claims.jsonl"
    file.parent.mkdir()
    file.write_text('{"premise": "a", "claim": "b", "label": "perhaps"}\n')
    write_bert(file.parent / "bert", dimension=32)
    with pytest.raises(InputError, match="the label 'perhaps' is not known"):
        run(file.parent, "out", 1)


def test_the_recipe_can_be_read() -> None:
    config = load_config(RECIPES / "support" / "citewell-support.toml")
    assert config.reads_claims
    assert all(source.license for source in config.data)
