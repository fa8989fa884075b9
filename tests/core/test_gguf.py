"""GGUF files, small ones with random weights that are written here: those that can be run, and the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hostile.models import GGUF_FILES
from citewell.core.build_cache import STEPS
from citewell.core.conversion import converted
from citewell.core.errors import ModelError
from citewell.core.gguf import open_gguf
from citewell.generator.openvino import OpenVinoModel

from .tiny_gguf import TEMPLATE, write_gguf

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return partial(write_gguf, tmp_path / "model.gguf")


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_a_file_of_each_architecture_is_converted_once(
    architecture: str, write: Write, tmp_path: Path
) -> None:
    file, steps = write(architecture), []
    folder = converted(str(file), tmp_path / "cache", lambda name, step: steps.append(step))
    assert steps == list(STEPS)
    assert converted(str(file), tmp_path / "cache", lambda name, step: steps.append(step)) == folder
    assert steps == list(STEPS)
    assert (folder / "chat_template.jinja").read_text() == TEMPLATE
    assert not list(folder.glob("*.gguf"))

    model = OpenVinoModel(folder, threads=1)
    text = "the thing, naïve 🙂 "
    assert model.decode(model.encode(text)) == text
    assert len(model.encode(" th")) == 1
    assert len(model.encode("<|end|>")) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architecture": "gemma"}, "architecture 'gemma'"),
        ({"tokenizer": "llama"}, "tokenizer 'llama'"),
        ({"template": None}, "no chat template"),
        ({"more": ("rope_freqs.weight",)}, "rotary"),
        ({"without": ("blk.1.ffn_up.weight",)}, "cannot be converted"),
    ],
)
def test_a_model_that_cannot_be_run_is_refused(
    change: dict[str, Any], message: str, write: Write, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        converted(str(write(**change)), tmp_path / "cache")
    assert "--generator extractive" in caught.value.hint
    assert not list((tmp_path / "cache" / "models").glob("*.partial"))


@pytest.mark.parametrize("kept", [0, 4, 40, 400, 4000, -1])
def test_a_file_that_was_cut_short_is_refused(kept: int, write: Write, tmp_path: Path) -> None:
    file = write()
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ModelError, match="damaged"):
        open_gguf(file)


@pytest.mark.parametrize("name", GGUF_FILES)
def test_a_header_that_lies_is_refused_at_once(name: str, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(GGUF_FILES[name])
    with pytest.raises(ModelError, match="damaged"):
        open_gguf(file)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.gguf"
    file.write_text("These are no weights. " * 100)
    with pytest.raises(ModelError, match="not a GGUF file"):
        open_gguf(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        converted(str(tmp_path / "model.gguf"), tmp_path / "cache")
