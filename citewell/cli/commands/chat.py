"""`citewell chat`: ask questions in one conversation: each may refer to the earlier ones."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import detail_options, flags, place_options, writer_option
from citewell.core import running
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from citewell.cli.view import AnswerDetail
    from citewell.core.settings import Settings
    from citewell.core.types import Answer, Turn
    from citewell.pipeline.pipeline import Pipeline

_PROMPT = "> "
_HELP = """Type a question; it may refer to the earlier ones.
  /help   shows this
  Ctrl-C  stops an answer
  Ctrl-D  ends"""
_COMMAND = re.compile(r"/[^\s/]*(?=\s|$)")  # not a path, which may begin a question
_TURNS = 8  # the newest ones, which complete a question


@click.command("chat")
@writer_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per answer.")
@detail_options
@place_options
def command(
    all_references: bool,
    verbose: bool,
    as_json: bool,
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Answer questions from the terminal, or lines of standard input, as a conversation.

    A follow-up question is rewritten as a question of its own, which is shown. Ctrl-C stops an answer, Ctrl-D
    ends, and /help says what can be typed.
    """
    from citewell.cli.view import AnswerDetail
    from citewell.core.settings import load_settings

    settings = load_settings(flags(named, (), assignments))
    if settings.browser.always:
        raise InputError(
            "A conversation cannot browse.",
            "Use citewell ask, or choose another profile or browser.always=false.",
        )
    code = running.run(_Chat(settings, AnswerDetail(all_references, verbose), as_json=as_json).run())
    if code:
        raise click.exceptions.Exit(code)


class _Chat:
    """A conversation on the terminal, or between pipes."""

    def __init__(self, settings: Settings, detail: AnswerDetail, *, as_json: bool) -> None:
        self._settings = settings
        self._detail = detail
        self._as_json = as_json
        self._is_terminal = sys.stdin.isatty()
        self._turns: list[Turn] = []
        self._answering: asyncio.Task[Answer] | None = None

    async def run(self) -> int:
        """Answer line by line, to the end of the input.

        Return the exit code: that of the worst error between pipes, and 0 on a terminal, where it was read.
        """
        from citewell.core.errors import CitewellError
        from citewell.pipeline.build import open_pipeline

        code = 0
        async with open_pipeline(self._settings, on_step=_step) as pipeline:
            with suppress(NotImplementedError):  # on Windows, Ctrl-C ends the program
                asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._stop)
            if self._is_terminal:
                click.echo("Ask a question. Ctrl-C stops an answer, Ctrl-D ends, /help says more.", err=True)
            while (line := await asyncio.to_thread(self._read)) is not None:
                said = line.strip()
                if command := _COMMAND.match(said):
                    click.echo(_helped(command[0]), err=True)
                    continue
                if not said:
                    continue
                try:
                    await self._answer(pipeline, said)
                except asyncio.CancelledError:
                    click.echo("Stopped.", err=True)
                except CitewellError as error:
                    click.echo(f"citewell: {error.message}", err=True)
                    if error.hint:
                        click.echo(f"  {error.hint}", err=True)
                    code = max(code, error.exit_code)
        return 0 if self._is_terminal else code

    async def _answer(self, pipeline: Pipeline, question: str) -> None:
        """Answer a question, and print the answer; raises `CancelledError` if it is stopped."""
        from citewell.cli.view import AnswerView, PlainView, TerminalView
        from citewell.core.events import final_answer
        from citewell.core.types import Turn
        from citewell.pipeline.conversation.asking import ask_in_turn

        live = sys.stdout.isatty() and self._is_terminal and not self._as_json
        view: AnswerView = TerminalView(self._detail) if live else PlainView(self._detail)
        with view:
            events = ask_in_turn(pipeline, question, self._turns[-_TURNS:])
            self._answering = asyncio.create_task(final_answer(events, view.event))
            try:
                answer = await self._answering
            finally:
                self._answering = None
        said = " ".join(sentence.text for sentence in answer.sentences if sentence.supported)
        self._turns.append(Turn(answer.rewritten or question, said))
        if self._as_json:
            click.echo(json.dumps(answer.to_json(), ensure_ascii=False))
            return
        if not self._is_terminal:
            click.echo(f"{_PROMPT}{question}")
        view.show(answer)
        click.echo()

    def _read(self) -> str | None:
        """Return the next line; None at the end."""
        if not self._is_terminal:
            return sys.stdin.readline() or None
        try:
            return input(_PROMPT)
        except EOFError:
            click.echo()
            return None

    def _stop(self) -> None:
        if self._answering is not None:
            self._answering.cancel()
        else:
            click.echo("\nCtrl-D ends.", err=True)


def _helped(command: str) -> str:
    return _HELP if command == "/help" else f"{command} is unknown.\n{_HELP}"


def _step(model: str, step: str) -> None:
    click.echo(f"Preparing {model} (once): {step} …", err=True)
