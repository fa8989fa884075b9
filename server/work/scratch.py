"""Temporary folders, which tell whose they are, so that those of killed processes are found and removed."""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from citewell.server.store.owners import is_running


def scratch_prefix(kind: str) -> str:
    """Return how the name of a temporary folder of this process begins."""
    return f"citewell-{kind}-{_host()}-{os.getpid()}-"


def scratch_folder(kind: str) -> Path:
    """Make a temporary folder that this user alone can enter; the caller removes it."""
    return Path(tempfile.mkdtemp(prefix=scratch_prefix(kind)))


def remove_left_folders() -> None:
    """Remove the temporary folders that processes of this user and computer left when they were killed."""
    if os.name != "posix":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"citewell-*-{_host()}-*-*"):
        found = re.fullmatch(rf"citewell-[a-z]+-{re.escape(_host())}-(\d+)-\w+", folder.name)
        with suppress(OSError):
            status = folder.lstat()
            is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if found and is_own and not is_running(int(found[1])):
                shutil.rmtree(folder, ignore_errors=True)


def _host() -> str:
    return re.sub(r"[^\w.]", "_", socket.gethostname())
