"""The journal of a run: its outcomes in the order of the tasks, as shards of JSON lines.

A line is complete once its line end is on the disk. A process that is killed while it writes leaves at most
the beginning of a line, which the next process cuts off. A published run has its shards gzipped: they are
complete, and what follows goes into new ones.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from citewell.bootstrap.types import Outcome
from citewell.core.errors import CitewellError, InputError

FOLDER = "outcomes"
_GZIPPED = ".gz"


class Journal:
    """The outcomes in a folder: `outcomes/00000.jsonl`, `outcomes/00001.jsonl` and so on."""

    def __init__(self, folder: Path, shard: int) -> None:
        """`folder` is that of the run; a shard has at most `shard` outcomes."""
        self.folder = folder / FOLDER
        self._shard = shard
        self._lines: int | None = None

    def shards(self) -> list[Path]:
        """Return the shards in order."""
        return sorted(self.folder.glob("[0-9]*.jsonl*"))

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the stored outcomes.

        Raises `InputError` for a damaged line, except a last one that was cut off.
        """
        decoder = msgspec.json.Decoder(Outcome)
        shards = self.shards()
        for shard in shards:
            with _reading(shard), gzip.open(shard) if _is_gzipped(shard) else shard.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if not line.endswith(b"\n") and shard == shards[-1]:
                        return
                    try:
                        yield decoder.decode(line)
                    except (msgspec.DecodeError, UnicodeDecodeError) as error:
                        raise InputError(
                            f"{shard}, line {number:,} is not an outcome: {error}.",
                            "Restore the file, or give another folder with --out.",
                        ) from error

    def repair(self) -> None:
        """Cut off an incomplete line at the end of the last shard."""
        for shard in self.shards()[-1:]:
            if _is_gzipped(shard):
                continue
            with shard.open("rb+") as file:
                content = file.read()
                whole = content.rfind(b"\n") + 1
                if whole < len(content):
                    file.truncate(whole)
                    os.fsync(file.fileno())

    def append(self, outcomes: Sequence[Outcome]) -> None:
        """Append outcomes; when this returns, they are on the disk.

        Raises `CitewellError` if the folder cannot be written, as on a full disk.
        """
        lines = [msgspec.json.encode(outcome) + b"\n" for outcome in outcomes]
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            while lines:
                shard, free = self._next_shard()
                now, lines = lines[:free], lines[free:]
                self._write(shard, now)

    def replace(self, outcomes: Mapping[str, Outcome]) -> None:
        """Replace the outcomes with the same keys; each shard is replaced atomically.

        Raises `CitewellError` if the folder cannot be written.
        """
        decoder = msgspec.json.Decoder(Outcome)
        for shard in self.shards() if outcomes else ():
            with _reading(shard):
                content = shard.read_bytes()
                content = gzip.decompress(content) if _is_gzipped(shard) else content
            lines = content.splitlines(keepends=True)
            found = [outcomes.get(decoder.decode(line).key) for line in lines]
            if not any(found):
                continue
            replaced = b"".join(
                msgspec.json.encode(outcome) + b"\n" if outcome else line
                for line, outcome in zip(lines, found, strict=True)
            )
            with writing(self.folder):
                partial = shard.with_name(f".{shard.name}.partial")
                with partial.open("wb") as file:
                    file.write(gzip.compress(replaced, mtime=0) if _is_gzipped(shard) else replaced)
                    file.flush()
                    os.fsync(file.fileno())
                partial.replace(shard)

    def _next_shard(self) -> tuple[Path, int]:
        """Return the shard that is written next, and how many lines fit into it."""
        shards = self.shards()
        number = int(shards[-1].name.partition(".")[0]) if shards else 0
        if self._lines is None and shards:
            is_full = _is_gzipped(shards[-1])
            self._lines = self._shard if is_full else shards[-1].read_bytes().count(b"\n")
        self._lines = self._lines or 0
        if self._lines >= self._shard:
            number, self._lines = number + 1, 0
        return self.folder / f"{number:05}.jsonl", self._shard - self._lines

    def _write(self, shard: Path, lines: Sequence[bytes]) -> None:
        is_new = not shard.exists()
        with shard.open("ab") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        self._lines = (self._lines or 0) + len(lines)
        if is_new:
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(folder)  # or the new file's name may be lost with the power
            finally:
                os.close(folder)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Raise `CitewellError` if a folder of outcomes cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        raise CitewellError(
            f"The outcomes in {folder} cannot be written: {error.strerror}.",
            "Free some space or check the permissions; then run the same command again.",
        ) from error


@contextmanager
def _reading(shard: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{shard} cannot be read: {error}.", "Restore the file, or give another folder with --out."
        ) from error


def _is_gzipped(shard: Path) -> bool:
    return shard.suffix == _GZIPPED
