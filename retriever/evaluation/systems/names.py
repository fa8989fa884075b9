"""Systems by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import InputError
from citewell.core.models.catalog import catalog
from citewell.core.settings import Settings
from citewell.retriever.answer_reader import load_answer_reader
from citewell.retriever.encoder.encoder import DualEncoder
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.encoder.resolve import is_shipped
from citewell.retriever.evaluation.systems.dense import DenseSystem
from citewell.retriever.evaluation.systems.hybrid import HybridSystem
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25, tf_idf
from citewell.retriever.evaluation.systems.pipeline import RankerSystem
from citewell.retriever.evaluation.systems.reranked import RerankedSystem
from citewell.retriever.evaluation.systems.system import RankingSystem
from citewell.retriever.rank import Ranker
from citewell.retriever.reranking import Reranker, load_reranker

NAMES = ("tfidf", "bm25", "minilm", "default", "hybrid", "reranked", "pipeline")
MAX_TOKENS = 256
"""The most tokens of a passage that encoders read here; `pipeline` follows the settings instead."""

_MINILM = "all-MiniLM-L6-v2"


class Loading(NamedTuple):
    """The source of encoders; `on_step(model, step)` is called while weights are converted."""

    settings: Settings
    on_step: Callable[[str, str], None] = lambda model, step: None


def build_systems(names: Sequence[str], loading: Loading) -> list[RankingSystem]:
    """Create systems by name: one of `NAMES`, or an encoder's packaged or shipped name, folder or hub id.

    Raises `InputError` for an unknown name before anything is loaded, and `ModelError` for an encoder that
    cannot be loaded.
    """
    for name in names:
        known = name in NAMES or name in catalog() or is_shipped(name)
        if not known and "/" not in name and not Path(name).is_dir():
            raise InputError(
                f"Unknown system {name!r}.",
                f"Systems are {', '.join(NAMES)}, an encoder's folder, a hub id such as facebook/contriever, "
                "or the file of a TREC run.",
            )
    settings = loading.settings
    if "reranked" in names and settings.retriever.reranker == "none":
        raise InputError(
            "The system reranked needs a cross-encoder, and retriever.reranker is none.",
            "Set it in citewell.toml or as CITEWELL_RETRIEVER__RERANKER.",
        )
    folder = settings.cache_dir / "evaluation"

    @cache
    def encoder(name: str, max_tokens: int) -> DualEncoder:
        return load_encoder(
            name,
            settings.cache_dir,
            max_tokens=max_tokens,
            threads=settings.threads,
            on_step=loading.on_step,
        )

    @cache
    def reranker() -> Reranker | None:
        return load_reranker(settings, loading.on_step)

    def build(name: str) -> RankingSystem:
        lexical = LexicalSystem("bm25", bm25)
        own = settings.retriever
        match name:
            case "tfidf":
                return LexicalSystem(name, tf_idf)
            case "bm25":
                return lexical
            case "pipeline":
                ranker = Ranker(
                    encoder(own.encoder, own.max_tokens),
                    prefilter=own.prefilter,
                    reranker=reranker(),
                    reader=load_answer_reader(settings, loading.on_step),
                )
                return RankerSystem(name, ranker, lexical)
            case "hybrid":
                return HybridSystem(name, build("default"), lexical)
            case "reranked":
                read = reranker()
                assert read is not None
                scale = encoder(own.encoder, MAX_TOKENS).scale
                return RerankedSystem(name, build("default"), read, scale)
            case _:
                model = {"minilm": _MINILM, "default": own.encoder}.get(name, name)
                return DenseSystem(name, encoder(model, MAX_TOKENS), folder)

    return [build(name) for name in names]
