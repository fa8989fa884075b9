"""What the service needs beside Citewell's own dependencies."""

from __future__ import annotations

import importlib.util

from core.errors import InputError

_SERVER = ("litestar", "uvicorn", "sqlalchemy", "alembic", "aiosqlite", "prometheus_client")
_TRACING = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def need_server_packages() -> None:
    """Raise `InputError` where a package of the extra `server` is not installed."""
    need_packages("The service", "server", *_SERVER)


def need_tracing_packages() -> None:
    """Raise `InputError` where a package of the extra `otel` is not installed."""
    need_packages("The setting server.otlp_endpoint", "otel", *_TRACING)


def need_packages(what: str, extra: str, *names: str) -> None:
    """Raise `InputError` where one of the packages `names` is not installed: `what` needs all of `extra`."""
    for name in names:
        if not _is_there(name):
            raise InputError(
                f"{what} needs the package {name}, which is not installed.",
                f"pip install 'citewell[{extra}]'",
            )


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package that holds it is missing too
        return False
