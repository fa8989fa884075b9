"""Encoders loaded by name: converted once, by whichever engine, with all that may come between."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from citewell.core.build_cache import STEPS
from citewell.core.errors import ModelError
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.load import EngineName, encoder_folder, load_encoder
from citewell.retriever.encoder.resolve import cache_key

from .conftest import TEXTS, VOCABULARY, write_adapter, write_bert, write_other

Serve = Callable[[dict[str, Any]], Awaitable[str]]

BIN = "pytorch_model.bin"

LOAD = """
import sys
from pathlib import Path
from citewell.retriever.encoder.load import encoder_folder
step = lambda name, step: print("step", step)
print(encoder_folder(sys.argv[1], Path(sys.argv[2]), engine="openvino", on_step=step))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that tests share."""
    return tmp_path_factory.mktemp("cache")


def load_in_process(model: Path, cache: Path, before: str = "") -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", before + LOAD, str(model), str(cache)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def mean_pooled(folder: Path, texts: list[str]) -> Vectors:
    import torch
    from transformers import AutoTokenizer, BertModel

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertModel.from_pretrained(folder)  # in evaluation mode
    with torch.no_grad():
        states = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in texts]
    return np.stack([state.mean(dim=0).numpy() for state in states])


def cosines(found: Vectors, expected: Vectors) -> Vectors:
    products = (found * expected).sum(axis=1)
    return np.asarray(products / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1))


@pytest.mark.parametrize(("engine", "least"), [("openvino", 0.99), ("torch", 0.99999)])
def test_vectors_are_those_of_transformers(bert: Path, built: Path, engine: EngineName, least: float) -> None:
    encoder = load_encoder(str(bert), built, threads=2, engine=engine)
    found, expected = encoder.encode_passages(TEXTS), mean_pooled(bert, TEXTS)
    assert cosines(found, expected).min() > least
    # Not normalized, as WebGLM's.
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.linalg.norm(expected, axis=1), rtol=0.05)
    assert encoder.dimension == found.shape[1] == 64
    assert encoder.encode_questions([]).shape == (0, 64)


@pytest.mark.parametrize("kind", ["bert", "bert of a language model", "roberta", "distilbert"])
def test_architectures_and_their_adapters(kind: str, tmp_path: Path) -> None:
    """Positions that begin late, names of their own, a prefix: as PyTorch computes them."""
    folder = write_other(kind, tmp_path / "model")
    linear = ["q_lin", "lin1"] if kind == "distilbert" else ["query", "value"]
    pair = tmp_path / "pair"
    write_adapter(folder, pair / "query_encoder", target_modules=linear)
    shutil.copytree(folder, pair / "reference_encoder")
    fast, exact = (
        load_encoder(str(pair), tmp_path / "cache", threads=1, engine=e) for e in ("openvino", "torch")
    )
    texts = [text for text in TEXTS if text]
    assert cosines(fast.encode_passages(texts), exact.encode_passages(texts)).min() > 0.99
    assert cosines(fast.encode_questions(texts), exact.encode_questions(texts)).min() > 0.98
    assert cosines(exact.encode_questions(texts), exact.encode_passages(texts)).min() < 0.95
    assert fast.fingerprint == exact.fingerprint


def test_weights_in_half_precision_are_read(bert: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel

    expected = load_encoder(str(bert), tmp_path / "cache", threads=1, engine="torch").encode_passages(TEXTS)
    for kind in (torch.bfloat16, torch.float16):
        half = tmp_path / str(kind)
        shutil.copytree(bert, half)
        AutoModel.from_pretrained(bert, dtype=kind).save_pretrained(half)
        found = load_encoder(str(half), tmp_path / "cache", threads=1, engine="openvino")
        assert cosines(found.encode_passages(TEXTS), expected).min() > 0.98


def test_an_old_pickle_of_weights_and_a_vocabulary(bert: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel

    old = tmp_path / "old"
    old.mkdir()
    shutil.copy(bert / "config.json", old)
    (old / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    state = AutoModel.from_pretrained(bert).state_dict()
    torch.save(
        {f"bert.{name}".replace("Norm.weight", "Norm.gamma"): w for name, w in state.items()}, old / BIN
    )
    found = load_encoder(str(old), tmp_path / "cache", threads=1, engine="openvino")
    expected = load_encoder(str(bert), tmp_path / "cache", threads=1, engine="openvino")
    np.testing.assert_array_equal(found.encode_passages(TEXTS), expected.encode_passages(TEXTS))


def test_an_architecture_that_only_pytorch_runs(tmp_path: Path) -> None:
    folder = write_other("electra", tmp_path / "model")
    with pytest.raises(ModelError, match="model type electra") as caught:
        load_encoder(str(folder), tmp_path / "cache", threads=1, engine="openvino")
    assert "[train]'" in caught.value.hint
    automatic = load_encoder(str(folder), tmp_path / "cache", threads=1)
    exact = load_encoder(str(folder), tmp_path / "cache", threads=1, engine="torch")
    np.testing.assert_array_equal(automatic.encode_passages(TEXTS), exact.encode_passages(TEXTS))


def test_a_modernbert_of_sentence_transformers_runs_on_pytorch(tmp_path: Path) -> None:
    """The architecture and the layout of ibm-granite/granite-embedding-small-english-r2, made small."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    plain = write_other("modernbert", tmp_path / "plain")
    modules = [Transformer(str(plain)), Pooling(64, pooling_mode="cls"), Normalize()]
    model = SentenceTransformer(modules=modules, prompts={"query": "a ", "document": ""}, device="cpu")
    model.save_pretrained(str(tmp_path / "model"), create_model_card=False)

    encoder = load_encoder(str(tmp_path / "model"), tmp_path / "cache", threads=1)
    np.testing.assert_allclose(encoder.encode_questions(TEXTS), model.encode_query(TEXTS), atol=1e-5)
    np.testing.assert_allclose(encoder.encode_passages(TEXTS), model.encode_document(TEXTS), atol=1e-5)


def test_an_encoder_is_converted_once(bert: Path, tmp_path: Path) -> None:
    steps: list[tuple[str, str]] = []
    encoder_folder(str(bert), tmp_path, engine="auto", on_step=lambda *step: steps.append(step))
    assert steps == [(str(bert), step) for step in STEPS]
    steps.clear()
    load_encoder(str(bert), tmp_path, threads=1, on_step=lambda *step: steps.append(step))
    assert steps == []


def test_the_fingerprint_changes_with_all_that_changes_vectors(
    bert: Path, built: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(bert, model)

    def fingerprint(max_tokens: int = 64) -> str:
        return load_encoder(str(model), built, max_tokens=max_tokens, threads=1, engine="torch").fingerprint

    plain = fingerprint()
    # Neither the place nor the engine does, nor a limit beyond the model's own.
    assert load_encoder(str(bert), built, max_tokens=999, threads=1, engine="openvino").fingerprint == plain
    found = [plain, fingerprint(max_tokens=32)]
    modules = [{"path": "", "type": "a.Transformer"}, {"path": "pooling", "type": "a.Pooling"}]
    (model / "modules.json").write_text(json.dumps(modules))
    (model / "pooling").mkdir()
    (model / "pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    found.append(fingerprint())
    write_bert(model, seed=5, tokenizer=False)
    found.append(fingerprint())
    assert len(set(found)) == len(found)


def test_two_towers_of_which_one_has_an_adapter(bert: Path, built: Path, tmp_path: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModel

    adapter = write_adapter(bert, tmp_path / "both" / "query_encoder")
    shutil.copytree(bert, tmp_path / "both" / "reference_encoder")
    encoder = load_encoder(str(tmp_path / "both"), built, threads=1, engine="openvino")
    merged = PeftModel.from_pretrained(AutoModel.from_pretrained(bert), adapter).merge_and_unload()
    shutil.copytree(bert, tmp_path / "merged")
    with torch.no_grad():
        merged.save_pretrained(tmp_path / "merged")
    assert cosines(encoder.encode_questions(TEXTS), mean_pooled(tmp_path / "merged", TEXTS)).min() > 0.98
    assert cosines(encoder.encode_passages(TEXTS), mean_pooled(bert, TEXTS)).min() > 0.98
    assert cosines(encoder.encode_questions(TEXTS), encoder.encode_passages(TEXTS)).min() < 0.9


def test_two_processes_build_one_model_once_in_place_of_a_half_built_one(bert: Path, tmp_path: Path) -> None:
    # What a build that was killed leaves behind.
    finished = tmp_path / "models" / f"{bert.name}-{cache_key(str(bert))}-openvino-int8-scaled"
    partial = finished.with_name(finished.name + ".partial")
    partial.mkdir(parents=True)
    (partial / "model.bin").write_bytes(b"half a model")

    processes = [load_in_process(bert, tmp_path) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    printed = [out.splitlines() for out, _ in outputs]
    assert [lines[-1] for lines in printed] == [str(finished)] * 2
    assert sorted(lines[:-1] for lines in printed) == [[], [f"step {step}" for step in STEPS]]
    assert not partial.exists()


def test_a_full_disk_is_an_error_with_advice_and_leaves_nothing_behind(bert: Path, tmp_path: Path) -> None:
    # The largest file that the process and its children may write stands in for a full disk.
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
    process = load_in_process(bert, tmp_path, limit)
    _, errors = process.communicate(timeout=120)
    last = errors.splitlines()[-1]
    assert last.startswith("citewell.core.errors.ModelError: The converted weights of")
    assert "File too large" in last
    assert "CITEWELL_CACHE_DIR" in last
    assert [path.suffix for path in (tmp_path / "models").iterdir()] == [".lock"]


def test_a_folder_that_cannot_be_written(bert: Path, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="cannot be kept") as caught:
        load_encoder(str(bert), tmp_path, threads=1)
    assert "CITEWELL_CACHE_DIR" in caught.value.hint


def test_damaged_weights_are_refused(bert: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(bert, model)
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError, match="cannot be read"):
        load_encoder(str(model), tmp_path, threads=1, engine="torch")


def test_damaged_converted_weights_are_built_again(bert: Path, built: Path, tmp_path: Path) -> None:
    whole = encoder_folder(str(bert), built, engine="openvino")
    folder = tmp_path / "models" / whole.name
    shutil.copytree(whole, folder)
    (file,) = folder.glob("*/model.bin")
    content = file.read_bytes()
    file.write_bytes(content[:1000])
    load_encoder(str(bert), tmp_path, threads=1, engine="openvino")
    assert len(file.read_bytes()) == len(content)
    (folder / "encoder.json").write_text("{}")
    load_encoder(str(bert), tmp_path, threads=1, engine="openvino")
    assert (folder / "encoder.json").read_text() != "{}"


def test_vectors_that_are_not_finite_are_refused(bert: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(bert)
    with torch.no_grad():
        model.encoder.layer[1].output.LayerNorm.weight[3] = float("nan")
    shutil.copytree(bert, tmp_path / "diverged")
    model.save_pretrained(tmp_path / "diverged")
    for engine in ("torch", "openvino"):
        with pytest.raises(ModelError, match="not finite for 'Why is the sky blue"):
            load_encoder(str(tmp_path / "diverged"), tmp_path, threads=1, engine=engine)


def test_a_hub_id_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    # A user's own folder `core` in the working directory plays no part.
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit('the wrong core')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="facebook/contriever is not on this machine") as caught:
        load_encoder("facebook/contriever", tmp_path / "cache", threads=1)
    assert "local folder" in caught.value.hint


async def test_a_hub_id_is_downloaded_from_the_hub(
    bert: Path, built: Path, tmp_path: Path, serve: Serve
) -> None:
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
        "HF_HUB_ETAG_TIMEOUT": "60",  # computers that run other tests are slow
        "HF_HUB_DOWNLOAD_TIMEOUT": "60",
    }
    arguments = [sys.executable, "-c", LOAD, "tiny/bert-0.1B", str(tmp_path)]
    child = await asyncio.create_subprocess_exec(*arguments, stdout=PIPE, stderr=PIPE, env=environment)
    _, err = await child.communicate()
    assert child.returncode == 0, err.decode()
    encoder = load_encoder("tiny/bert-0.1B", tmp_path, threads=1, engine="openvino")
    expected = load_encoder(str(bert), built, threads=1, engine="openvino")
    np.testing.assert_array_equal(encoder.encode_passages(TEXTS), expected.encode_passages(TEXTS))
    assert encoder.fingerprint == expected.fingerprint


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()
