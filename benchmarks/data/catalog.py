"""The catalog of data sets, `catalog.toml`: their origins, licenses, files and sums."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from citewell.core.errors import InputError

CATALOG = Path(__file__).parent / "catalog.toml"


@dataclass(frozen=True)
class ConvertedFile:
    """A file of a data set below the folder of data; the SHA-256 is that of its content before gzip."""

    path: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Original:
    """A file as its origin publishes it; `sha256` is empty where only the converted content is known."""

    path: str
    url: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A public data set.

    `converter` names the function that makes `files` of `originals`; without one, the files are to be
    obtained by hand, and `by_hand` says why. `consent` says why somebody must agree first. `compared` says
    what of the converter's output was compared with data of the original's form, and `tried` whether the
    whole was downloaded.
    """

    name: str
    origin: str
    license: str
    files: tuple[ConvertedFile, ...]
    originals: tuple[Original, ...] = ()
    converter: str = ""
    by_hand: str = ""
    consent: str = ""
    tried: bool = False
    compared: str = ""
    used_by: tuple[str, ...] = ()


def read_catalog(file: Path = CATALOG) -> dict[str, DataSet]:
    """Return the data sets of a catalog by their names."""
    with file.open("rb") as content:
        return {name: _data_set(name, entry) for name, entry in tomllib.load(content).items()}


def known_sets(names: list[str], sets: Mapping[str, DataSet]) -> list[DataSet]:
    """Return the data sets with these names, `all` for all of them; raises `InputError` for other names."""
    chosen = []
    for name in sets if "all" in names else names:
        if name not in sets:
            close = difflib.get_close_matches(name, sets, n=1, cutoff=0.3)
            hint = f"Did you mean {close[0]}? " if close else ""
            raise InputError(
                f"Unknown data set {name!r}.", f"{hint}`python -m benchmarks.data list` lists them."
            )
        chosen.append(sets[name])
    return chosen


def _data_set(name: str, entry: dict[str, Any]) -> DataSet:
    urls, sums = entry.get("urls", {}), entry.get("sums", {})
    originals = tuple(
        Original(path, urls.get(path, entry["url"]).replace("{path}", quote(path)), sums.get(path, ""))
        for path in entry.get("originals", ())
    )
    return DataSet(
        name=name,
        origin=entry["origin"],
        license=entry["license"],
        files=tuple(ConvertedFile(**each) for each in entry["files"]),
        originals=originals,
        converter=entry.get("converter", ""),
        by_hand=entry.get("by_hand", ""),
        consent=entry.get("consent", ""),
        tried=entry.get("tried", False),
        compared=entry.get("compared", ""),
        used_by=tuple(entry.get("used_by", ())),
    )
