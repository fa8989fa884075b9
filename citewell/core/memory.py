"""The memory of this computer or container, compared with what a model needs before it is loaded."""

from __future__ import annotations

from pathlib import Path

from citewell.core.errors import ModelError

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


class MemoryTooSmallError(ModelError):
    """A model needs more memory than is available."""


def check_memory(name: str, needed: int) -> None:
    """Raise `MemoryTooSmallError` if the model `name` needs more bytes of memory than are available."""
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryTooSmallError(
            f"The model {name} needs about {needed / 1e9:.1f} GB of memory; {available / 1e9:.1f} GB are "
            "available.",
            "Close other programs, use a smaller model of `citewell models`, or --generator extractive.",
        )


def language_model_memory(weights: int, *, converting: bool = False) -> int:
    """Return the bytes of memory that a language model with so many bytes of weights in OpenVINO needs.

    With 1.81 GB of weights, a process that had read a prompt held 2.0 GB, and the conversion of the GGUF file
    2.7 GB.
    """
    return int((1.3 if converting else 1.0) * weights) + 300_000_000


def available_memory(meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int | None:
    """Return the bytes that a program can still use, in a container at most what is left of its limit.

    None where the system does not tell (it does on Linux).
    """
    found = []
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        pass
    try:
        limit = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        used = int((cgroup / "memory.current").read_text(encoding="ascii"))
        stat = dict(
            line.split() for line in (cgroup / "memory.stat").read_text(encoding="ascii").splitlines()
        )
        if limit != "max":
            found.append(int(limit) - used + int(stat.get("inactive_file", 0)))  # cached files can go
    except (OSError, ValueError):
        pass
    return min(found, default=None)
