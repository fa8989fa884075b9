"""Readers find short answers in long ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from citewell.core.errors import ModelError
from citewell.core.settings import load_settings
from citewell.pipeline.evaluation.reader import open_reader
from tests.generator.chat_service import ChatService, whole

PLANETS = ["mars", "venus", "pluto", "earth", "saturn", "neptune"]
FILLER = "this is a long text about the sky and what is in it"


def write_reader(folder: Path, *, answering: bool = True) -> Path:
    """Train a small reader of 32 tokens to find the word after "named"."""
    torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, BertForQuestionAnswering, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    known = sorted({*PLANETS, *FILLER.split(), "named", "which", "planet", "one"})
    vocabulary = {word: number for number, word in enumerate([*special, *known])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=32,
    )
    fast.save_pretrained(str(folder))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    if not answering:
        BertForMaskedLM(config).save_pretrained(str(folder))
        return folder
    model = BertForQuestionAnswering(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    texts, places = [], []
    for number in range(36):
        before = FILLER.split()[: number % 12]
        texts.append(" ".join([*before, "one", "named", PLANETS[number % 6], *FILLER.split()[: number % 5]]))
        places.append(5 + len(before) + 2)  # after [CLS], three words and [SEP]
    read = fast(["which planet one"] * 36, texts, padding=True, return_tensors="pt")
    answer = torch.tensor(places)
    for _ in range(60):
        loss = model(**read, start_positions=answer + 0, end_positions=answer + 0).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(str(folder))
    return folder


async def test_a_model_of_extractive_question_answering(tmp_path: Path) -> None:
    folder = write_reader(tmp_path)
    async with open_reader(str(folder), load_settings(), lambda model, step: None) as reader:
        assert reader.name == str(folder)
        assert await reader.read("which planet one", "this is one named venus and the sky") == "venus"
        long = f"{FILLER} {FILLER} one named saturn {FILLER} {FILLER}"
        assert await reader.read("which planet one", long) == "saturn", "texts are read in windows"
        assert await reader.read("which planet one", "") == ""


async def test_a_model_of_something_else_is_refused(tmp_path: Path) -> None:
    write_reader(tmp_path, answering=False)
    with pytest.raises(ModelError, match="not trained to answer questions by a span"):
        async with open_reader(str(tmp_path), load_settings(), lambda model, step: None):
            pass


async def test_a_language_model_reads_too() -> None:
    async def service(request: web.Request) -> web.StreamResponse:
        asked = (await request.json())["messages"][-1]["content"]
        assert "Text: Paris is the capital.\nQuestion: Which city?" in asked
        return web.json_response(whole("Paris\nIt is in France."))

    async with ChatService([service]) as http:
        settings = load_settings({"generator.base_url": http.url})
        async with open_reader("writer:openai:tiny", settings, lambda model, step: None) as reader:
            assert reader.name == "writer:openai:tiny"
            assert await reader.read("Which city?", "Paris is the capital.") == "Paris"
