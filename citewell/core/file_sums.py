"""The SHA-256 of files, remembered with their size and times of change, since large ones take seconds."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

_REMEMBERED = "sums.json"


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def current_sha256(file: Path, *, remembered: bool) -> str:
    """Return the SHA-256 of a file and remember it in the cache folder.

    With `remembered`, a file of the same size and times of change as when it was last read is not read again.
    One of these times is the system's own (`st_ctime`), which nobody can set back.
    """
    from citewell.core.cache_folder import cache_folder

    place = cache_folder() / _REMEMBERED
    stat = file.stat()
    state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    sums = _read(place)
    known = sums.get(str(file.resolve()))
    if remembered and isinstance(known, dict) and known.get("state") == state:
        return str(known.get("sha256"))
    found = file_sha256(file)
    _write(place, sums | {str(file.resolve()): {"state": state, "sha256": found}})
    return found


def _read(place: Path) -> dict[str, Any]:
    try:
        stat = place.stat()
        return _parse(place, (stat.st_ino, stat.st_size, stat.st_mtime_ns))
    except (OSError, ValueError):
        return {}


@lru_cache(maxsize=1)
def _parse(place: Path, state: tuple[int, ...]) -> dict[str, Any]:
    """Parse the remembered sums once for all files of a model, whose `state` on the disk is the same."""
    found = json.loads(place.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _write(place: Path, sums: dict[str, Any]) -> None:
    # A cache folder that cannot be written only costs the time of reading the file again.
    with suppress(OSError):
        sums = {file: one for file, one in sums.items() if os.access(file, os.F_OK)}
        place.parent.mkdir(parents=True, exist_ok=True)
        written = place.with_name(f"{place.name}.{os.getpid()}")
        written.write_text(json.dumps(sums), encoding="utf-8")
        written.replace(place)
