"""What a bootstrap shows: a bar on a terminal, occasional lines elsewhere, and the data set at its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from citewell.core.progress import Counter

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.bootstrap.card import Dataset
    from citewell.bootstrap.config import DatasetConfig
    from citewell.bootstrap.overlap import EvaluationQuestions
    from citewell.bootstrap.types import Outcome


OnOutcomes = Callable[[Sequence["Outcome"]], None]
"""Called with the outcomes just stored."""


@contextmanager
def progress(done: int, total: int) -> Iterator[OnOutcomes]:
    """Show on standard error how many of `total` rows are done, the rate and the time left.

    The rate counts from the first outcome, since models load before it.
    """
    if sys.stderr.isatty():
        with _bar(done, total) as bar:
            yield bar
        return
    count = Counter("rows", lambda text: click.echo(text, err=True))

    def seen(outcomes: Sequence[Outcome]) -> None:
        nonlocal done
        done += len(outcomes)
        count(done, total)

    yield seen


def write_and_show(
    folder: Path,
    outcomes: Callable[[], Iterator[Outcome]],
    config: DatasetConfig,
    command: str,
    evaluation: EvaluationQuestions,
) -> Dataset:
    """Write the data set of the run in `folder`, and print how many rows each filter dropped."""
    from citewell.bootstrap.dataset import write_dataset
    from citewell.bootstrap.folder import DATASET, read_prompt
    from citewell.bootstrap.stats import funnel_table

    dataset = write_dataset(
        folder / DATASET,
        outcomes,
        config,
        command=command,
        evaluation=evaluation,
        prompt=read_prompt(folder),
    )
    click.echo(funnel_table(dataset.statistics))
    rows = ", ".join(f"{count:,} {split}" for split, count in dataset.rows.items())
    click.echo(f"Data set: {dataset.folder} ({rows or 'no rows'})")
    return dataset


@contextmanager
def _bar(done: int, total: int) -> Iterator[OnOutcomes]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from citewell.bootstrap.types import Drop, Fault, Sample, TeacherUsage

    kept = dropped = failed = 0
    usage = TeacherUsage()
    columns = (
        TextColumn("rows"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task("rows", total=total, completed=done, rate="", counts="")

        def seen(outcomes: Sequence[Outcome]) -> None:
            nonlocal kept, dropped, failed, usage
            for outcome in outcomes:
                usage += outcome.usage
                kept += isinstance(outcome, Sample)
                dropped += isinstance(outcome, Drop)
                failed += isinstance(outcome, Fault)
            counts = f"{kept:,} kept, {dropped:,} dropped, {failed:,} failed"
            if usage.prompt_tokens:
                counts += f"; {usage.prompt_tokens + usage.answer_tokens:,} tokens, cost {usage.cost:,.2f}"
            bar.update(row, advance=len(outcomes), counts=counts)
            speed = bar.tasks[0].speed
            bar.update(row, rate=f"{speed:,.1f}/s" if speed else "")

        yield seen
