"""Adapters open in PEFT and sentence-transformers, which find their bases by their hub ids."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("peft", reason="the extra `train` is not installed")
pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")

from citewell.core.dequantization import dequantized
from citewell.core.models.catalog import catalog
from citewell.core.models.installed import installed_path
from citewell.core.weights import hub_id, local_name, locate
from citewell.generator.resolve import ADAPTERS as GENERATORS
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.encoder.resolve import ADAPTERS as ENCODERS

pytestmark = pytest.mark.long

POLICIES = Path(__file__).parents[3] / "citewell" / "browser" / "adapters"
TEXTS = ["What makes rain?", "Étienne's café, naïvely."]


@pytest.fixture(scope="module")
def hub(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the Hugging Face hub, with the packaged models under their hub ids."""
    home = tmp_path_factory.mktemp("hub")
    encoder = locate("all-MiniLM-L6-v2").path
    assert encoder is not None
    put(home, "all-MiniLM-L6-v2", encoder)
    put(home, "SmolLM2-135M-Instruct", dequantized("SmolLM2-135M-Instruct", cache))
    return home


def put(home: Path, name: str, weights: Path) -> None:
    folder = home / "hub" / f"models--{hub_id(name).replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0")
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "0").symlink_to(weights)


def run(hub: Path, program: str, *arguments: Path) -> str:
    """The output of a Python program that knows this hub, offline, and no Citewell."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=os.environ | {"HF_HOME": str(hub), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CAUSAL = """
import sys
from peft import AutoPeftModelForCausalLM
for folder in sys.argv[1:]:
    model = AutoPeftModelForCausalLM.from_pretrained(folder)
    print(model.peft_config["default"].base_model_name_or_path)
"""


def test_shipped_language_models_open_in_peft(hub: Path) -> None:
    out = run(hub, CAUSAL, GENERATORS / "citewell-smollm2", POLICIES / "citewell-browser")
    assert out.split() == ["HuggingFaceTB/SmolLM2-135M-Instruct"] * 2


ENCODER = """
import sys
import numpy
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Router
texts = sys.argv[3:]
question = SentenceTransformer(f"{sys.argv[1]}/question", device="cpu")
passage = SentenceTransformer(f"{sys.argv[1]}/passage", device="cpu")
model = SentenceTransformer(modules=[Router.for_query_document(list(question), list(passage))], device="cpu")
numpy.save(sys.argv[2], [model.encode_query(texts), model.encode_document(texts)])
"""


def test_the_shipped_encoder_opens_in_sentence_transformers(hub: Path, tmp_path: Path) -> None:
    run(hub, ENCODER, ENCODERS / "citewell-minilm", tmp_path / "vectors.npy", *map(Path, TEXTS))
    questions, passages = np.load(tmp_path / "vectors.npy")
    encoder = load_encoder("citewell-minilm", tmp_path / "cache", threads=1, engine="torch")
    np.testing.assert_allclose(questions, encoder.encode_questions(TEXTS), atol=1e-5)
    np.testing.assert_allclose(passages, encoder.encode_passages(TEXTS), atol=1e-5)


def test_packaged_models_are_known_by_their_hub_ids() -> None:
    for name, model in catalog().items():
        if model.hub and installed_path(name):
            assert local_name(hub_id(name)) == name
    assert hub_id("org/model") == local_name("org/model") == "org/model"
