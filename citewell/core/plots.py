"""What all plots share."""

from __future__ import annotations

from citewell.core.packages import need_packages


def check_plots() -> None:
    """Raise `InputError` without the package matplotlib."""
    need_packages("A plot", "eval", "matplotlib")
