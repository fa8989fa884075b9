"""Confinement of a process that reads hostile pages, as far as the operating system supports it.

Linux supports all of it. macOS enforces no memory limit and has no namespaces; Windows supports none of it.
There, only the parent's time limit, the clean environment and the typed messages protect.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_OPEN_FILES = 32  # enough to open modules and codecs that are imported late
_CLONE_NEWUSER = 0x10000000  # these three from Linux' <sched.h> and <sys/prctl.h>
_CLONE_NEWNET = 0x40000000
_PR_SET_NO_NEW_PRIVS = 38


def confine(memory_bytes: int) -> None:
    """Restrict this process for the rest of its life.

    It can take at most `memory_bytes` of address space more than it has, write to no file, leave no core
    dump, start no process (root can), and, where namespaces are allowed, reach no network.
    """
    if sys.platform == "linux":
        _leave_network()
    if sys.platform == "win32":
        return
    import resource

    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_NPROC: 0,
    }
    if sys.platform == "linux":
        limits[resource.RLIMIT_AS] = memory().space + memory_bytes
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (most, most))


class Memory(NamedTuple):
    """The address space of a process and the part of it that is resident in memory, in bytes."""

    space: int
    resident: int


def memory() -> Memory:
    """Return the memory that this process uses; zeros on a system without /proc."""
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return Memory(0, 0)
    space, resident, *_ = statistics.read_text().split()
    page = os.sysconf("SC_PAGE_SIZE")
    return Memory(int(space) * page, int(resident) * page)


def give_memory_back() -> None:
    """Give free memory back to the system, which the C library of Linux rarely does by itself."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Let the system end this process when the block takes longer, even inside a C library.

    The parent enforces the limit too; this covers a process whose parent is gone.
    """
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _leave_network() -> None:
    """Move to a network namespace without interfaces, and forbid programs that gain privileges.

    An ordinary user needs a user namespace for that, which some systems forbid: then the network stays.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.unshare(_CLONE_NEWNET if os.geteuid() == 0 else _CLONE_NEWUSER | _CLONE_NEWNET)
