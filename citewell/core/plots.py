"""Shared by all plots."""

from __future__ import annotations

from citewell.core.packages import need_packages


def check_plots() -> None:
    """Raise `InputError` if matplotlib is not installed."""
    need_packages("A plot", "eval", "matplotlib")
