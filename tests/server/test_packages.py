"""What the service needs is installed where its tests run."""

from __future__ import annotations

from citewell.server.packages import need_server_packages, need_tracing_packages


def test_nothing_is_missing_here() -> None:
    need_server_packages()
    need_tracing_packages()
