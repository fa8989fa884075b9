"""Running the tools for programs of this computer: over standard input and output, or over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import uvicorn
from mcp.server.mcpserver import MCPServer

from citewell.core import running
from citewell.core.errors import InputError
from citewell.core.settings import Settings
from citewell.pipeline.collections import collection_names
from citewell.server.mcp.asking import OwnPipelines, own_pipelines
from citewell.server.mcp.tools import PATH, tool_server
from citewell.server.sockets import is_loopback, listen, shown_url


def run_over_pipes(settings: Settings) -> None:
    """Serve one program through standard input and output, until it closes them."""

    async def serve(server: MCPServer[Any]) -> None:
        await server.run_stdio_async()

    running.run(_run(settings, serve))


def run_over_http(settings: Settings) -> None:
    """Serve programs of this computer at `/mcp`.

    Raises `InputError` for an address that other computers can reach, and as `listen` does.
    """
    wanted = settings.server
    if not is_loopback(wanted.host):
        raise InputError(
            f"`citewell mcp` asks for no keys, so it only listens on this computer, not on {wanted.host}.",
            "For other computers, run citewell serve, which asks for keys and has the same tools at /mcp.",
        )
    with listen(wanted.host, wanted.port) as listening:

        async def serve(server: MCPServer[Any]) -> None:
            app = server.streamable_http_app(streamable_http_path=PATH, host="127.0.0.1")
            config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
            click.echo(f"Citewell's tools are at {shown_url(listening)}{PATH}", err=True)
            await uvicorn.Server(config).serve(sockets=[listening])

        running.run(_run(settings, serve))


async def _run(settings: Settings, serve: Callable[[MCPServer[Any]], Any]) -> None:
    async with own_pipelines(settings) as asking:
        await serve(_server(settings, asking))


def _server(settings: Settings, asking: OwnPipelines) -> MCPServer[Any]:
    names = ", ".join(collection_names(settings))
    return tool_server(lambda _: asking, f"Collections: {names}." if names else "")
