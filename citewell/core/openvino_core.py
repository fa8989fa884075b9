"""The one OpenVINO runtime of the process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

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
    waits once. Raises `RuntimeError`, as the library does, for a file that is missing or damaged.
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
    return openvino_core().compile_model(file, "CPU", dict(options))
