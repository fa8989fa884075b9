"""Judging candidates and writing the labels, which a later run of the same command continues."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from citewell.bootstrap.labels.candidates import LabelCandidate, candidates
from citewell.bootstrap.labels.prompt import answers_prompt
from citewell.core.progress import SECONDS, Log, duration
from citewell.core.row_log import RowLog
from citewell.generator.yes import YesModel
from citewell.retriever.training.labels.asked import read_asked

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRun:
    """What to judge: `each` candidates per question of `files`, at most `limit` labels in `out`.

    `price` is that of a million tokens read.
    """

    files: Sequence[Path]
    out: Path
    each: int = 6
    limit: int | None = None
    price: float = 0.0


class LabelCost(NamedTuple):
    """Labels in the file, and what this run judged, read and took."""

    labels: int
    judged: int
    tokens: int
    seconds: float
    price: float

    def __str__(self) -> str:
        rate = f"{self.judged / max(self.seconds, 1e-9) * 3600:,.0f} per hour"
        money = f", costing {self.tokens * self.price / _MILLION:,.4f}" if self.price else ""
        return (
            f"{self.labels:,} labels, {self.judged:,} of them from this run: {self.tokens:,} tokens in "
            f"{duration(self.seconds)}, {rate}{money}"
        )


async def write_labels(run: LabelRun, judge: YesModel, tell: Log) -> LabelCost:
    """Judge the candidates that have no label yet, and append a line for each to `run.out`.

    A line is on the disk before the next candidates are judged; an incomplete last line is cut off. Raises
    `InputError` for files that cannot be used, and the judge's errors.
    """
    log = RowLog(run.out)
    log.append()  # which fails now if no label could be written
    done = {(str(row.get("question")), str(row.get("passage"))) for row in log.rows}
    asked = read_asked(run.files)
    missing = (
        each for each in candidates(asked, run.each, tell) if (each.asked.id, each.passage.id) not in done
    )
    left = None if run.limit is None else max(0, run.limit - len(done))
    judged = tokens = 0
    started = told = time.monotonic()

    def cost() -> LabelCost:
        return LabelCost(len(done) + judged, judged, tokens, time.monotonic() - started, run.price)

    for batch in _batches(islice(missing, left), judge.concurrency):
        verdicts = await asyncio.gather(
            *(judge.ask(answers_prompt(each.asked.question, *each.passage)) for each in batch)
        )
        log.append(
            *(
                {
                    "question": each.asked.id,
                    "passage": each.passage.id,
                    "yes": round(verdict.yes, 4),
                    "gold": each.gold,
                }
                for each, verdict in zip(batch, verdicts, strict=True)
            )
        )
        tokens += sum(verdict.tokens for verdict in verdicts)
        judged += len(batch)
        if time.monotonic() - told > SECONDS:
            told = time.monotonic()
            tell(str(cost()))
    return cost()


def _batches(found: Iterator[LabelCandidate], size: int) -> Iterator[list[LabelCandidate]]:
    while batch := list(islice(found, size)):
        yield batch
