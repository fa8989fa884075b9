"""The folder of a run: its contents before, during and after training."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from filelock import FileLock, Timeout

from citewell.core.errors import InputError
from citewell.core.training.card import DataFile

CHECKPOINTS = "checkpoints"
CONFIG = "run.json"
_DATA = "data.json"  # beside the checkpoints
_PARTIAL = "partial"
_LOCK = "lock"
_OTHER = "or choose another folder with --out."


@contextmanager
def open_folder(folder: Path, config: str, files: Sequence[DataFile], *, done: str) -> Iterator[None]:
    """Create the folder of a run, or resume the interrupted run in it; other processes are kept out.

    `config` is the recipe with all defaults, `files` are its data, and `done` is the name of a file that only
    the folder of a trained model has. Nothing is ever overwritten: raises `InputError` for a folder with a
    trained model, with a run of another recipe or other data, or with anything else.
    """
    if (folder / done).exists():
        raise InputError(f"{folder} holds a trained model already.", "Choose another folder with --out.")
    started = folder / CONFIG
    data = _sums(files)
    if started.is_file():
        _check(folder, config, data)
    elif folder.is_dir() and not _is_unused(folder):
        raise InputError(f"{folder} is not empty, and holds no run.", "Choose another folder with --out.")
    lock = FileLock(folder / _LOCK, blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise InputError(f"Another process is training in {folder}.", f"Wait for it, {_OTHER}") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        if not started.is_file():
            (folder / CHECKPOINTS).mkdir(exist_ok=True)
            (folder / CHECKPOINTS / _DATA).write_text(json.dumps(data), encoding="utf-8")
            # The file appears at once and whole, after the sums of the data.
            begun = folder / CHECKPOINTS / CONFIG
            begun.write_text(config + "\n", encoding="utf-8")
            begun.rename(started)
        yield
    finally:
        lock.release()
        (folder / _LOCK).unlink(missing_ok=True)


def new_folder(folder: Path, option: str = "--out") -> None:
    """Create the folder of a model that is written at once, which `option` names.

    Raises `InputError` if it is not empty, or cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty.", f"Choose another folder with {option}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error


def finish(folder: Path, write: Callable[[Path], None], *, done: str) -> None:
    """Have `write` write the model into a folder, move it into place, and remove the checkpoints.

    The file `done`, which marks a trained model, is moved last: a run that is killed in between is resumed.
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


def _sums(files: Sequence[DataFile]) -> dict[str, str]:
    """Return the SHA-256 of each file by its use, source and name; files of one name are numbered."""
    sums: dict[str, str] = {}
    for file in files:
        key, number = f"{file.use} {file.source} {file.name}", 1
        while (numbered := key if number == 1 else f"{key} ({number})") in sums:
            number += 1
        sums[numbered] = file.sha256
    return sums


def _is_unused(folder: Path) -> bool:
    """Return whether a folder holds nothing but what a run makes before it starts."""
    first = {_LOCK, CHECKPOINTS}
    begun = folder / CHECKPOINTS
    return {path.name for path in folder.iterdir()} <= first and (
        not begun.is_dir() or {path.name for path in begun.iterdir()} <= {_DATA, CONFIG}
    )


def difference(before: object, now: object, name: str = "") -> str:
    """Return the first key that differs between two JSON values, such as `data.files`, or ""."""
    if isinstance(before, dict) and isinstance(now, dict):
        for each in dict.fromkeys([*before, *now]):
            if found := difference(before.get(each), now.get(each), f"{name}.{each}" if name else each):
                return found
        return ""
    return "" if before == now else name


def _check(folder: Path, config: str, data: dict[str, str]) -> None:
    if changed := difference(_read(folder / CONFIG), json.loads(config)):
        raise InputError(
            f"The interrupted run in {folder} has another recipe: {changed} differs.",
            f"Change it back to resume the run, {_OTHER}",
        )
    kept = folder / CHECKPOINTS / _DATA
    if kept.is_file() and (changed := difference(_read(kept), data)):
        name = changed.split(" ", 2)[-1]
        raise InputError(
            f"The data of the interrupted run in {folder} changed since: {name} differs.",
            f"Restore the file to resume the run, {_OTHER}",
        )


def _read(file: Path) -> object:
    return json.loads(file.read_text(encoding="utf-8"))
