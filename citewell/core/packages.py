"""Packages that only some uses of Citewell need."""

from __future__ import annotations

import importlib.util

from citewell.core.errors import InputError


def need_packages(what: str, extra: str, *modules: str) -> None:
    """Raise `InputError` where one of the modules is not installed: `what` needs all of them.

    The extra of Citewell's own package that brings them is named in the hint.
    """
    for name in modules:
        if not _is_there(name):
            raise InputError(
                f"{what} needs the package {name.replace('_', '-')}, which is not installed.",
                f"pip install 'citewell[{extra}]'",
            )


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package that holds it is missing too
        return False
