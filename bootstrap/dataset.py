"""The data set that a bootstrap makes: WebGLM-QA's rows in three splits, for Hugging Face's `datasets`."""

from __future__ import annotations

import filecmp
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from citewell.bootstrap.card import Dataset, card
from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.division import SampleQuestion, divide
from citewell.bootstrap.overlap import EvaluationQuestions
from citewell.bootstrap.stats import statistics
from citewell.bootstrap.types import Outcome, Sample
from citewell.core.errors import CitewellError
from citewell.core.splits import SPLITS, Split
from citewell.generator.prompt import Message

CARD = "README.md"
LEFT_OUT = "left_out.jsonl"
STATISTICS = "statistics.json"


class DatasetRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a split: the three fields of WebGLM-QA, then where they came from.

    The mark `[n]` in the answer is the n-th of `references`, whose page is the n-th of `titles` and `urls`.
    """

    id: str
    question: str
    answer: str
    references: tuple[str, ...]
    titles: tuple[str, ...]
    urls: tuple[str, ...]
    teacher: str
    prompt_hash: str
    license: str
    scores: dict[str, float | int | None]


def write_dataset(
    folder: Path,
    outcomes: Callable[[], Iterable[Outcome]],
    config: DatasetConfig,
    *,
    command: str,
    evaluation: EvaluationQuestions,
    prompt: Sequence[Message] = (),
) -> Dataset:
    """Write the samples among a run's outcomes as JSON lines, with a card that describes them.

    `outcomes` reads the run from its beginning; it is called again, so that only the questions are in memory.
    `command` made the run, `evaluation` are the questions that the data set must not contain, and `prompt`
    are the messages that the teacher was sent; the card shows all three. Unchanged files are not written
    again. Raises `CitewellError` if the folder cannot be written.
    """
    asked: list[SampleQuestion] = []
    licenses: dict[str, str] = {}
    counted = statistics(_collecting(outcomes(), asked, licenses))
    division = divide(asked, evaluation.questions, config)
    sizes = Counter(division.splits.values())
    dataset = Dataset(
        folder,
        {split: sizes[split] for split in SPLITS if sizes[split]},
        dict(Counter(each.why for each in division.left_out)),
        evaluation,
        counted,
        _drawn(outcomes, division.splits, config.card_rows),
        Counter(licenses[key] for key in division.splits),
        tuple(prompt),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_splits(folder, outcomes(), division.splits)
        _write(folder / LEFT_OUT, b"".join(msgspec.json.encode(each) + b"\n" for each in division.left_out))
        _write(
            folder / STATISTICS, (json.dumps(counted.to_json(), indent=1, ensure_ascii=False) + "\n").encode()
        )
        _write(folder / CARD, card(dataset, config, command).encode())
    except OSError as error:
        raise CitewellError(
            f"The data set in {folder} cannot be written: {error.strerror}.",
            "Free some space, or check the permissions.",
        ) from error
    return dataset


def row(sample: Sample) -> DatasetRow:
    """Return the line of a split that a sample becomes."""
    scores = msgspec.to_builtins(sample.scores)
    return DatasetRow(
        id=sample.key,
        question=sample.question,
        answer=sample.answer,
        references=tuple(reference.text for reference in sample.references),
        titles=tuple(reference.title for reference in sample.references),
        urls=tuple(reference.url for reference in sample.references),
        teacher=sample.teacher,
        prompt_hash=sample.prompt_hash,
        license=sample.license,
        scores=scores | {"accuracy": sample.scores.accuracy, "coverage": sample.scores.coverage},
    )


def split_file(split: Split) -> str:
    """Return the name of a split's file."""
    return f"{split}.jsonl"


def _collecting(
    outcomes: Iterable[Outcome], asked: list[SampleQuestion], licenses: dict[str, str]
) -> Iterator[Outcome]:
    for outcome in outcomes:
        if isinstance(outcome, Sample):
            asked.append(SampleQuestion(outcome.key, outcome.question))
            licenses[outcome.key] = outcome.license
        yield outcome


def _drawn(
    outcomes: Callable[[], Iterable[Outcome]], splits: Mapping[str, Split], number: int
) -> tuple[Sample, ...]:
    """Return so many samples of the splits, drawn by a hash of their keys."""
    if not number:
        return ()
    rows = (each for each in outcomes() if isinstance(each, Sample) and each.key in splits)
    return tuple(heapq.nsmallest(number, rows, key=lambda each: sha256(each.key.encode()).digest()))


def _write_splits(folder: Path, outcomes: Iterable[Outcome], splits: Mapping[str, Split]) -> None:
    partials = {split: _partial(folder / split_file(split)) for split in SPLITS}
    with ExitStack() as stack:
        files: dict[Split, IO[bytes]] = {
            split: stack.enter_context(partial.open("wb")) for split, partial in partials.items()
        }
        for outcome in outcomes:
            if isinstance(outcome, Sample) and (split := splits.get(outcome.key)):
                files[split].write(msgspec.json.encode(row(outcome)) + b"\n")
    for split, partial in partials.items():
        _replace(folder / split_file(split), partial)


def _write(file: Path, content: bytes) -> None:
    partial = _partial(file)
    partial.write_bytes(content)
    _replace(file, partial)


def _replace(file: Path, partial: Path) -> None:
    """Replace a file atomically, unless its content is the same."""
    if file.is_file() and filecmp.cmp(file, partial, shallow=False):
        partial.unlink()
    else:
        partial.replace(file)


def _partial(file: Path) -> Path:
    return file.with_name(f".{file.name}.partial")
