"""Recipes: what is wrong in one is named, with its line and the nearest thing that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.generator.training.config import load_config

GOOD = """
[model.lora]
rank = 4
[prompt]
references = 3
[[data]]
name = "first"
files = ["a.jsonl"]
license = "CC0"
[[data]]
name = "second"
files = ["b.jsonl"]
license = "CC0"
[training]
epochs = 2
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "recipe.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_what_is_not_said_has_a_default_and_is_shown(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, GOOD))
    assert config.prompt.references == 3
    assert config.model.base == "SmolLM2-135M-Instruct"
    assert not config.prompt.defaults.form.demonstration
    assert '"learning_rate"' in config.shown()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("epochs = 2", "epoch = 2"), "line 15: there is no key training.epoch. Did you mean epochs?"),
        (("rank = 4", "ranks = 4"), "line 3: there is no key model.lora.ranks. Did you mean rank?"),
        (('files = ["b', 'fils = ["b'), "data[2].f"),
        (('name = "second"', 'name = "second"\nshare = 1'), "line 12: there is no key data[2].share."),
        (("[training]", "[trainings]"), "line 14: there is no key trainings. Did you mean training?"),
        (("epochs = 2", "epochs = 0"), "line 15: training.epochs: input should be greater than"),
        (('"second"', '"first"'), "two sources have the same name"),
        (("epochs = 2", "patience = 3"), "patience needs dev rows"),
        (("epochs = 2", 'choose_by = "citation_f1"'), "needs dev rows and generate above 0"),
        (("[prompt]", "[prompt"), "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    with pytest.raises(InputError) as error:
        load_config(write(tmp_path, GOOD.replace(*change)))
    assert told in str(error.value)
