"""Folders of converted weights that are built once, each by a process of its own, and kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from citewell.core.errors import CitewellError, ModelError
from citewell.core.file_sums import current_sha256, file_sha256

SUMS = "citewell-sums.json"
"""In a built folder: the SHA-256 of each of its files."""

STEPS = ("verifying", "reading", "converting", "saving")

T = TypeVar("T")
OnStep = Callable[[str, str], None]
"""Called with `(model, step)` as each of `STEPS` begins."""

_NO_ROOM = (
    "Free some space (3 GB for a model of 1.5 billion weights), or set CITEWELL_CACHE_DIR to another folder."
)


def built(name: str, target: Path, command: Sequence[str], on_step: OnStep) -> Path:
    """Return the folder `target`, filled by `python -m *command FOLDER` if it does not exist yet.

    The process ends with the memory and the imports that a conversion takes; its `main` calls `fill`. Two
    processes that ask for the same folder build it once: the second waits. An interrupted build starts over,
    and so does one whose files have changed since, by their SHA-256.
    Raises `ModelError` with the message of the process, and if the folder cannot be written. `name` is the
    model's, for messages and for `on_step`.
    """
    from filelock import FileLock

    try:
        if target.is_dir() and not changed_files(target):
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f"{target.name}.lock")):
            if target.is_dir() and changed_files(target):
                shutil.rmtree(target)
            if not target.is_dir():
                partial = target.with_name(f"{target.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                try:
                    _run(name, [*command, str(partial)], on_step)
                except ModelError:
                    shutil.rmtree(partial, ignore_errors=True)
                    raise
                write_sums(partial)
                partial.rename(target)
    except OSError as error:
        raise ModelError(
            f"The converted weights of {name} cannot be kept in {target.parent}: {error.strerror}.", _NO_ROOM
        ) from error
    return target


def changed_files(folder: Path) -> list[str]:
    """Return the files of a built folder that are missing, added or not as they were built, by their names.

    A folder of an older version, without the sums of its files, gets those of what it holds now.
    """
    place = folder / SUMS
    if not place.is_file():
        with suppress(OSError):  # a folder that cannot be written is used as it is
            write_sums(folder)
        return []
    try:
        sums = dict(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return [SUMS]
    added = sorted(_files(folder).keys() - sums.keys() - {SUMS})
    return [name for name, expected in sums.items() if _sum(folder / name) != expected] + added


def write_sums(folder: Path) -> None:
    """Write the sums of the files that a folder has now."""
    sums = {name: file_sha256(file) for name, file in _files(folder).items()}
    (folder / SUMS).write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")


def is_kept(place: Path) -> bool:
    """Return whether `keep` filled a folder, whose files are still those of that time."""
    return (place / SUMS).is_file() and not changed_files(place)


def keep(place: Path, fill: Callable[[Path], T]) -> T:
    """Let `fill` fill a new folder, which takes the place of an earlier one, and return its result.

    If another process is faster, its folder stays. Raises `OSError`, such as for a full disk.
    """
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=place.parent, suffix=".partial", ignore_cleanup_errors=True
    ) as folder:
        made = Path(folder) / "made"
        made.mkdir()
        found = fill(made)
        with suppress(OSError):  # another process was faster
            write_sums(made)
            made.rename(place)
    return found


def _files(folder: Path) -> dict[str, Path]:
    return {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}


def _sum(file: Path) -> str:
    return current_sha256(file, remembered=True) if file.is_file() else ""


def _run(name: str, command: Sequence[str], on_step: OnStep) -> None:
    # -P: a folder `citewell` in the user's working directory must not stand in for ours.
    program = [sys.executable, "-P", "-m", *command]
    error = None
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(program, stdout=subprocess.PIPE, stderr=log, text=True) as process,  # noqa: S603
    ):
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if step := message.get("step"):
                on_step(name, step)
            else:
                error = ModelError(message["error"], message["hint"])
        process.wait()
        log.seek(0)
        lines = log.read().split("\n")
    if error is not None:
        raise error
    if process.returncode != 0:
        last = next((line for line in reversed(lines) if line.strip()), "no message")
        raise ModelError(
            f"Converting the weights of {name} failed: {last}",
            "Run `citewell doctor` to see what is installed and what is missing.",
        )


def fill(name: str, target: Path, convert: Callable[[Path], None]) -> int:
    """Fill the new folder `target` in the process that `built` started; returns its exit code.

    Steps and errors go to standard output, one JSON object a line.
    """
    target.mkdir(parents=True)
    try:
        convert(target)
    except CitewellError as error:
        _tell(error=error.message, hint=error.hint)
        return 1
    except OSError as error:
        _tell(error=f"The converted weights of {name} cannot be written: {error.strerror}.", hint=_NO_ROOM)
        return 1
    return 0


def begin(step: str) -> None:
    """Report that a step begins, in the process that `built` started."""
    _tell(step=step)


def _tell(**message: str) -> None:
    sys.__stdout__.write(json.dumps(message) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]
