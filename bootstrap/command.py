"""The command of a bootstrap, as its card shows it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.recipe import Recipe
from citewell.core.redact import published_address, published_name
from citewell.core.settings import Settings

# Settings that outcomes depend on: not API keys and time limits.
_DECISIVE = {
    "search": {"providers", "collection", "hits", "per_domain", "language", "country", "recency", "sites"},
    "retriever": {
        "encoder",
        "max_tokens",
        "prefilter",
        "reranker",
        "rerank",
        "rerank_weight",
        "min_relevance",
    },
    "generator": {"name", "base_url", "temperature", "seed", "frequency_penalty"},
}
_ADDRESS = "base_url"
_MODELS = {"name", "encoder", "collection", "reader"}


def decisive(settings: Settings) -> dict[str, Any]:
    """Return the settings on which outcomes depend, as plain values by section."""
    found = settings.model_dump(mode="json", include=_DECISIVE)
    found["generator"]["base_url"] = published_address(settings.generator.base_url)
    return found


def run_command(questions: Path, out: Path, started_with: Mapping[str, Any], dataset: DatasetConfig) -> str:
    """Return the command of a run in the folder `out`, with only the options that affect rows.

    `started_with` has the run's teacher, recipe and settings, as its `run.json` does.
    """
    usual = Settings.model_construct()  # without files and variables
    values = started_with["recipe"] | {"dataset": dataset.model_dump(mode="json")} | started_with["settings"]
    defaults = Recipe().model_dump(mode="json") | decisive(usual)
    return command(questions, started_with["teacher"], out, changes(values, defaults))


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
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    if key == _ADDRESS:
        return published_address(value)
    return published_name(value) if key in _MODELS else str(value)
