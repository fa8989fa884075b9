"""The `citewell` command: finds the subcommand, and turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from io import TextIOWrapper
from typing import Any, cast

import click

from citewell.core.errors import CitewellError

COMMANDS = {
    "ask": "Answer a question, with every sentence cited and checked.",
    "browse": "Answer a question by browsing: search, click, scroll and quote.",
    "retrieve": "Find the references of a question, without writing an answer.",
    "search": "Search, and list the pages that are found.",
    "extract": "Show what is read from a file or a web page.",
    "index": "Make a collection from files, folders or a web site.",
    "collections": "List the collections, or remove one.",
    "cache": "Show the cache of web pages, or empty it.",
    "bootstrap": "Make a data set of cited answers from questions.",
    "train": "Train a model from data.",
    "eval": "Measure how passages are found and answers cited.",
    "serve": "Answer questions over HTTP, until it is stopped.",
    "keys": "Create, list and revoke keys of the service.",
    "doctor": "Check the installation, and say how to mend it.",
}
_SERVICE = frozenset({"serve", "keys"})  # commands that live beside the service, which imports this package


class _Commands(click.Group):
    """Imports a subcommand's module only when it is called, so that the command line starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        package = "citewell.server.commands" if cmd_name in _SERVICE else "citewell.cli.commands"
        module = importlib.import_module(f"{package}.{cmd_name}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader, such as `head`, has what it wants. Click would call that a failure.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="citewell", message="citewell %(version)s")
@click.option("--config", metavar="FILE", help="Settings file, in place of ./citewell.toml.")
def citewell(config: str | None) -> None:
    """Ask a question, get a long answer in which every sentence is cited and every citation checked."""
    if config is not None:
        os.environ["CITEWELL_CONFIG"] = config


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 for a failure, 2 for bad input, 130 after Ctrl-C."""
    # Libraries warn about single pages through logging; what matters reaches people as an error or a notice.
    logging.disable(logging.WARNING)
    # File names need not be Unicode. Written like this, they are valid in JSON too.
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    try:
        # Without its standalone mode, click returns the code of an `Exit` in place of the command's result.
        sys.exit(citewell.main(args=arguments, prog_name="citewell", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except CitewellError as error:
        click.echo(f"citewell: {error.message}", err=True)
        if error.hint:
            click.echo(f"  {error.hint}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("citewell: interrupted; what was stored is kept.", err=True)
        sys.exit(130)
