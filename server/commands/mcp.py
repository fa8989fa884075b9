"""`citewell mcp`: offer Citewell's tools to a program with a language model."""

from __future__ import annotations

from typing import Any

import click

from citewell.cli.commands.options import flags, retrieval_options
from citewell.server.packages import need_mcp_packages

_PORT = 8091  # beside that of `citewell serve`


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Serve over streamable HTTP at /mcp.")
@click.option(
    "--host", "server__host", metavar="ADDRESS", help="Address to listen on with --http [127.0.0.1]."
)
@click.option("--port", "server__port", type=int, metavar="N", help="Port to listen on with --http [8091].")
@retrieval_options
def command(over_http: bool, networks: tuple[str, ...], assignments: tuple[str, ...], **named: Any) -> None:
    """Serve the tools ask, retrieve and read to a program that speaks MCP, over standard input and output.

    MCP is the Model Context Protocol. Such a program runs this command itself.
    """
    need_mcp_packages()
    from citewell.core.settings import load_settings
    from citewell.server.mcp.running import run_over_http, run_over_pipes

    if over_http and named["server__port"] is None:
        named["server__port"] = _PORT
    settings = load_settings(flags(named, networks, assignments))
    (run_over_http if over_http else run_over_pipes)(settings)
