"""The command of a bootstrap, as its card shows it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citewell.core.redact import published_address, published_name

_ADDRESS = "base_url"
_MODELS = {"name", "encoder", "collection", "reader"}


def command(questions: Path, teacher: str, out: Path, changed: Mapping[str, Any]) -> str:
    """Return the command that makes the same data set from the same files; on several lines if it is long.

    `changed` are the keys of the recipe and the settings, by dotted name, that decide outcomes and differ
    from the defaults. Files and folders are shown by their names; keys of services are not shown.
    """
    given = ["--questions", published_name(str(questions)), "--teacher", published_name(teacher)]
    return _command([*given, "--out", _name(out)], changed)


def refilter_command(source: Path, out: Path, changed: Mapping[str, Any]) -> str:
    """Return the command that makes the same data set from the run in `source`, as `command` does."""
    return _command(["refilter", _name(source), "--out", _name(out)], changed)


def _command(words: Sequence[str], changed: Mapping[str, Any]) -> str:
    lines = [shlex.join(["citewell", "bootstrap", *words])]
    lines += [f"--set {shlex.quote(f'{name}={_shown(name, value)}')}" for name, value in changed.items()]
    return " \\\n    ".join(lines)


def changes(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by section and key that differ from the defaults, by dotted name."""
    return {
        f"{section}.{key}": value
        for section, keys in values.items()
        for key, value in keys.items()
        if value != defaults[section][key]
    }


def _name(folder: Path) -> str:
    return published_name(str(folder.absolute()))


def _shown(name: str, value: Any) -> str:
    key = name.rpartition(".")[2]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    if key == _ADDRESS:
        return published_address(value)
    return published_name(value) if key in _MODELS else str(value)
