"""Running the service with uvicorn, in this process or in several."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.supervisors import Multiprocess

from citewell.core.errors import InputError
from citewell.core.settings import Settings
from citewell.server.access.limiter import open_limiter
from citewell.server.access.owner import opening_page, owner_token
from citewell.server.access.peer import NotesPeer
from citewell.server.app import create_app
from citewell.server.cut_requests import RepliesToCutRequests
from citewell.server.log_lines import OneLineFormatter
from citewell.server.packages import need_tracing_packages
from citewell.server.patience import PatientProtocol
from citewell.server.sockets import is_loopback, listen, shown_url
from citewell.server.store.address import store_url
from citewell.server.store.database import open_store
from citewell.server.store.errors import StoreError
from citewell.server.telemetry.shared import forget_dead, sharing_metrics
from citewell.server.work.scratch import remove_left_folders

_LOG = logging.getLogger("citewell.service")
_MAX_HEADERS = 16_384  # bytes of a request's first line and headers
_LOGGING: Mapping[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": OneLineFormatter, "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {"citewell": {"level": "INFO"}, "uvicorn": {"level": "WARNING"}},
}


def run(settings: Settings, *, browser: bool = False) -> None:
    """Serve until SIGTERM or SIGINT, which let running questions finish first.

    `browser` opens the pages in a browser, if there is a screen.

    Raises `InputError` if the address cannot be listened on, if other computers could connect to a service
    without keys, or if packages are missing, and `SettingsError` for a setting that cannot be used.
    """
    logging.disable(logging.NOTSET)  # the command line silences libraries
    wanted = settings.server
    if wanted.otlp_endpoint:
        need_tracing_packages()
    remove_left_folders()
    notice = asyncio.run(_check(settings))
    listening = listen(wanted.host, wanted.port)
    config = server_config(settings)
    click.echo(f"Citewell listens on {shown_url(listening)} ({notice})", err=True)
    if is_loopback(wanted.host):
        own = f"{shown_url(listening)}/#token={owner_token(settings.data_dir)}"
        click.echo(f"Open {own} in a browser: with this address, the pages have all rights.", err=True)
        if browser and _has_screen():
            webbrowser.open(opening_page(settings.data_dir, own).as_uri())
    with listening:
        if wanted.workers > 1:
            with sharing_metrics() as folder:
                _Workers(config, [listening], folder).run()
        else:
            uvicorn.Server(config).run(sockets=[listening])


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())


class _Workers(Multiprocess):
    """The worker processes, which share their metrics in a folder. A dead one is replaced at once."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], folder: Path) -> None:
        super().__init__(config, sockets)
        self._folder = folder

    def keep_subprocess_alive(self) -> None:
        """Replace processes that do not answer; the pipe to a dying process must have no other writer."""
        for process in self.processes:
            process.child_conn.close()
        super().keep_subprocess_alive()
        forget_dead(self._folder, [process.pid for process in self.processes if process.pid])


def server_config(settings: Settings) -> uvicorn.Config:
    """Return the configuration of uvicorn."""
    wanted = settings.server
    return uvicorn.Config(
        partial(_application, settings),
        factory=True,
        host=wanted.host,
        port=wanted.port,
        workers=wanted.workers,
        # h11 bounds the size of headers, which httptools does not.
        http=PatientProtocol,
        h11_max_incomplete_event_size=_MAX_HEADERS,
        ws="none",
        lifespan="on",
        log_config=dict(_LOGGING),
        access_log=False,
        server_header=False,
        proxy_headers=False,  # see `_application`
        timeout_worker_healthcheck=30,  # loading models may keep a process busy for longer than the usual 5
        timeout_graceful_shutdown=math.ceil(wanted.drain_seconds),
    )


def _application(settings: Settings) -> NotesPeer:
    """Return the service behind its proxies, whose addresses are noted before their headers are believed."""
    app: Any = RepliesToCutRequests(create_app(settings, on_startup=[_shorten_pauses]))
    if proxies := settings.server.trusted_proxies:
        app = ProxyHeadersMiddleware(app, list(proxies))
    return NotesPeer(app)


def _shorten_pauses() -> None:
    """Shorten the pauses of the event loop, once everything is loaded.

    Garbage collection skips the objects loaded so far, which are permanent: searching them takes 0.1 s. And
    threads that rank pages release the interpreter after 1 ms instead of 5, since the loop needs it after
    each system call. (https://docs.python.org/3/library/gc.html#gc.freeze,
    https://docs.python.org/3/library/sys.html#sys.setswitchinterval)
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.001)


async def _check(settings: Settings) -> str:
    """Describe who may ask; raises `InputError` if everyone could, even from other computers.

    The URLs are checked here, since a serving process would end with a traceback for an invalid one.
    """
    own = is_loopback(settings.server.host)
    url = store_url(settings.server.database_url.get_secret_value(), settings.data_dir)
    async with open_limiter(settings.server.redis_url.get_secret_value(), _LOG.warning):
        pass
    try:
        async with open_store(url) as store:
            count = await store.keys.count()
    except StoreError as error:
        click.echo(f"citewell: {error}", err=True)
        return "the database is not available yet; no question is answered without it"
    if settings.server.accounts:
        return f"API keys or accounts in {settings.server.account_header} are required"
    if count:
        return "API keys are required"
    if own:
        return "no API key is required, since only this computer can connect"
    raise InputError(
        f"Without API keys, the service only listens on this computer, not on {settings.server.host}.",
        "Create a key first, citewell keys create NAME, or let a proxy sign people in (server.accounts).",
    )
