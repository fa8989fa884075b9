"""The answers of generators in a file, so that an interrupted evaluation can resume."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from citewell.core.errors import CitewellError, InputError
from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.rows import EvaluationRow


@dataclass(frozen=True)
class GeneratedAnswer:
    """A generator's answer to one row, and the `seconds` that it took.

    `raw` is the text as the generator wrote it, with its own marks; `sentences` are those that users see,
    with corrected marks, and empty if no evidence was found. `error` says why there is no answer.
    """

    raw: str = ""
    sentences: tuple[MarkedSentence, ...] = ()
    seconds: float = 0.0
    error: str = ""


_MOST_FAILURES = 10  # one after another

Write = Callable[[str, Sequence[Reference]], Awaitable[GeneratedAnswer]]
"""A function that answers a question from numbered references."""

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
        self._file = file
        self._found: dict[tuple[str, str], GeneratedAnswer] = {}
        if not file.exists():
            return
        lines = file.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines[:-1], 1):
            self._read(line, number)
        if lines[-1]:
            file.write_text("".join(f"{line}\n" for line in lines[:-1]), encoding="utf-8")

    def _read(self, line: str, number: int) -> None:
        try:
            row = json.loads(line)
            sentences = tuple(MarkedSentence(text, tuple(marks)) for text, marks in row["sentences"])
            written = GeneratedAnswer(row["raw"], sentences, row["seconds"], row["error"])
            self._found[row["identity"], row["key"]] = written
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self._file}, line {number:,}: this is not an answer of an evaluation.",
                "Remove the file, or write to another one with --json.",
            ) from error

    async def complete(
        self, name: str, identity: str, rows: Sequence[EvaluationRow], write: Write, on_progress: OnProgress
    ) -> dict[str, GeneratedAnswer]:
        """Return the answers of the generator `name` to all rows, by key; missing ones are written.

        A failed row gets an answer with the error, and is tried again next time. Raises `CitewellError` after
        ten failures in a row.
        """
        failed = 0
        for done, row in enumerate(rows, 1):
            known = self._found.get((identity, row.key))
            if known is None or known.error:
                written = await _written(row, write)
                self._store(name, identity, row, written)
                failed = failed + 1 if written.error else 0
                if failed == _MOST_FAILURES:
                    raise CitewellError(
                        f"{name} failed on {failed} rows in a row, the last time because: {written.error}",
                        "Fix that, then run the same command again: with --json, it resumes.",
                    )
            on_progress(done, len(rows))
        return {row.key: self._found[identity, row.key] for row in rows}

    def missing(self, identity: str, rows: Iterable[EvaluationRow]) -> int:
        """Return how many rows a generator has not answered yet."""
        answers = (self._found.get((identity, row.key)) for row in rows)
        return sum(answer is None or bool(answer.error) for answer in answers)

    def _store(self, name: str, identity: str, row: EvaluationRow, written: GeneratedAnswer) -> None:
        self._found[identity, row.key] = written
        about = {"generator": name, "identity": identity, "key": row.key, "question": row.question}
        line = json.dumps(about | asdict(written), ensure_ascii=False)
        with self._file.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())


async def _written(row: EvaluationRow, write: Write) -> GeneratedAnswer:
    try:
        return await write(row.question, row.references)
    except CitewellError as error:
        return GeneratedAnswer(error=str(error))
    except (RuntimeError, ValueError, OSError) as error:
        # A runtime's error on one prompt, such as a lack of memory, must not lose the other answers.
        return GeneratedAnswer(error=f"{type(error).__name__}: {error}")
