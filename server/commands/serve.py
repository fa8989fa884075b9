"""`citewell serve`: run the service."""

from __future__ import annotations

import sys
from typing import Any

import click

from citewell.cli.commands.options import flags
from citewell.server.packages import need_server_packages


@click.command("serve")
@click.option("--host", "server__host", metavar="ADDRESS", help="Address to listen on [127.0.0.1].")
@click.option("--port", "server__port", type=int, metavar="N", help="Port to listen on [8090].")
@click.option("--workers", "server__workers", type=int, metavar="N", help="Processes [1].")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting; repeatable."
)
@click.option(
    "--browser/--no-browser", default=True, help="Open the pages in a browser [if there is a screen]."
)
def command(assignments: tuple[str, ...], browser: bool, **named: Any) -> None:
    """Serve the HTTP API and the web pages. On SIGTERM, running questions are answered first.

    Without API keys, the service only listens on this computer; `citewell keys create` creates one. Its pages
    have all rights at the address that is printed, with the token of this computer's owner.
    """
    need_server_packages()
    from citewell.core.settings import load_settings
    from citewell.server.running import run

    run(load_settings(flags(named, (), assignments)), browser=browser and sys.stderr.isatty())
