"""`citewell retrieve`: find references for one question or a file of questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from citewell.cli.commands.options import flags, retrieval_options
from citewell.core import running
from citewell.core.errors import CitewellError, InputError

if TYPE_CHECKING:
    from citewell.core.settings import Settings


@click.command("retrieve")
@click.argument("question", required=False)
@click.option(
    "--questions",
    "file",
    type=click.Path(path_type=Path),
    help="File of questions: one per line, as plain text or as JSON with `question` and optionally `id`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@retrieval_options
def command(
    question: str | None,
    file: Path | None,
    as_json: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Find references for QUESTION without writing an answer."""
    if (question is None) == (file is None):
        raise InputError("Give either QUESTION or --questions FILE.", "See citewell retrieve --help.")
    from citewell.core.settings import load_settings

    settings = load_settings(flags(named, networks, assignments))
    rows = iter([_AskedRow(question)]) if question is not None else _read(file)
    if running.run(_retrieve(rows, settings, as_json=as_json, single=question)):
        raise click.exceptions.Exit(1)


class _AskedRow(NamedTuple):
    """A line of the questions file."""

    question: str | None
    id: Any = None  # any JSON value
    error: str = ""  # why the line has no question


async def _retrieve(
    rows: Iterator[_AskedRow], settings: Settings, *, as_json: bool, single: str | None
) -> int:
    """Print the references of each row; return how many failed. `single` is the question of the only row."""
    from citewell.cli.view import PlainView
    from citewell.core.events import final_answer
    from citewell.pipeline.build import open_pipeline
    from citewell.pipeline.choices import without_writer

    failed = 0
    async with open_pipeline(
        without_writer(settings), on_step=PlainView().step, question=single or ""
    ) as pipeline:
        for row in rows:
            result: dict[str, Any] = {} if row.id is None else {"id": row.id}
            try:
                if row.question is None:
                    raise InputError(row.error)
                answer = await final_answer(pipeline.retrieve(row.question))
            except CitewellError as error:
                if single is not None:
                    raise
                failed += 1
                result |= {"question": row.question, "error": str(error)}
                click.echo(json.dumps(result, ensure_ascii=False))
                continue
            if as_json or single is None:
                click.echo(json.dumps(result | answer.to_json(), ensure_ascii=False))
            else:
                if answer.outcome == "no_evidence":
                    click.echo("No evidence for an answer was found.")
                for reference in answer.references:
                    click.echo(
                        f"[{reference.number}] {reference.score:.3f}  {reference.place}  {reference.url}"
                    )
                    click.echo(f"    {reference.text}\n")
                    if reference.duplicate_urls:
                        click.echo(f"    The same text is at {', '.join(reference.duplicate_urls)}\n")
                for notice in answer.notices:
                    click.echo(f"Note: {notice}", err=True)
                for failure in answer.failures:
                    click.echo(f"Not read: {failure.url}: {failure.reason}", err=True)
    return failed


def _read(file: Path | None) -> Iterator[_AskedRow]:
    assert file is not None
    try:
        lines = file.read_text(encoding="utf-8-sig").split(
            "\n"
        )  # not splitlines: JSON strings may hold U+2028
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"Cannot read the questions in {file}: {reason}.", "Give a UTF-8 text file."
        ) from error
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("{"):
            yield _parse(line, f"{file}:{number}")
        elif line.strip():
            yield _AskedRow(line.strip())


def _parse(line: str, location: str) -> _AskedRow:
    try:
        row = json.loads(line)
    except ValueError as error:
        return _AskedRow(None, error=f"{location} is not valid JSON: {error}.")
    if not isinstance(row.get("question"), str):
        return _AskedRow(None, row.get("id"), f"{location} has no `question`.")
    return _AskedRow(row["question"], row.get("id"))
