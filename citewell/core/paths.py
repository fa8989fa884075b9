"""Default folders: of the cache, which can be deleted, and of data, which cannot be restored."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import platformdirs


def cache_dir() -> Path:
    """Return the folder of files that can be rebuilt, such as converted weights."""
    return platformdirs.user_cache_path("citewell", appauthor=False)


def data_dir() -> Path:
    """Return the folder of what the user created, such as collections."""
    return platformdirs.user_data_path("citewell", appauthor=False)


def make_private_folder(folder: Path) -> None:
    """Create a folder that its user alone can enter, and its parents.

    One that exists in the default folder of data is closed to other users if this user owns it. Elsewhere it
    stays as it is: whoever named it may share it. Raises `OSError` if it cannot be created,
    `NotADirectoryError` if it is a file.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from error
    if is_open_to_others(folder) and _is_ours(folder):
        folder.chmod(0o700)


def is_open_to_others(folder: Path) -> bool:
    """Return whether other users of the computer have rights on a folder; on Windows, this is not known."""
    return os.name == "posix" and bool(folder.stat().st_mode & 0o077)


def _is_ours(folder: Path) -> bool:
    is_default = folder.absolute().is_relative_to(data_dir())
    return is_default and folder.stat().st_uid == os.geteuid()
