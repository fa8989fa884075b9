"""Requests and replies of the operations on texts: embeddings and reranking."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

_MODEL = "`citewell`, or the name that replies carry."


class EmbeddingsRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Texts to encode, in the format of OpenAI's API."""

    input: Annotated[
        str | list[Any],
        Meta(
            description="A text, or up to 2,048 texts. Lists of tokens are refused.",
            examples=["How do bats find their way in the dark?"],
        ),
    ]
    model: Annotated[str, Meta(max_length=200, description=_MODEL, examples=["citewell"])] = "citewell"
    input_type: (
        Annotated[
            Literal["query", "document"],
            Meta(
                description="Encode as questions or as passages, the default: some encoders have two towers "
                "or prompts."
            ),
        ]
        | None
    ) = None
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(description="Refused, unless it is that of the encoder.")] | None = None
    user: Annotated[str, Meta(description="Accepted but ignored.")] | None = None


class Embedding(Struct, frozen=True):
    """The vector of a text, as numbers or as their float32 bytes in base64."""

    index: int
    embedding: list[float] | str
    object: Literal["embedding"] = "embedding"


class TextUsage(Struct, frozen=True):
    """Estimated tokens of the texts: one per three bytes of UTF-8."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(Struct, frozen=True):
    """The vectors of all texts, in their order."""

    data: list[Embedding]
    model: str
    usage: TextUsage
    object: Literal["list"] = "list"


class RerankDocument(Struct, forbid_unknown_fields=True, frozen=True):
    """A text to rank."""

    text: Annotated[str, Meta(max_length=100_000)]


class RerankRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A query and the texts to order by their relevance to it, as Cohere's and Jina's APIs have it."""

    query: Annotated[
        str, Meta(min_length=1, max_length=20_000, examples=["How do bats find their way in the dark?"])
    ]
    documents: Annotated[
        list[Annotated[str, Meta(max_length=100_000)] | RerankDocument],
        Meta(
            min_length=1,
            max_length=1_000,
            examples=[["Bees make honey.", "Bats listen to the echoes of their calls."]],
        ),
    ]
    model: Annotated[str, Meta(max_length=200, description=_MODEL, examples=["citewell"])] = "citewell"
    top_n: Annotated[int, Meta(ge=1, description="Return only the best.", examples=[1])] | None = None
    return_documents: Annotated[bool, Meta(description="Return the texts, too.")] | None = None


class RankedDocument(Struct, frozen=True, omit_defaults=True):
    """A text by its place in the request. `document` is there if it was asked for."""

    index: int
    relevance_score: float
    document: RerankDocument | None = None


class RerankResponse(Struct, frozen=True):
    """The texts, most relevant first."""

    model: str
    results: list[RankedDocument]
    usage: TextUsage
