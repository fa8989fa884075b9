"""The `citewell` command: finds the subcommand, and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import importlib
import logging
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, cast

import click

from citewell.core.errors import CitewellError

COMMANDS = {
    "ask": "Answer a question, with every sentence cited and checked.",
    "chat": "Answer questions as a conversation, with follow-ups.",
    "browse": "Answer a question by browsing: search, click, scroll and quote.",
    "retrieve": "Find the references of a question, without writing an answer.",
    "search": "Search, and list the results.",
    "extract": "Show the text extracted from a file or a web page.",
    "index": "Create or update a collection from files, folders or a website.",
    "collections": "List the collections, or remove one.",
    "models": "List, get, remove or verify models.",
    "cache": "Show or clear the cache of web pages.",
    "bootstrap": "Build a data set of cited answers from questions.",
    "train": "Train a model.",
    "eval": "Evaluate retrieval, generation, answers, scoring and browsing.",
    "serve": "Run the HTTP service.",
    "mcp": "Serve tools to programs that speak the Model Context Protocol.",
    "study": "Let people judge the answers of systems blindly.",
    "keys": "Create, list and revoke API keys of the service.",
    "doctor": "Diagnose the installation.",
}
_FULL = {errno.ENOSPC, errno.EDQUOT}
_SERVICE = frozenset(
    {"serve", "mcp", "study", "keys"}
)  # their modules live in citewell.server, which may import this package


class _Commands(click.Group):
    """A group that imports a subcommand's module only when it is called, so that the program starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        package = "citewell.server.commands" if cmd_name in _SERVICE else "citewell.cli.commands"
        module = importlib.import_module(f"{package}.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if (name := args[0]) not in COMMANDS and (hint := _hint(args)):
            ctx.fail(f"The command {name!r} is unknown. {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe. Click would report that as a failure.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _hint(args: list[str]) -> str:
    """Return what was probably meant by an unknown command: one with a similar name, or a question."""
    import difflib
    import shlex

    words = " ".join(args).split()
    is_sentence = len(words) >= 3 and not any(word.startswith("-") for word in words)
    # A question begins with a word such as "what", which looks like "chat".
    close = difflib.get_close_matches(args[0], COMMANDS, n=1, cutoff=0.8 if is_sentence else 0.6)
    if close:
        return f"Did you mean {close[0]}?"
    return f"To ask a question: citewell ask {shlex.quote(' '.join(words))}" if is_sentence else ""


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="citewell", message="citewell %(version)s")
@click.option("--config", metavar="FILE", help="Settings file [./citewell.toml].")
def citewell(config: str | None) -> None:
    """Answer questions at length, with every sentence cited and every citation checked."""
    if config is not None:
        os.environ["CITEWELL_CONFIG"] = config


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 success, 1 failure, 2 bad input, 130 Ctrl-C."""
    # Libraries log warnings about single pages; what matters reaches people as an error or a notice.
    logging.disable(logging.WARNING)
    # File names may hold bytes that are not UTF-8; escaped, they are printable and valid in JSON.
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    cast("TextIOWrapper", sys.stdin).reconfigure(errors="replace")  # such as Latin-1 where UTF-8 is usual
    try:
        code = _run(arguments)
        # All is done and printed. Where Python takes itself down, it would report Ctrl-C as an ignored error.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    except (click.Abort, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # another Ctrl-C does not wait for threads
        click.echo("citewell: interrupted; everything stored so far is kept.", err=True)
        code = 130
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    """Run the command, say what went wrong, and return the exit code."""
    try:
        # With standalone_mode=False, click returns the code of an `Exit` instead of exiting.
        return citewell.main(args=arguments, prog_name="citewell", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except CitewellError as error:
        click.echo(f"citewell: {error.message}", err=True)
        if error.hint:
            click.echo(f"  {error.hint}", err=True)
        return error.exit_code
    except OSError as error:
        if error.errno not in _FULL:
            raise
        click.echo(f"citewell: {error.strerror}: free some space, and run it again.", err=True)
        return 1
