"""The floors of the citation gate: citation quality of quoted answers, and of people's corrected answers.

The extractive generator answers held-out questions of ExpertQA and PubMedQA from their own references. The
answers in ALCE's prompts, written and cited by people, go through citation correction. Both are judged by
sentence embeddings, which correction does not use.

`python -m benchmarks.citation_floors --pin` raises the floors to slightly below the current scores. Lowering
a floor requires `--lower`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.floors import gate, sha256s
from benchmarks.generation_set import READERS, divided
from citewell.core.settings import load_settings
from citewell.core.types import Reference
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.extractive import ExtractiveGenerator
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.parts import parts
from citewell.retriever.rank import Ranker

FLOORS = Path(__file__).parent.parent / "tests" / "generator" / "evaluation" / "floors.json"
_FILES = ("longform/alce_demos.jsonl.gz", "longform/expertqa_train.jsonl.gz", "longform/pubmedqa.jsonl.gz")
_TOKENS = 128
_MARGIN = 0.02  # int8 rounds differently in each engine, and one sentence of an answer counts much
_QUESTIONS = 15  # of each source


def checksums(data: Path) -> dict[str, str]:
    """Return the SHA-256 of each input file."""
    return sha256s(data, _FILES)


def measured(data: Path) -> dict[str, float]:
    """Return the mean citation recall and precision of both kinds of answers."""
    settings = load_settings()
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=_TOKENS, threads=settings.threads)
    extractive = ExtractiveGenerator(Ranker(encoder, prefilter=48).scores, sentences=5, split=parts)
    quoted = asyncio.run(_quoted(data, extractive, settings.citations.threshold))
    corrected = [
        _corrected(row["answer"], _references(row), settings.citations.threshold)
        for row in _demonstrations(data)
    ]
    found = {}
    for name, answers in {"quoted": quoted, "written by people, corrected": corrected}.items():
        scores = citation_recall_and_precision(answers, EmbeddingJudge(encoder.encode_passages))
        found[f"{name}: citation recall"] = mean(score.recall for score in scores)
        found[f"{name}: citation precision"] = mean(score.precision for score in scores)
    return found


async def _quoted(data: Path, extractive: ExtractiveGenerator, threshold: float) -> list[CitedAnswer]:
    answers = []
    for source in ("expertqa", "pubmedqa"):
        for asked in divided(list(READERS[source](data)), source)["test"][:_QUESTIONS]:
            references = _references(asked.row)
            pieces = [token.text async for token in extractive.generate(asked.question, references, 1)]
            answers.append(_corrected("".join(pieces), references, threshold))
    return answers


def _corrected(answer: str, references: list[Reference], threshold: float) -> CitedAnswer:
    sentences = check_citations(answer, references, threshold)
    marked = [MarkedSentence(sentence.text, sentence.citations) for sentence in sentences]
    return CitedAnswer(marked, {reference.number: reference.text for reference in references})


def _references(row: Mapping[str, Any]) -> list[Reference]:
    return [
        Reference(number, r.get("url") or "", r.get("title") or "", r["text"], 0.0)
        for number, r in enumerate(row["references"], 1)
    ]


def _demonstrations(data: Path) -> list[dict[str, Any]]:
    with gzip.open(data / "longform" / "alce_demos.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [
            row for row in map(json.loads, lines) if row["dataset"] != "qampari"
        ]  # whose answers are lists


if __name__ == "__main__":
    gate(__doc__, "measure", FLOORS, checksums, measured, _MARGIN)
