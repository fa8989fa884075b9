"""The token of the owner: who reads it from the data folder has all rights on the computer itself."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from citewell.core.errors import SettingsError
from citewell.core.paths import make_private_folder

_FORM = re.compile(r"cw_owner_[A-Za-z0-9_-]{43}", re.ASCII)
_OWN = 0o600


def owner_token(data_dir: Path) -> str:
    """Return the token in the data folder, created if there is none that only its user can read.

    It has 256 random bits. Raises `SettingsError` if the folder cannot be written.
    """
    file = data_dir / "owner-token"
    try:
        make_private_folder(data_dir)
        for _ in range(2):
            if file.is_file() and not (os.name == "posix" and file.stat().st_mode & 0o077):
                token = file.read_text(encoding="utf-8").strip()
                if _FORM.fullmatch(token):
                    return token
            # Processes that start at once each write a whole file; the last one is read by all.
            new = data_dir / f"owner-token.{os.getpid()}"
            with open(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, _OWN), "w") as opened:  # noqa: PTH123
                opened.write(f"cw_owner_{secrets.token_urlsafe(32)}\n")
            new.replace(file)
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(
            f"The data folder {data_dir} is not writable: {error.strerror}.",
            "Set CITEWELL_DATA_DIR to a writable folder.",
        ) from error


def opening_page(data_dir: Path, address: str) -> Path:
    """Return a file that leads a browser to `address`, so that no list of processes shows the token."""
    page = data_dir / "open.html"
    page.unlink(missing_ok=True)
    with open(os.open(page, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWN), "w") as opened:  # noqa: PTH123
        opened.write(
            f'<!doctype html><title>Citewell</title><meta http-equiv="refresh" content="0;{address}">'
        )
    return page
