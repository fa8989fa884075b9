"""What `citewell eval answers` and `citewell eval truthfulqa` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.cli.commands.lists import read_best_of
from citewell.cli.commands.output import write_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.settings import Settings
    from citewell.pipeline.evaluation.report import AnswerEvaluation
    from citewell.pipeline.evaluation.systems import AnswerSystem, Arm


def system_named(label: str, arm: Arm) -> AnswerSystem:
    """Return the system of a label such as `4*NAME`; raises `InputError` as `read_system` does."""
    from citewell.pipeline.evaluation.systems import read_system

    n, name = read_best_of(label)
    return read_system(label, name, n, arm)


def beside(out: Path | None, ending: str, folder: Path) -> Path:
    """Return the file `x.ENDING` beside the output `x.json`; without an output, one in the folder."""
    return out.with_name(f"{out.stem}.{ending}") if out else folder / ending


def notices(systems: Sequence[AnswerSystem], settings: Settings) -> list[str]:
    """Say what the systems are, where their names do not."""
    from citewell.pipeline.evaluation.identity import DEFAULT, with_generator
    from citewell.pipeline.evaluation.systems import Arm

    found = []
    writers = [DEFAULT if system.arm is Arm.BROWSE else system.name for system in systems]
    if DEFAULT in writers:
        found.append(f"The generator default is {with_generator(settings, DEFAULT).generator.name}.")
    if any(system.arm is not Arm.CLOSED_BOOK for system in systems):
        where = settings.search.collection if "collection" in settings.search.model_fields_set else "the web"
        found.append(f"References are from {where}.")
    return found


def write_report(evaluation: AnswerEvaluation, out: Path | None, page: Path | None) -> None:
    """Print the tables, and write them and the JSON files that are wanted."""
    from citewell.pipeline.evaluation.report import details, markdown, summary

    write_results(evaluation, out, page, markdown=markdown, summary=summary, details=details)


def log(text: str) -> None:
    """Show a line of progress."""
    click.echo(text, err=True)
