"""Conversion of a small BERT that transformers makes here, with all that may come between."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from core.conversion import STEPS, converted
from core.errors import ModelError
from core.weights import locate
from retriever.encoder.ct2 import Ct2Encoder
from retriever.encoder.encoder import Vectors

Serve = Callable[[dict[str, Any]], Awaitable[str]]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LETTERS, *(f"##{c}" for c in LETTERS)]
TEXTS = ["the sky is blue.", "", "a", "why do cats purr", "zz yy xx ww vv uu tt ss rr qq pp oo nn mm ll kk"]

CONVERT = """
import sys
from pathlib import Path
from core.conversion import converted
print(converted(sys.argv[1], Path(sys.argv[2]), lambda name, step: print("step", step)))
"""


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT of random weights, hidden size 32 and two layers.

    Its name has a dot, as many models' do.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("bert-0.1B")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def convert_in_process(
    model: str | Path, cache: Path, before: str = "", folder: Path | None = None
) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", before + CONVERT, str(model), str(cache)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)


def mean_pooled(folder: Path, texts: list[str]) -> Vectors:
    import torch
    from transformers import AutoTokenizer, BertModel

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertModel.from_pretrained(folder)  # in evaluation mode
    with torch.no_grad():
        states = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in texts]
    return np.stack([state.mean(dim=0).numpy() for state in states])


def test_converted_vectors_are_those_of_transformers_and_are_built_once(bert: Path, tmp_path: Path) -> None:
    steps: list[tuple[str, str]] = []
    folder = converted(str(bert), tmp_path, lambda name, step: steps.append((name, step)))
    assert steps == [(str(bert), step) for step in STEPS]
    encoder = Ct2Encoder(folder, "bert", max_tokens=64, threads=1)
    found, expected = encoder.encode_passages(TEXTS), mean_pooled(bert, TEXTS)
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.98

    steps.clear()
    assert converted(str(bert), tmp_path, lambda name, step: steps.append((name, step))) == folder
    assert steps == []


def test_two_processes_build_one_model_once_in_place_of_a_half_built_one(bert: Path, tmp_path: Path) -> None:
    # What a build that was killed leaves behind.
    finished = converted_name(bert, tmp_path)
    partial = finished.with_name(finished.name + ".partial")
    (partial / "built").mkdir(parents=True)
    (partial / "built" / "model.bin").write_bytes(b"half a model")

    processes = [convert_in_process(bert, tmp_path) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    printed = [out.splitlines() for out, _ in outputs]
    assert [lines[-1] for lines in printed] == [str(finished)] * 2
    assert sorted(lines[:-1] for lines in printed) == [[], [f"step {step}" for step in STEPS]]
    assert not partial.exists()
    assert (finished / "model.bin").stat().st_size > 10_000
    assert not (finished / "built").exists()


def converted_name(model: Path, cache: Path) -> Path:
    return cache / "models" / f"{model.name}-{locate(str(model)).fingerprint}-int8"


def test_a_full_disk_is_an_error_with_advice_and_leaves_nothing_behind(bert: Path, tmp_path: Path) -> None:
    # The largest file that the process and its children may write stands in for a full disk.
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
    process = convert_in_process(bert, tmp_path, limit)
    _, errors = process.communicate(timeout=120)
    last = errors.splitlines()[-1]
    assert last.startswith("core.errors.ModelError: The converted weights of")
    assert "File too large" in last
    assert "CITEWELL_CACHE_DIR" in last
    assert [path.suffix for path in (tmp_path / "models").iterdir()] == [".lock"]


def test_a_folder_that_cannot_be_written(bert: Path, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="cannot be kept") as caught:
        converted(str(bert), tmp_path)
    assert "CITEWELL_CACHE_DIR" in caught.value.hint


def test_a_hub_id_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    # A user's own folder `core` in the working directory plays no part.
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit('the wrong core')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="facebook/contriever is not on this machine") as caught:
        converted("facebook/contriever", tmp_path / "cache")
    assert "local folder" in caught.value.hint


def test_an_architecture_that_cannot_be_converted(tmp_path: Path) -> None:
    model = tmp_path / "resnet"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "resnet"}')
    with pytest.raises(ModelError, match="cannot be converted") as caught:
        converted(str(model), tmp_path)
    assert "architecture" in caught.value.hint


async def test_a_hub_id_is_downloaded_from_the_hub(bert: Path, tmp_path: Path, serve: Serve) -> None:
    """Against a server that speaks the hub's API: model info, HEAD for metadata, GET for files."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    files = [file.name for file in bert.iterdir()]

    async def info(request: web.Request) -> web.Response:
        siblings = [{"rfilename": name} for name in files]
        return web.json_response({"id": "tiny/bert-0.1B", "sha": commit, "siblings": siblings})

    async def tree(request: web.Request) -> web.Response:
        entries = [
            {"type": "file", "path": name, "size": (bert / name).stat().st_size, "oid": sha1(name)}
            for name in files
        ]
        return web.json_response(entries)

    async def resolve(request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in files:
            return web.json_response(
                {"error": "Entry not found"}, status=404, headers={"X-Error-Code": "EntryNotFound"}
            )
        headers = {"X-Repo-Commit": commit, "ETag": f'"{sha1(name)}"'}
        return web.FileResponse(bert / name, headers=headers)

    base = await serve(
        {
            "/api/models/tiny/bert-0.1B": info,
            "/api/models/tiny/bert-0.1B/revision/{revision}": info,
            "/api/models/tiny/bert-0.1B/tree/{revision}": tree,
            "/tiny/bert-0.1B/resolve/{revision}/{name}": resolve,
        }
    )
    environment = os.environ | {
        "HF_ENDPOINT": base,
        "HF_HOME": str(tmp_path / "hub"),
        "HF_HUB_DISABLE_XET": "1",
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CONVERT,
        "tiny/bert-0.1B",
        str(tmp_path),
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
    )
    out, err = await child.communicate()
    assert child.returncode == 0, err.decode()
    folder = Path(out.decode().splitlines()[-1])
    encoder = Ct2Encoder(folder, "tiny/bert-0.1B", max_tokens=64, threads=1)
    expected = Ct2Encoder(converted(str(bert), tmp_path), "local", max_tokens=64, threads=1)
    np.testing.assert_array_equal(encoder.encode_passages(TEXTS), expected.encode_passages(TEXTS))


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()
