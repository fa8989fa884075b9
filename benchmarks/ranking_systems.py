"""Ways to encode passages: sentence-transformers at its default settings, and each of Citewell's engines."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.local_web import read_articles
from citewell.core.remote_code import TRUST_REMOTE_CODE, untrusted
from citewell.core.text import encoded_text
from citewell.core.weights import locate
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.load import EngineName, load_encoder
from citewell.retriever.extract.page import extract

BASELINE = "SentenceTransformer.encode"
SYSTEMS: dict[str, EngineName] = {"openvino int8": "openvino", "torch float32": "torch"}
MAX_TOKENS = 256  # all-MiniLM-L6-v2's own limit, which sentence-transformers keeps to


class System(NamedTuple):
    """A loaded system: both functions return one vector per text."""

    questions: Callable[[Sequence[str]], Vectors]
    passages: Callable[[Sequence[str]], Vectors]


def load(system: str, model: str, cache: Path, threads: int) -> System:
    """Load `system` on the weights of `model`."""
    if system != BASELINE:
        encoder = load_encoder(model, cache, max_tokens=MAX_TOKENS, threads=threads, engine=SYSTEMS[system])
        return System(encoder.encode_questions, encoder.encode_passages)
    from sentence_transformers import SentenceTransformer

    plain: Any = SentenceTransformer(
        str(locate(model).path), device="cpu", trust_remote_code=TRUST_REMOTE_CODE
    )
    assert plain.max_seq_length == MAX_TOKENS
    return System(plain.encode_query, plain.encode_document)


def relevance(system: System, question: str, passages: Sequence[str]) -> Vectors:
    """Return the score of each passage, all the work of ranking for one question."""
    return np.asarray(system.passages(passages) @ system.questions([question])[0])


def write_bert_base(folder: Path) -> None:
    """Write a sentence-transformers model of BERT-base's shape, which is Contriever's, with random weights.

    Its tokenizer is that of all-MiniLM-L6-v2, which is BERT's.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(0)
    plain = folder / "plain"
    BertModel(BertConfig()).save_pretrained(plain)
    AutoTokenizer.from_pretrained(
        locate("all-MiniLM-L6-v2").path, trust_remote_code=TRUST_REMOTE_CODE
    ).save_pretrained(plain)
    transformer = Transformer(str(plain), max_seq_length=MAX_TOKENS, **untrusted())
    SentenceTransformer(modules=[transformer, Pooling(768, "mean")]).save(
        str(folder), create_model_card=False
    )


def read_paragraphs(count: int) -> list[str]:
    """Read paragraphs of Wikipedia articles with their titles, as Citewell ranks them, long and short."""
    articles = list(read_articles().items())
    generator = random.Random(0)
    found: list[str] = []
    for path, html in generator.sample(articles, count):
        passages = extract(html, path).passages
        found.extend(
            encoded_text(p.title_path, p.text) for p in generator.sample(passages, min(2, len(passages)))
        )
    return generator.sample(found, count)


def lengths(texts: Sequence[str]) -> dict[str, float]:
    """Return statistics of the numbers of tokens of the texts, cut to MAX_TOKENS."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(str(locate("all-MiniLM-L6-v2").path), "tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    found = sorted(len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts)))
    return {"least": found[0], "median": found[len(found) // 2], "most": found[-1], "total": sum(found)}


def read_json(file: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(file.read_text(encoding="utf-8"))
