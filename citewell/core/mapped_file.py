"""The memory of files that a library has mapped."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DONTNEED = 4  # MADV_DONTNEED of madvise(2), on Linux
_SECONDS = 0.1


@contextmanager
def pages_released(file: Path) -> Iterator[None]:
    """Give the pages of a mapped file back to the system while the block runs, and at its end.

    OpenVINO copies a model's weights into the order that its kernels read, and leaves the file mapped:
    without this, a process holds them twice. Does nothing on other systems than Linux.
    """
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(_SECONDS):
            release_pages(file)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        release_pages(file)


def release_pages(file: Path) -> None:
    """Give the pages of a mapped file back to the system, on Linux; what is read again comes from it."""
    if not sys.platform.startswith("linux"):
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    name = str(file.resolve())
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        span, rights, *_ = line.split(maxsplit=5)
        # Only where nothing can have been written: such pages would be lost.
        if line.endswith(f" {name}") and "w" not in rights:
            start, end = (int(part, 16) for part in span.split("-"))
            madvise(start, end - start, _DONTNEED)
