"""The folder that a run writes: what it holds before, while and after the model is trained."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from citewell.core.errors import InputError

CHECKPOINTS = "checkpoints"
CONFIG = "run.json"
_PARTIAL = "partial"


def open_folder(folder: Path, config: str, *, done: str, resume: bool) -> None:
    """Make the folder of a run, or check that the run in it can be taken up.

    `config` is the resolved configuration, which is kept there, and `done` the name of a file that only a
    trained model has. Raises `InputError` where a model is there
    already, where a run of another configuration is, where a run would be lost without `resume`, and where
    the folder is of something else: nothing is ever overwritten.
    """
    if (folder / done).exists():
        raise InputError(f"{folder} holds a trained model already.", "Give another folder with --out.")
    kept = folder / CONFIG
    if kept.is_file():
        if not resume:
            raise InputError(
                f"{folder} holds a run that was interrupted.",
                "Go on with it by --resume, or give another folder with --out.",
            )
        if changed := difference(json.loads(kept.read_text(encoding="utf-8")), json.loads(config)):
            raise InputError(
                f"The run in {folder} was started with another configuration: {changed} was different.",
                "Change it back, or give another folder with --out.",
            )
        return
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty, and holds no run.", "Give another folder with --out.")
    try:
        (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        kept.write_text(config + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error


def finish(folder: Path, write: Callable[[Path], None], *, done: str) -> None:
    """Have `write` write the model into a folder, move it into place, and remove the checkpoints.

    The file `done`, which says that a model is there, is moved last: a run that ends in between is taken up
    again.
    """
    partial = folder / _PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    write(partial)
    for path in sorted(partial.iterdir(), key=lambda path: path.name == done):
        target = folder / path.name
        if target.is_dir():
            shutil.rmtree(target)
        path.rename(target)
    partial.rmdir()
    shutil.rmtree(folder / CHECKPOINTS)


def difference(before: object, now: object, name: str = "") -> str:
    """The name of the first key that differs between two JSON values, as in `data.files`, or nothing."""
    if isinstance(before, dict) and isinstance(now, dict):
        for each in dict.fromkeys([*before, *now]):
            if found := difference(before.get(each), now.get(each), f"{name}.{each}" if name else each):
                return found
        return ""
    return "" if before == now else name
