"""Lists of names on the command line, such as the systems of an evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.errors import InputError

_BEST_OF = re.compile(r"(?:([1-9]\d?)\*)?(\S.*)")


def read_list(text: str, what: str) -> list[str]:
    """Return the names that commas separate in the option `--WHATs`.

    Raises `InputError` for no name, and one that is named twice.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InputError(f"--{what}s names no {what}.", f"Name one with --{what}s.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"The {what} {twice!r} is named twice.", f"Name each {what} once.")
    return names


def choose_baseline(baseline: str | None, names: Sequence[str], what: str) -> str:
    """Return the baseline, by default the first name; raises `InputError` if it is not among the names."""
    if baseline is not None and baseline not in names:
        raise InputError(
            f"The baseline {baseline!r} is not among the {what}s.", f"Name one of: {', '.join(names)}."
        )
    return baseline or names[0]


def read_best_of(label: str) -> tuple[int, str]:
    """Return n and the name of `N*NAME`, the best of n answers or episodes of NAME; n is 1 without it."""
    found = _BEST_OF.fullmatch(label)
    assert found is not None, "a label of `read_list` is not empty"
    return int(found[1] or 1), found[2]
