"""Checks that the optional packages of the service are installed."""

from __future__ import annotations

from citewell.core.packages import need_packages

_SERVER = ("litestar", "uvicorn", "sqlalchemy", "alembic", "limits", "prometheus_client")
_TRACING = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def need_server_packages() -> None:
    """Raise `InputError` if a package of the extra `server` is not installed."""
    need_packages("The service", "server", *_SERVER)


def need_tracing_packages() -> None:
    """Raise `InputError` if a package of the extra `otel` is not installed."""
    need_packages("The setting server.otlp_endpoint", "otel", *_TRACING)


def need_mcp_packages() -> None:
    """Raise `InputError` if the package of the extra `mcp` is not installed."""
    need_packages("citewell mcp", "mcp", "mcp")
