"""The cache folder of the settings, for parts that are not given any settings."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from citewell.core.settings import CONFIG_VARIABLE, load_settings


def cache_folder() -> Path:
    """Return the cache folder of the settings.

    The settings are read again only when their file or the environment has changed: reading them takes
    10 ms, and each load of a model asks several times. Raises as `load_settings` does.
    """
    file = Path(os.environ.get(CONFIG_VARIABLE, "citewell.toml"))
    state: tuple[int, ...] = ()
    with suppress(OSError):
        stat = file.stat()
        state = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    return _read(frozenset(os.environ.items()), state)


@lru_cache(maxsize=1)
def _read(environment: frozenset[tuple[str, str]], state: tuple[int, ...]) -> Path:
    return load_settings().cache_dir.expanduser()
