"""Reading the sources that a recipe names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from citewell.core.errors import InputError
from citewell.core.jsonl import plain_or_gzipped
from citewell.core.training.config import OptimizationConfig
from citewell.core.training.sources import DataFolders, question_key, sample
from citewell.retriever.training.config import (
    EncoderDataConfig,
    EncoderDevConfig,
    EncoderSourceConfig,
    Measure,
    MiningConfig,
)
from citewell.retriever.training.labels.adopted import adopted_rows
from citewell.retriever.training.labels.answers import answer_rows
from citewell.retriever.training.labels.candidates import candidate_rows
from citewell.retriever.training.labels.judgments import judgment_rows
from citewell.retriever.training.labels.positives import positive_rows
from citewell.retriever.training.labels.rankings import FILE, ranking_rows
from citewell.retriever.training.labels.rouge import rouge_rows
from citewell.retriever.training.labels.sentences import sentence_rows
from citewell.retriever.training.labels.support import support_rows
from citewell.retriever.training.measures import measurable
from citewell.retriever.training.rows import LabeledRow, RowSource, known_answers, number


class DevSet(NamedTuple):
    """Rows that a model is evaluated on, and the metric."""

    name: str
    rows: tuple[LabeledRow, ...]
    measure: Measure


class EncoderData(NamedTuple):
    """The training and evaluation data of a run. No question is in both."""

    train: tuple[RowSource, ...]
    dev: tuple[DevSet, ...]


class MiningPool(NamedTuple):
    """What a recipe has beside the rows of one source: further candidates, and the answers of all sources.

    `known` is what `citewell.retriever.training.rows.known_answers` returns.
    """

    candidates: Sequence[str]
    known: Mapping[str, frozenset[str]]


Mine = Callable[[Sequence[LabeledRow], MiningPool, int], tuple[LabeledRow, ...]]
"""Adds hard negatives to the rows of a source (`citewell.retriever.training.candidates`)."""


class DataRecipe(Protocol):
    """The part of a recipe that `read_data` needs."""

    @property
    def data(self) -> Sequence[EncoderDataConfig]:
        """The training data."""
        ...

    @property
    def dev(self) -> Sequence[EncoderDevConfig]:
        """The evaluation data during training."""
        ...

    @property
    def mining(self) -> MiningConfig:
        """Mining of hard negatives."""
        ...

    @property
    def training(self) -> OptimizationConfig:
        """The optimization, for its seed."""
        ...


def read_data(
    config: DataRecipe, folders: DataFolders, mine: Mine, excluded: Collection[str] = ()
) -> EncoderData:
    """Read all sources of the recipe; raises `InputError` for data that cannot be used.

    Held-out questions are sampled with the seed. A question of any dev set is removed from all training data,
    regardless of its passages; so are those whose keys are `excluded`.
    """
    seed = config.training.seed
    every = [(source, read_rows(source, folders, seed)) for source in (*config.dev, *config.data)]
    pool = MiningPool(
        [text for name in config.mining.corpus for text in _passages(folders.find(name))],
        known_answers(RowSource(source.name, rows) for source, rows in every),
    )
    mined = [mine(rows, pool, source.negatives) if source.negatives else rows for source, rows in every]
    dev = [DevSet(source.name, rows, source.measure) for source, rows in zip(config.dev, mined, strict=False)]
    read = mined[len(dev) :]
    for source, rows in zip(config.data, read, strict=True):
        if source.held_out:
            drawn = sorted(rows, key=lambda row: number(question_key(row.question), seed))[: source.held_out]
            measure: Measure = "auc" if source.label == "support" else "ndcg"
            dev.append(DevSet(source.name, tuple(drawn), measure))
    for each in dev:
        if not measurable(each.rows, each.measure):
            raise InputError(
                f"The dev rows of {each.name} cannot be ranked: their labels are equal.",
                "Pairs need hard negatives, for example negatives = 4.",
            )
    hidden = {question_key(row.question) for each in dev for row in each.rows} | set(excluded)
    train = []
    for source, rows in zip(config.data, read, strict=True):
        seen = tuple(row for row in rows if question_key(row.question) not in hidden)
        if not seen:
            raise InputError(
                f"All questions of the source {source.name} are in a dev set.",
                "Lower held_out, or use other data for dev.",
            )
        train.append(RowSource(source.name, seen, source.weight, source.repeat))
    return EncoderData(tuple(train), tuple(dev))


def read_rows(source: EncoderSourceConfig, folders: DataFolders, seed: int) -> tuple[LabeledRow, ...]:
    """Return the rows of one source, at most `limit`, in the order of the files."""
    files = folders.files(source)
    if source.answers is not None:
        rows = answer_rows(files, folders.find(source.answers), source.people)
    elif source.label == "sentences":
        rows = sentence_rows(files)
    else:
        rows = [row for file in files for row in _rows(source, file, folders)]
    return sample(rows, source.limit, f"{seed} {source.name}")


def _rows(source: EncoderSourceConfig, path: Path, folders: DataFolders) -> list[LabeledRow]:
    match source.label:
        case "rouge":
            return rouge_rows(path)
        case "adopted":
            return adopted_rows(path)
        case "positives":
            return positive_rows(path)
        case "answerability":
            return positive_rows(path, unanswered=True)
        case "candidates":
            return candidate_rows(path, source.without)
        case "support":
            return support_rows(path)
        case "rankings":
            return ranking_rows(path, source.depth)
        case "answers" | "sentences":
            raise AssertionError("read from all files at once")
        case "judgments":
            run = folders.find(source.run) if source.run is not None else None
            return judgment_rows(path, source.split, run, source.depth)


def _passages(file: Path) -> list[str]:
    return [text for row in positive_rows(file) for text in row.passages]


def source_files(source: EncoderSourceConfig, folders: DataFolders) -> list[Path]:
    """Return the files of a source; for a BEIR folder, those that the label needs."""
    found = []
    for path in folders.files(source):
        if source.format != "beir":
            found.append(path)
            continue
        found += [plain_or_gzipped(path / "corpus.jsonl"), plain_or_gzipped(path / "queries.jsonl")]
        if source.label == "rankings":
            found.append(plain_or_gzipped(path / FILE))
        else:
            found.append(plain_or_gzipped(path / "qrels" / f"{source.split}.tsv"))
    return [*found, *(folders.find(name) for name in (source.run, source.answers) if name is not None)]
