"""Configurations: what is wrong in one is named, with the nearest thing that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.retriever.training.config import load_config

GOOD = """
[model]
base = "all-MiniLM-L6-v2"
[model.lora]
rank = 4
[[data]]
name = "pairs"
files = ["pairs.jsonl"]
format = "pairs"
label = "positives"
license = "CC0"
[[objectives]]
name = "contrastive"
temperature = 0.1
[training]
epochs = 2
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_what_is_not_said_has_a_default_and_is_shown(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, GOOD))
    assert config.model.lora.rank == 4
    assert config.training.epochs == 2
    assert config.objectives[0].name == "contrastive"
    assert '"learning_rate"' in config.shown()
    assert '"towers": "two"' in config.shown()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("epochs = 2", "epoch = 2"), "no key training.epoch. Did you mean epochs?"),
        (("rank = 4", "ranks = 4"), "no key model.lora.ranks. Did you mean rank?"),
        (
            ("temperature = 0.1", "temprature = 0.1"),
            "no key objectives[1].temprature. Did you mean temperature?",
        ),
        (('license = "CC0"', 'licence = "CC0"'), "data[1].license is missing"),
        (("[training]", "[trainings]"), "no key trainings. Did you mean training?"),
        (("epochs = 2", "epochs = 0"), "training.epochs: input should be greater than"),
        (('name = "contrastive"', 'name = "contrastiv"'), "objectives[1]"),
        (
            ('label = "positives"', 'label = "rouge"'),
            "data[1]: the format pairs has the labels positives",
        ),
        (("temperature = 0.1", 'sources = ["pears"]'), "names the source 'pears', which is not in data"),
        (("epochs = 2", "patience = 3"), "patience needs dev rows"),
        (("[model]", "[model"), "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    with pytest.raises(InputError) as error:
        load_config(write(tmp_path, GOOD.replace(*change)))
    assert told in str(error.value)


def test_two_sources_need_two_names_and_an_objective_each(tmp_path: Path) -> None:
    start, end = GOOD.index("[[data]]"), GOOD.index("[[objectives]]")
    again = GOOD[start:end]
    with pytest.raises(InputError, match="two sources have the same name"):
        load_config(write(tmp_path, GOOD.replace(again, again + again)))
    other = again.replace('"pairs"\nfiles', '"more"\nfiles')
    text = GOOD.replace(again, again + other).replace("temperature", 'sources = ["more"]\ntemperature')
    with pytest.raises(InputError, match="no objective uses the source 'pairs'"):
        load_config(write(tmp_path, text))


RANKED = """
[[data]]
name = "ranked"
files = ["trecdl19"]
format = "beir"
label = "rankings"
license = "CC0"
"""


@pytest.mark.parametrize("name", ["contrastive", "inner_product_mse"])
def test_logarithms_of_ranks_suit_some_objectives_only(tmp_path: Path, name: str) -> None:
    text = GOOD.replace('"contrastive"\ntemperature = 0.1', f'"{name}"') + RANKED
    with pytest.raises(InputError) as error:
        load_config(write(tmp_path, text))
    assert f"the objective {name} cannot learn from the source 'ranked'" in str(error.value)
    assert "listwise_kl and margin_mse can" in str(error.value)
    parted = text.replace(f'name = "{name}"', f'name = "{name}"\nsources = ["pairs"]')
    for other in ("listwise_kl", "margin_mse", "anchor"):
        config = load_config(write(tmp_path, f'{parted}[[objectives]]\nname = "{other}"\n'))
        assert [objective.name for objective in config.objectives] == [name, other]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_config(tmp_path / "none.toml")
