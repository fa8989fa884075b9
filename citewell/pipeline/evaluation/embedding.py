"""The sentence embeddings of judges."""

from __future__ import annotations

from citewell.core.settings import Settings
from citewell.generator.evaluation.judges.embedding import MODEL, Embed
from citewell.retriever.encoder.load import load_encoder


def embedding_of(settings: Settings) -> Embed:
    """Load the model that the judge `embedding` compares meanings by; raises `ModelError`."""
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    return encoder.encode_passages
