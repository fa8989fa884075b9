"""An adapter that some rows of a decoder use: against PEFT in float32, and without a trace in other rows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.core.conversion import converted
from citewell.core.dequantization import dequantized
from citewell.core.errors import ModelError
from citewell.generator.decoder import CachedText, PagedDecoder, Read
from citewell.generator.openvino import open_openvino
from tests.core.test_conversion import IDS, distance, peft_logits, write_adapter
from tests.core.tiny_gguf import write_gguf


class World(NamedTuple):
    """A tiny model: the folder for OpenVINO, that for transformers, and an adapter."""

    folder: Path
    base: Path
    adapter: Path


@pytest.fixture(scope="module", params=["llama", "qwen2"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    file, cache = str(write_gguf(folder / "model.gguf", request.param)), folder / "cache"
    base = dequantized(file, cache)
    return World(converted(file, cache), base, write_adapter(base, folder / "adapter"))


def read(decoder: PagedDecoder, *, adapted: bool) -> NDArray[np.float32]:
    (logits,) = decoder.read([Read(CachedText(adapted=adapted), IDS, len(IDS))])
    return logits


def test_rows_with_the_adapter_differ_from_peft_by_rounding_alone(world: World) -> None:
    decoder = PagedDecoder(world.folder, threads=2, adapter=world.adapter)
    expected = peft_logits(world.base, world.adapter)
    assert distance(read(decoder, adapted=True), expected) < 0.1
    assert distance(peft_logits(world.base, None), expected) > 0.4


def test_other_rows_do_not_notice_it(world: World) -> None:
    decoder = PagedDecoder(world.folder, threads=2, adapter=world.adapter)
    plain = PagedDecoder(world.folder, threads=2)
    alone = read(decoder, adapted=True)
    assert np.array_equal(read(decoder, adapted=False), read(plain, adapted=False))
    rows = [CachedText(adapted=adapted) for adapted in (False, True, False)]
    found = decoder.read([Read(row, IDS, len(IDS)) for row in rows])
    assert np.array_equal(found[1], alone)
    assert np.array_equal(found[0], read(plain, adapted=False))
    copied = decoder.copy(rows[1])
    assert copied.adapted


def test_what_one_kind_of_rows_has_read_is_not_known_to_the_other(world: World) -> None:
    decoder = PagedDecoder(world.folder, threads=2, adapter=world.adapter)
    row = CachedText()
    decoder.read([Read(row, IDS)])
    decoder.remember(row, IDS)
    assert decoder.known(IDS) == len(IDS) - 2
    assert decoder.known(IDS, adapted=True) == 0
    begun = decoder.begun(IDS, adapted=True)
    assert begun.tokens == 0
    assert begun.adapted


def test_a_model_judges_with_its_adapter_and_writes_without(world: World) -> None:
    prompt = "<|user|>Is it so?<|end|>"
    judging = open_openvino(world.folder, "tiny", threads=2, judge=world.adapter)
    plain = open_openvino(world.folder, "tiny", threads=2)
    assert judging.likelihoods(prompt, ["Yes", "No"]) == plain.likelihoods(prompt, ["Yes", "No"])
    assert abs(judging.yes(prompt).yes - plain.yes(prompt).yes) > 1e-3
    assert judging.likelihoods(prompt, ["Yes", "No"]) == plain.likelihoods(prompt, ["Yes", "No"])


def test_an_adapter_of_another_model_is_refused(world: World, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    other = tmp_path / "other"
    shutil.copytree(world.adapter, other)
    weights: dict[str, Any] = load_file(other / "adapter_model.safetensors")
    save_file(
        {name.replace(".layers.1.", ".layers.7."): value for name, value in weights.items()},
        other / "adapter_model.safetensors",
    )
    with pytest.raises(ModelError, match=r"no linear layer model\.layers\.7\."):
        PagedDecoder(world.folder, threads=2, adapter=other)
