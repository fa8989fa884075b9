"""The one OpenVINO runtime of the process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from citewell.core.build_cache import SUMS, is_kept, keep

if TYPE_CHECKING:
    from openvino import CompiledModel, Core

_LOCK = Lock()


def openvino_core() -> Core:
    """Return the runtime that compiles all models of this process.

    Its CPU plugin gives the calling thread a stack for signal handlers, and takes it back at its end. If two
    of them end in the order of their creation, the thread keeps the freed stack of the first, and the next
    signal that Python handles ends the process with a segmentation fault. So there is only one.
    """
    with _LOCK:
        return _create()


@cache
def _create() -> Core:
    import openvino

    return openvino.Core()


def compiled_model(file: Path, options: Mapping[str, Any]) -> CompiledModel:
    """Return the model of an .xml file, compiled for the CPU, which all who ask for it share.

    The last four are kept, as many as an answer needs: a program that opens one pipeline after the other
    waits once. The compiled form of a model that Citewell converted is kept on the disk, too. Raises
    `RuntimeError`, as the library does, for a file that is missing or damaged.
    """
    states = []
    for part in (file, file.with_suffix(".bin")):
        try:
            stat = part.stat()
        except OSError:
            continue
        states.append((stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
    return _compile(str(file), tuple(sorted(options.items())), tuple(states))


@lru_cache(maxsize=4)
def _compile(file: str, options: tuple[tuple[str, Any], ...], states: tuple[object, ...]) -> CompiledModel:
    place = _place(Path(file), hashlib.sha256(repr((options, states)).encode()).hexdigest()[:16])
    if place is not None:
        with suppress(OSError, RuntimeError):  # such as a full disk
            return _compile_kept(file, dict(options), place)
    return openvino_core().compile_model(file, "CPU", dict(options))


def _place(file: Path, key: str) -> Path | None:
    """Return where the compiled form of a model in a built folder is kept, beside it; None for others."""
    built = next((folder for folder in file.parents[:2] if (folder / SUMS).is_file()), None)
    return None if built is None else built.with_name(f"{built.name}.compiled") / key


def _compile_kept(file: str, options: dict[str, Any], place: Path) -> CompiledModel:
    """Compile a model, or read what an earlier process compiled if its sums are still those of that time.

    Reading takes a quarter of the time. The weights stay in the model's own file. The library compiles again
    if the form is from another version of it.
    """
    core, options = openvino_core(), options | {"CACHE_MODE": "OPTIMIZE_SIZE"}

    def compiled(folder: Path) -> CompiledModel:
        return core.compile_model(file, "CPU", options | {"CACHE_DIR": str(folder)})

    return compiled(place) if is_kept(place) else keep(place, compiled)
