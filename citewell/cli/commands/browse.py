"""`citewell browse`: answer a question from what a policy or a person quotes while browsing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import detail_options, flags, retrieval_options
from citewell.cli.commands.output import check_files
from citewell.core import running
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from citewell.browser.episode import Episode
    from citewell.browser.policy import Policy
    from citewell.browser.web import Web
    from citewell.cli.view import AnswerView
    from citewell.core.settings import Settings
    from citewell.core.types import Answer

HUMAN = "human"


@click.command("browse")
@click.argument("question")
@click.option(
    "--policy",
    "browser__policy",
    metavar="NAME",
    help="scripted, random, human, a trained policy or its folder, or a generator [scripted].",
)
@click.option(
    "--actions", "browser__actions", type=int, metavar="N", help="Max actions [100, or the policy's own]."
)
@click.option(
    "--best-of",
    "browser__best_of",
    type=int,
    metavar="N",
    help="Episodes to run and choose the best answer from [1].",
)
@click.option("--generator", "generator__name", metavar="NAME", help="Generator of the answer [auto].")
@click.option(
    "--scorer", "scorer__name", metavar="NAME", help="Scorer that compares answers [citation support]."
)
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE", help="Write each episode as one line of JSON."
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Record every page opened.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Browse a recording, offline.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@detail_options
@retrieval_options
def command(
    question: str,
    trace: Path | None,
    record: Path | None,
    replay: Path | None,
    all_references: bool,
    verbose: bool,
    as_json: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Answer QUESTION by browsing: search, open pages, quote passages, and answer from the quotes."""
    from citewell.cli.view import AnswerDetail, PlainView, TerminalView
    from citewell.core.settings import load_settings

    check_files(trace, record)
    _check_differ(trace=trace, record=record, replay=replay)
    settings = load_settings(flags(named, networks, assignments))
    policy = _person() if settings.browser.policy == HUMAN else None
    live = sys.stdout.isatty() and not as_json and policy is None
    detail = AnswerDetail(all_references, verbose)
    view: AnswerView = TerminalView(detail) if live else PlainView(detail)
    unsaved: list[str] = []
    try:
        answer = running.run(_browse(question, settings, view, policy, trace, record, replay, unsaved))
        if as_json:
            click.echo(json.dumps(answer.to_json(), ensure_ascii=False))
        else:
            view.show(answer)
    finally:
        for problem in unsaved:
            click.echo(problem, err=True)
    if unsaved:
        raise click.exceptions.Exit(1)


async def _browse(
    question: str,
    settings: Settings,
    view: AnswerView,
    policy: Policy | None,
    trace: Path | None,
    record: Path | None,
    replay: Path | None,
    unsaved: list[str],
) -> Answer:
    from citewell.browser.episode import write_episodes
    from citewell.browser.recording import Recorded, WebRecorder, read_recording, write_recording
    from citewell.core.events import final_answer
    from citewell.pipeline.browsing import open_browsing

    recorders: list[WebRecorder] = []
    entries = list(read_recording(replay)) if replay else None

    def wrap(web: Web) -> Web:
        shown = web if entries is None else Recorded(entries)
        if record:
            recorders.append(WebRecorder(shown))
            return recorders[0]
        return shown

    episodes: list[Episode] = []
    with view:
        async with open_browsing(settings, on_step=view.step, policy=policy, over=wrap) as browsing:
            try:
                return await final_answer(browsing.ask(question, keep=episodes.append), view.event)
            finally:
                if record and recorders:
                    with _noting(unsaved, record):
                        write_recording(recorders[0].taken(), record)
                if trace and episodes:
                    with _noting(unsaved, trace):
                        write_episodes(episodes, trace)


@contextmanager
def _noting(unsaved: list[str], file: Path) -> Iterator[None]:
    """Note the error of a file that cannot be written: the answer took long to find."""
    try:
        yield
    except OSError as error:
        unsaved.append(f"citewell: {file} cannot be written: {error.strerror}.\n  Free some space.")


def _check_differ(**files: Path | None) -> None:
    """Raise `InputError` if two options name the same file: one would overwrite the other."""
    named: dict[Path, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        other = named.setdefault(file.resolve(), option)
        if other != option:
            raise InputError(f"--{other} and --{option} both name {file}.", "Name two files.")


def _person() -> Policy:
    """A policy that asks the person at the terminal."""
    from citewell.browser.policies.human import HELP, Human

    # Prompts go to standard error, so that standard output holds only the answer.
    click.echo(HELP, err=True)
    return Human(
        show=lambda state: click.echo(f"\n{state}", err=True, nl=False),
        ask=_line,
        tell=lambda text: click.echo(text, err=True),
    )


def _line() -> str:
    sys.stderr.write("> ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
