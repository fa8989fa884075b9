"""The one OpenVINO runtime of the process."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openvino import Core

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
