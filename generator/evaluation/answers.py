"""The answers of generators in a file, so that an interrupted evaluation can resume."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from citewell.core.errors import CitewellError
from citewell.core.jsonl import Line
from citewell.core.row_log import RowLog
from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSentence


@dataclass(frozen=True)
class GeneratedAnswer:
    """A generator's answer to one row, and the `seconds` that it took.

    `raw` is the text as the generator wrote it, in `markdown` or not, with its own marks; `sentences` are
    those that users see, with corrected marks, and empty if no evidence was found. `references` are what it
    was written from. `error` explains a missing answer.
    """

    raw: str = ""
    sentences: tuple[MarkedSentence, ...] = ()
    seconds: float = 0.0
    error: str = ""
    references: tuple[Reference, ...] = ()
    markdown: bool = False

    @property
    def text(self) -> str:
        """The text that users see, without marks."""
        return " ".join(sentence.text for sentence in self.sentences)


_MOST_FAILURES = 10  # one after another


class Asked(Protocol):
    """A row of an evaluation; no two rows have the same key."""

    @property
    def key(self) -> str:
        """Identifies the row."""
        ...

    @property
    def question(self) -> str:
        """The question to answer."""
        ...


Row = TypeVar("Row", bound=Asked)

Write = Callable[[Row], Awaitable[GeneratedAnswer]]
"""A function that answers a row."""

OnProgress = Callable[[int, int], object]
"""Called with the number of answered rows and of all rows."""


class AnswerFile:
    """The answers of several generators in one file of JSON lines, each appended when it is written.

    An answer belongs to a row and to the identity of its generator: after a change of settings or weights, a
    generator answers again.
    """

    def __init__(self, file: Path) -> None:
        """Read the file, if it exists, and drop an incomplete last line.

        Raises `InputError` if the file contains something else.
        """
        self._log = RowLog(file)
        self._found: dict[tuple[str, str], GeneratedAnswer] = {}
        for line in self._log.lines:
            self._read(line)

    def _read(self, line: Line) -> None:
        try:
            row = msgspec.json.decode(line.text)
            self._found[row["identity"], row["key"]] = msgspec.convert(row, GeneratedAnswer)
        except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
            raise line.error(
                "this is not an answer of an evaluation.",
                "Remove the file, or write to another one with --json.",
            ) from error

    async def complete(
        self,
        name: str,
        identity: str,
        rows: Sequence[Row],
        write: Write[Row],
        on_progress: OnProgress,
        *,
        together: int = 1,
    ) -> dict[str, GeneratedAnswer]:
        """Return the answers of the generator `name` to all rows, by key; missing ones are written.

        `together` is how many are written at a time. A failed row gets an answer with the error, and is tried
        again next time. Raises `CitewellError` after ten failures in a row.
        """
        waiting = [row for row in rows if self._is_missing(identity, row)]
        done, failed = len(rows) - len(waiting), 0
        on_progress(done, len(rows))
        async with aclosing(_as_written(waiting, write, together)) as answers:
            async for row, written in answers:
                self._store(name, identity, row, written)
                failed = failed + 1 if written.error else 0
                if failed == _MOST_FAILURES:
                    raise CitewellError(
                        f"{name} failed on {failed} rows in a row, the last time because: {written.error}",
                        "Fix that, then run the same command again: with --json, it resumes.",
                    )
                done += 1
                on_progress(done, len(rows))
        return {row.key: self._found[identity, row.key] for row in rows}

    def missing(self, identity: str, rows: Iterable[Asked]) -> int:
        """Return how many rows a generator has not answered yet."""
        return sum(self._is_missing(identity, row) for row in rows)

    def _is_missing(self, identity: str, row: Asked) -> bool:
        known = self._found.get((identity, row.key))
        return known is None or bool(known.error)

    def _store(self, name: str, identity: str, row: Asked, written: GeneratedAnswer) -> None:
        self._found[identity, row.key] = written
        about = {"generator": name, "identity": identity, "key": row.key, "question": row.question}
        self._log.append(about | asdict(written))


async def _as_written(
    rows: Iterable[Row], write: Write[Row], together: int
) -> AsyncGenerator[tuple[Row, GeneratedAnswer], None]:
    """Yield rows with their answers as they are written, so many at a time."""
    left, writing = iter(rows), set[asyncio.Task[tuple[Row, GeneratedAnswer]]]()
    try:
        while True:
            begun = islice(left, together - len(writing))
            writing |= {asyncio.create_task(_written(row, write)) for row in begun}
            if not writing:
                return
            done, writing = await asyncio.wait(writing, return_when=asyncio.FIRST_COMPLETED)
            for answer in done:
                yield await answer
    finally:
        for answer in writing:
            answer.cancel()
        await asyncio.gather(*writing, return_exceptions=True)


async def _written(row: Row, write: Write[Row]) -> tuple[Row, GeneratedAnswer]:
    try:
        return row, await write(row)
    except CitewellError as error:
        return row, GeneratedAnswer(error=str(error))
    except (RuntimeError, ValueError, OSError) as error:
        # A runtime's error on one prompt, such as a lack of memory, must not lose the other answers.
        return row, GeneratedAnswer(error=f"{type(error).__name__}: {error}")
