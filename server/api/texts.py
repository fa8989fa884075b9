"""Embeddings in the format of OpenAI's API, and reranking in that of Cohere and Jina."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np
from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from citewell.core.errors import InputError
from citewell.generator.estimate import estimate_tokens
from citewell.retriever.encoder.encoder import Vectors
from citewell.server.access.authenticator import Caller
from citewell.server.api.chat_errors import (
    NoModelError,
    UnsupportedParameterError,
    chat_errors,
    chat_handlers,
)
from citewell.server.api.documented import problems
from citewell.server.api.models import USUAL
from citewell.server.api.text_schemas import (
    Embedding,
    Embeddings,
    EmbeddingsRequest,
    RankedDocument,
    RerankDocument,
    RerankRequest,
    RerankResponse,
    TextUsage,
)
from citewell.server.api.waiting import while_connected
from citewell.server.services import Services

_MAX_TEXTS = 2_048  # as OpenAI's API allows


@post(
    "/v1/embeddings",
    status_code=200,
    opt={"scope": "ask", "asks": True},
    summary="Create embeddings",
    responses=chat_errors(404, 413, 415, 429, 504),
    exception_handlers=chat_handlers(),
    tags=["openai"],
)
async def create_embeddings(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    data: JSONBody[EmbeddingsRequest],
) -> Embeddings:
    """Encode texts as vectors, with the encoder that ranks passages. Longer texts are cut.

    The inner product of a question's vector and a passage's is the higher, the better the passage answers.
    """
    encoder = services.pipelines.get().ranker.encoder
    name = _checked_model(data.model, encoder.name)
    texts = _texts(data.input)
    if data.dimensions not in (None, encoder.dimension):
        raise UnsupportedParameterError(
            "dimensions", f"the encoder has {encoder.dimension}", "Remove it from the request."
        )
    encode = encoder.encode_questions if data.input_type == "query" else encoder.encode_passages
    vectors = await while_connected(request, services.texts.read(texts, encode, caller.key_id))
    shown = _base64 if data.encoding_format == "base64" else _numbers
    return Embeddings(
        [Embedding(index, shown(vector)) for index, vector in enumerate(vectors)], name, _usage(texts)
    )


@post(
    "/v1/rerank",
    status_code=200,
    opt={"scope": "ask", "asks": True},
    summary="Rank texts",
    responses=problems(404, 504, body=True),
    tags=["answers"],
)
async def rank_texts(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    data: JSONBody[RerankRequest],
) -> RerankResponse:
    """Order texts by their relevance to a query, as passages are for an answer.

    The best candidates are read by the cross-encoder, if the service has one.
    """
    ranker = services.pipelines.get().ranker
    name = _checked_model(data.model, ranker.name)
    query = _readable(data.query)
    texts = [_readable(each if isinstance(each, str) else each.text) for each in data.documents]
    if not query.strip():
        raise InputError("The query is empty.", "Send a question.")
    reading = services.texts.read(
        texts,
        lambda batch: ranker.scores(query, batch),
        caller.key_id,
        lambda scores: ranker.reread(query, texts, scores),
    )
    values = await while_connected(request, reading)
    best = np.argsort(-values, kind="stable")[: data.top_n]
    results = [
        RankedDocument(
            int(index),
            round(float(values[index]), 4),
            RerankDocument(texts[index]) if data.return_documents else None,
        )
        for index in best
    ]
    return RerankResponse(name, results, _usage([query, *texts]))


def _checked_model(asked: str, name: str) -> str:
    """Return the name for replies, without folders; raises `NoModelError` for another model's."""
    short = name.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    if asked not in (USUAL, name, short):
        raise NoModelError(asked, (USUAL, short))
    return short


def _texts(given: str | list[Any]) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if any(isinstance(text, int | list) for text in texts):
        raise UnsupportedParameterError(
            "input", "it has token ids", "Send text: LangChain does with check_embedding_ctx_length=False."
        )
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise InputError("The input has no text, or an empty one.", "Send a text, or a list of texts.")
    if len(texts) > _MAX_TEXTS:
        raise InputError(f"The input has {len(texts):,} texts.", f"Send at most {_MAX_TEXTS:,} at once.")
    return list(map(_readable, texts))


def _readable(text: str) -> str:
    """Return a text without the lone surrogates that JSON may have, which tokenizers refuse."""
    return text.encode(errors="replace").decode()


def _numbers(vector: Vectors) -> list[float]:
    numbers: list[float] = vector.tolist()
    return numbers


def _base64(vector: Vectors) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _usage(texts: Iterable[str]) -> TextUsage:
    tokens = sum(map(estimate_tokens, texts))
    return TextUsage(tokens, tokens)
