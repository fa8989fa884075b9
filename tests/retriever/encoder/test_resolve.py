"""What names of encoders stand for, in each of the layouts that there are, and what cannot be used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from citewell.core.errors import ModelError
from citewell.core.models.obtaining import ensure_weights
from citewell.retriever.encoder.resolve import cache_key, resolve

from .conftest import write_adapter, write_bert


def write_json(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def sentence_bert(bert: Path, tmp_path: Path) -> Path:
    """The files of a sentence-transformers model with a mean pooling and a normalization."""
    folder = tmp_path / "sentence-bert"
    shutil.copytree(bert, folder)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    types = {path: f"sentence_transformers.models.{kind}" for path, kind in kinds.items()}
    write_json(folder / "modules.json", [{"path": path, "type": kind} for path, kind in types.items()])
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 32})
    return folder


def test_the_packaged_model_is_mean_pooled_and_normalized() -> None:
    towers = resolve("all-MiniLM-L6-v2")
    assert towers.question == towers.passage
    tower = towers.question
    assert (tower.pooling, tower.normalize, tower.limit, tower.dimension) == ("mean", True, 256, 384)
    assert tower.adapter is None


def test_a_plain_bert_is_mean_pooled_and_not_normalized(bert: Path) -> None:
    tower, same = resolve(str(bert))
    assert tower == same
    assert (tower.pooling, tower.normalize, tower.limit, tower.dimension) == ("mean", False, 64, 64)


def test_pooling_limit_and_normalization_are_the_models_own(sentence_bert: Path) -> None:
    tower, _ = resolve(str(sentence_bert))
    assert (tower.pooling, tower.normalize, tower.limit) == ("mean", True, 32)
    write_json(sentence_bert / "1_Pooling" / "config.json", {"pooling_mode": "cls"})
    assert resolve(str(sentence_bert)).passage.pooling == "cls"


def test_prompts_belong_to_the_side_that_they_are_for(sentence_bert: Path) -> None:
    prompts = {"query": "query: ", "passage": "passage: "}
    write_json(sentence_bert / "config_sentence_transformers.json", {"prompts": prompts})
    towers = resolve(str(sentence_bert))
    assert (towers.question.prompt, towers.passage.prompt) == ("query: ", "passage: ")


def test_e5_has_its_prefixes_whether_packaged_or_from_the_hub(
    sentence_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_weights("e5-small")
    towers = resolve("e5-small")
    assert (towers.question.prompt, towers.passage.prompt) == ("query: ", "passage: ")
    tower = towers.passage
    assert (tower.pooling, tower.normalize, tower.limit, tower.dimension) == ("mean", True, 512, 384)
    # The files of the hub do not name them; a folder of its name stands for it here.
    monkeypatch.chdir(tmp_path)
    for name, prompt in {"intfloat/multilingual-e5-base": "query: ", "intfloat/e5-other": ""}.items():
        shutil.copytree(sentence_bert, name)
        assert resolve(name).question.prompt == prompt


@pytest.mark.parametrize(
    ("pooling", "message"),
    [
        ({"pooling_mode_weightedmean_tokens": True}, "pools the vectors of tokens by weightedmean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}, "by cls and max"),
        ({"pooling_mode": ["mean", "lasttoken"]}, "by mean and lasttoken"),
    ],
)
def test_another_pooling_is_refused(sentence_bert: Path, pooling: dict[str, Any], message: str) -> None:
    write_json(sentence_bert / "1_Pooling" / "config.json", pooling)
    with pytest.raises(ModelError, match=message) as caught:
        resolve(str(sentence_bert))
    assert "mean or [CLS] pooling" in caught.value.hint


def test_a_further_layer_is_refused(sentence_bert: Path) -> None:
    modules = json.loads((sentence_bert / "modules.json").read_text())
    modules.insert(2, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    write_json(sentence_bert / "modules.json", modules)
    with pytest.raises(ModelError, match="the modules Transformer, Pooling, Dense, Normalize"):
        resolve(str(sentence_bert))


def test_a_damaged_configuration(sentence_bert: Path) -> None:
    (sentence_bert / "modules.json").write_text('[{"path": ')
    with pytest.raises(ModelError, match=r"modules\.json is not valid JSON"):
        resolve(str(sentence_bert))


def test_the_layout_that_webglm_released(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "webglm"
    for seed, side in enumerate(("query_encoder", "reference_encoder")):
        write_bert(folder / side, seed=seed, tokenizer=False)
    shutil.copy(bert / "tokenizer.json", folder)
    question, passage = resolve(str(folder))
    assert (question.folder.name, passage.folder.name) == ("query_encoder", "reference_encoder")
    assert question.tokenizer == passage.tokenizer == folder
    assert question.digest != passage.digest


def test_a_released_retriever_without_a_tokenizer_and_without_a_network(tmp_path: Path) -> None:
    for side in ("query_encoder", "reference_encoder"):
        write_bert(tmp_path / side, tokenizer=False)
    program = f"from citewell.retriever.encoder.resolve import resolve; resolve({str(tmp_path)!r})"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert "holds no tokenizer" in last
    assert "Put the tokenizer.json of facebook/contriever-msmarco into" in last


def test_towers_of_different_dimensions(tmp_path: Path) -> None:
    write_bert(tmp_path / "query_encoder", dimension=64)
    write_bert(tmp_path / "reference_encoder", dimension=96)
    with pytest.raises(ModelError, match="question vectors have 64 dimensions, its passage vectors 96"):
        resolve(str(tmp_path))


def test_a_router_without_the_two_routes(bert: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "modules.json", [{"path": "", "type": "sentence_transformers.models.Router"}])
    write_json(tmp_path / "router_config.json", {"types": {}, "structure": {"text": [], "image": []}})
    with pytest.raises(ModelError, match="the routes text, image") as caught:
        resolve(str(tmp_path))
    assert "for_query_document" in caught.value.hint


def test_a_folder_with_nothing_but_an_adapter(bert: Path, tmp_path: Path) -> None:
    adapter = write_adapter(bert, tmp_path / "adapter")
    tower, _ = resolve(str(adapter))
    assert (tower.folder, tower.adapter) == (bert, adapter)


def test_a_model_without_a_tokenizer(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "bert", tokenizer=False)
    with pytest.raises(ModelError, match="holds no tokenizer") as caught:
        resolve(str(folder))
    assert str(folder) in caught.value.hint


def test_a_model_that_is_no_text_encoder(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"model_type": "resnet"})
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"names no hidden_size \(model type resnet\)"):
        resolve(str(tmp_path))


def test_a_generators_weights_are_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="it is a generator"):
        resolve("SmolLM2-135M-Instruct")
    file = tmp_path / "writer.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="it is a GGUF file"):
        resolve(str(file))


def test_what_is_converted_anew(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    shutil.copytree(bert, folder)
    before = cache_key(str(folder))
    assert cache_key(str(folder)) == before
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode": "cls"})
    assert cache_key(str(folder)) != before
    assert cache_key("facebook/contriever") != cache_key("facebook/contriever-msmarco")
