"""Reading the sources that a configuration names."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import InputError
from citewell.core.jsonl import either
from citewell.core.ranking_metrics import has_order
from citewell.core.recipe import find
from citewell.retriever.training.config import EncoderRecipe, EncoderSourceConfig, Measure
from citewell.retriever.training.labels.adopted import adopted_rows
from citewell.retriever.training.labels.judgements import judgement_rows
from citewell.retriever.training.labels.positives import positive_rows
from citewell.retriever.training.labels.rankings import FILE, ranking_rows
from citewell.retriever.training.labels.rouge import rouge_rows
from citewell.retriever.training.rows import LabeledRow, RowSource, key, number


class DevSet(NamedTuple):
    """Rows that a model is measured on, and how."""

    name: str
    rows: tuple[LabeledRow, ...]
    measure: Measure


class EncoderData(NamedTuple):
    """What a run learns from, and what it is measured on. No question is in both."""

    train: tuple[RowSource, ...]
    dev: tuple[DevSet, ...]


Mine = Callable[[Sequence[LabeledRow], Sequence[str], int], tuple[LabeledRow, ...]]
"""Adds hard negatives to rows, also from these passages (`citewell.retriever.training.candidates`)."""


def read_data(config: EncoderRecipe, file: Path, mine: Mine) -> EncoderData:
    """Read all sources of the configuration in `file`; raises `InputError` for what cannot be used.

    Where a source holds questions out, those are drawn by the seed. A question that is in any dev set is
    taken from all training data, whatever its passages are.
    """
    seed = config.training.seed
    others = [text for name in config.mining.corpus for text in _passages(find(name, file))]

    def rows_of(source: EncoderSourceConfig) -> tuple[LabeledRow, ...]:
        rows = read_rows(source, file, seed)
        return mine(rows, others, source.negatives) if source.negatives else rows

    dev = [DevSet(source.name, rows_of(source), source.measure) for source in config.dev]
    read = []
    for source in config.data:
        rows = rows_of(source)
        if source.held_out:
            drawn = sorted(rows, key=lambda row: number(key(row.question), seed))[: source.held_out]
            dev.append(DevSet(source.name, tuple(drawn), "ndcg"))
        read.append(rows)
    for each in dev:
        if not any(has_order(row.targets) for row in each.rows):
            raise InputError(
                f"The dev rows of {each.name} have no order to find: the passages of each question are "
                "labelled alike.",
                "Pairs need hard negatives to tell positives from: negatives = 4, say.",
            )
    hidden = {key(row.question) for each in dev for row in each.rows}
    train = []
    for source, rows in zip(config.data, read, strict=True):
        seen = tuple(row for row in rows if key(row.question) not in hidden)
        if not seen:
            raise InputError(
                f"The source {source.name} has no question that is not in a dev set.",
                "Lower held_out, or take other data for dev.",
            )
        train.append(RowSource(source.name, seen, source.weight, source.repeat))
    return EncoderData(tuple(train), tuple(dev))


def read_rows(source: EncoderSourceConfig, file: Path, seed: int) -> tuple[LabeledRow, ...]:
    """The rows of one source, at most `limit`, in the order of the files."""
    rows = [row for name in source.files for row in _rows(source, find(name, file), file)]
    if source.limit is not None and len(rows) > source.limit:
        places = sorted(random.Random(f"{seed} {source.name}").sample(range(len(rows)), source.limit))  # noqa: S311
        rows = [rows[place] for place in places]
    return tuple(rows)


def _rows(source: EncoderSourceConfig, path: Path, config: Path) -> list[LabeledRow]:
    match source.label:
        case "rouge":
            return rouge_rows(path)
        case "adopted":
            return adopted_rows(path)
        case "positives":
            return positive_rows(path)
        case "rankings":
            return ranking_rows(path, source.depth)
        case "judgements":
            run = find(source.run, config) if source.run is not None else None
            return judgement_rows(path, source.split, run, source.depth)


def _passages(file: Path) -> list[str]:
    return [text for row in positive_rows(file) for text in row.passages]


def source_files(source: EncoderSourceConfig, config: Path) -> list[Path]:
    """The files that a source is read from; of a BEIR folder, those that the label needs."""
    found = []
    for name in source.files:
        path = find(name, config)
        if source.format != "beir":
            found.append(path)
            continue
        found += [either(path / "corpus.jsonl"), either(path / "queries.jsonl")]
        if source.label == "rankings":
            found.append(either(path / FILE))
        else:
            found.append(either(path / "qrels" / f"{source.split}.tsv"))
    return [*found, find(source.run, config)] if source.run is not None else found
