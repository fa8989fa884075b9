"""The scorers that `citewell eval scorer` measures, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError, ModelError
from citewell.core.settings import Settings
from citewell.core.types import Reference
from citewell.generator.citations.correction import check_citations
from citewell.pipeline.providers import configured_encoder
from citewell.retriever.lexical import bm25
from citewell.scorer.choice import mean_support
from citewell.scorer.evaluation.system import (
    LENGTH,
    RANDOM,
    References,
    ScoringSystem,
    length_system,
    random_system,
)
from citewell.scorer.scorer import SUPPORT

BM25, EMBEDDING, DEFAULT = "bm25", "embedding", "default"
NAMES = (RANDOM, LENGTH, BM25, EMBEDDING, SUPPORT, DEFAULT)
"""The systems besides trained scorers."""


def build_systems(names: Sequence[str], settings: Settings, on_step: OnStep) -> list[ScoringSystem]:
    """Return the systems of these names: one of `NAMES`, a shipped scorer, or the folder of a trained one.

    `on_step(model, step)` is called at each step of a conversion of weights. Raises `InputError` for an
    unknown name before anything is loaded, and `ModelError` for a scorer that cannot be loaded.
    """
    from citewell.scorer.load import scorer_folder

    known = {name: name for name in NAMES} | {DEFAULT: settings.scorer.name}
    for name in names:
        if name not in known and "/" not in name and not Path(name).is_dir():
            try:
                scorer_folder(name)
            except ModelError as error:
                raise InputError(
                    f"Unknown scorer {name!r}.",
                    f"Scorers are {', '.join(NAMES)}, a shipped one, or a folder of `citewell train scorer`.",
                ) from error
    return [replace(_build(known.get(name, name), settings, on_step), name=name) for name in names]


def _build(name: str, settings: Settings, on_step: OnStep) -> ScoringSystem:
    if name == RANDOM:
        return random_system()
    if name == LENGTH:
        return length_system()
    if name == BM25:
        return ScoringSystem(BM25, lambda question, answers, references: bm25(question, answers).tolist())
    if name == EMBEDDING:
        return _embedding(settings, on_step)
    if name == SUPPORT:
        return _support(settings.citations.threshold)
    from citewell.scorer.load import load_scorer

    model = load_scorer(name, settings.cache_dir, settings.threads)
    return ScoringSystem(name, model.rate, model.preference)


def _embedding(settings: Settings, on_step: OnStep) -> ScoringSystem:
    encoder = configured_encoder(settings, on_step=on_step)

    def rate(question: str, answers: Sequence[str], references: References) -> list[float]:
        similar = encoder.encode_passages(answers) @ encoder.encode_questions([question])[0]
        return [float(value) for value in similar]

    return ScoringSystem(EMBEDDING, rate)


def _support(threshold: float) -> ScoringSystem:
    def rate(question: str, answers: Sequence[str], references: References) -> list[float]:
        return [
            mean_support(check_citations(answer, _numbered(texts), threshold))
            for answer, texts in zip(answers, references, strict=True)
        ]

    return ScoringSystem(SUPPORT, rate)


def _numbered(texts: Sequence[str]) -> list[Reference]:
    return [Reference(number, "", "", text, 0.0) for number, text in enumerate(texts, 1)]
