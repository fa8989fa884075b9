"""`citewell ask`: answer one question with citations."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import answer_options, detail_options, flags, retrieval_options
from citewell.core import running

if TYPE_CHECKING:
    from citewell.cli.view import AnswerView
    from citewell.core.settings import Settings
    from citewell.core.types import Answer


@click.command("ask")
@click.argument("words", metavar="QUESTION", nargs=-1, required=True)
@answer_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@detail_options
@retrieval_options
def command(
    words: tuple[str, ...],
    all_references: bool,
    verbose: bool,
    as_json: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Answer QUESTION with every sentence cited and every citation checked.

    QUESTION may be several words, or - to read standard input.
    """
    from citewell.cli.view import AnswerDetail, PlainView, TerminalView
    from citewell.core.settings import load_settings

    settings = load_settings(flags(named, networks, assignments))
    live = sys.stdout.isatty() and not as_json
    detail = AnswerDetail(all_references, verbose)
    view: AnswerView = TerminalView(detail) if live else PlainView(detail)
    question = sys.stdin.read() if words == ("-",) else " ".join(words)
    answer = running.run(_ask(question, settings, view))
    if as_json:
        click.echo(json.dumps(answer.to_json(), ensure_ascii=False))
    else:
        view.show(answer)


async def _ask(question: str, settings: Settings, view: AnswerView) -> Answer:
    from citewell.core.events import final_answer
    from citewell.pipeline.answering import open_answering

    with view:
        async with open_answering(settings, on_step=view.step, question=question) as opened:
            return await final_answer(opened.ask(question), view.event)
