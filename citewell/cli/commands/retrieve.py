"""`citewell retrieve`: the references of one question, or of a file of questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from citewell.cli.commands.options import flags, retrieval_options
from citewell.core.errors import CitewellError, InputError

if TYPE_CHECKING:
    from citewell.core.settings import Settings


@click.command("retrieve")
@click.argument("question", required=False)
@click.option(
    "--questions",
    "file",
    type=click.Path(path_type=Path),
    help="A file of questions: plain lines, or JSON objects with `question` and perhaps `id`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a question and line.")
@retrieval_options
def command(
    question: str | None,
    file: Path | None,
    as_json: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Find the references for QUESTION, without writing an answer."""
    if (question is None) == (file is None):
        raise InputError("Give one question or --questions FILE.", "See citewell retrieve --help.")
    from citewell.core.settings import load_settings

    settings = load_settings(flags(named, networks, assignments))
    rows = iter([_Row(question)]) if question is not None else _read(file)
    if asyncio.run(_retrieve(rows, settings, as_json=as_json, single=file is None)):
        raise click.exceptions.Exit(1)


class _Row(NamedTuple):
    question: str | None
    id: Any = None
    error: str = ""


async def _retrieve(rows: Iterator[_Row], settings: Settings, *, as_json: bool, single: bool) -> int:
    from citewell.cli.view import PlainView
    from citewell.core.events import final_answer
    from citewell.pipeline.build import open_pipeline

    failed = 0
    async with open_pipeline(settings, on_step=PlainView().step) as pipeline:
        for row in rows:
            result: dict[str, Any] = {} if row.id is None else {"id": row.id}
            try:
                if row.question is None:
                    raise InputError(row.error)
                answer = await final_answer(pipeline.retrieve(row.question))
            except CitewellError as error:
                if single:
                    raise
                failed += 1
                result |= {"question": row.question, "error": str(error)}
                click.echo(json.dumps(result, ensure_ascii=False))
                continue
            if as_json or not single:
                click.echo(json.dumps(result | answer.to_json(), ensure_ascii=False))
            else:
                for reference in answer.references:
                    click.echo(
                        f"[{reference.number}] {reference.score:.3f}  {reference.title}  {reference.url}"
                    )
                    click.echo(f"    {reference.text}\n")
                    if reference.also:
                        click.echo(f"    The same text is at {', '.join(reference.also)}\n")
                for notice in answer.notices:
                    click.echo(f"Note: {notice}", err=True)
                for failure in answer.failures:
                    click.echo(f"Not read: {failure.url}: {failure.reason}", err=True)
    return failed


def _read(file: Path | None) -> Iterator[_Row]:
    assert file is not None
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")  # JSON may hold other line ends
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"The questions in {file} cannot be read: {reason}.", "Give a text file in UTF-8."
        ) from error
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("{"):
            yield _parse(line, f"{file}:{number}")
        elif line.strip():
            yield _Row(line.strip())


def _parse(line: str, place: str) -> _Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        return _Row(None, error=f"{place} is not valid JSON: {error}.")
    if not isinstance(row.get("question"), str):
        return _Row(None, row.get("id"), f"{place} has no `question`.")
    return _Row(row["question"], row.get("id"))
