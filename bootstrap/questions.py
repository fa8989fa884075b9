"""The questions file: tasks, and the problems of invalid lines."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from citewell.bootstrap.config import QuestionsConfig
from citewell.bootstrap.forum_posts import post_process, with_urls
from citewell.bootstrap.types import BootstrapTask
from citewell.core.errors import InputError
from citewell.core.text import encodable, squeeze
from citewell.core.types import Reference

STDIN = Path("-")


class LineProblem(NamedTuple):
    """The reason why a line is invalid. `line` counts from 1."""

    line: int
    problem: str


Report = Callable[[LineProblem], None]


class _UnusableError(Exception):
    """A line is invalid."""


class Questions:
    """The rows of a questions file: JSON lines, plain or gzipped, or one question per line.

    An object has `question`, or `title` and optionally `selftext` as in ELI5; it may have `references`
    (texts, or objects with `text` and optionally `title`, `url` and `n`), `answer`, `license` and `id`. `-`
    reads standard input.
    """

    def __init__(self, file: Path, config: QuestionsConfig) -> None:
        """Raises `InputError` if the file cannot be read at all."""
        self.file = file
        self._config = config
        self._bytes = sys.stdin.buffer.read() if file == STDIN else None
        if self._bytes is None:
            try:
                file.open("rb").close()
            except OSError as error:
                raise InputError(f"{file} cannot be read: {error.strerror}.", "Check its path.") from error

    def tasks(self, report: Report = lambda problem: None) -> Iterator[BootstrapTask]:
        """Yield the tasks in order; `report` is called for every invalid line. May be called again."""
        lines_of_questions: dict[bytes, int] = {}
        keys: set[str] = set()
        for number, line in self._lines(report):
            try:
                task = self._task(number, line)
                if task is None:
                    continue
                digest = _digest(squeeze(task.question).casefold())
                if first := lines_of_questions.get(digest):
                    raise _UnusableError(f"it asks the same as line {first:,}")
            except _UnusableError as error:
                report(LineProblem(number, str(error)))
                continue
            lines_of_questions[digest] = number
            key = task.key or digest.hex()
            key = key if key not in keys else f"{key}-{digest.hex()}"
            keys.add(key)
            yield msgspec.structs.replace(task, key=key)

    def content(self) -> bytes:
        """Return the lines, of a damaged compressed file those before the damage."""
        if self._bytes is not None:
            return self._bytes
        return b"".join(line for _, line in self._lines(lambda problem: None))

    def _lines(self, report: Report) -> Iterator[tuple[int, bytes]]:
        if self._bytes is not None:
            yield from enumerate(self._bytes.split(b"\n"), 1)
            return
        number = 0
        try:
            with gzip.open(self.file) if self.file.suffix == ".gz" else self.file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    yield number, line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            report(LineProblem(number + 1, f"the compressed file is damaged from here on: {error}"))
        except OSError as error:
            raise InputError(f"{self.file} cannot be read: {error.strerror}.", "Check its path.") from error

    def _task(self, number: int, line: bytes) -> BootstrapTask | None:
        """Return the task of a line, without a key where it has no id; None for a blank line."""
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise _UnusableError(f"it is not UTF-8 ({error.reason})") from error
        if not text:
            return None
        if not text.startswith("{"):
            return BootstrapTask(key="", line=number, question=self._question(text))
        row = _object(text)
        return BootstrapTask(
            key=_id(row),
            line=number,
            question=self._question(*_asked(row)),
            references=_references(row.get("references")),
            answer=_answer(row),
            license=_text(row.get("license")),
        )

    def _question(self, title: str, selftext: str = "") -> str:
        question = post_process(title, selftext, explain=self._config.explain)
        if question is None:
            raise _UnusableError("its author deleted it")
        question = encodable(question)
        if not question:
            raise _UnusableError("its question is empty")
        if len(question) > self._config.characters:
            raise _UnusableError(
                f"its question has {len(question):,} characters; at most {self._config.characters:,} "
                "(questions.characters) are taken"
            )
        if not any(map(str.isalnum, title)):
            raise _UnusableError("its question has no letter or digit")
        return question


def _object(text: str) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _UnusableError(f"it is not JSON ({error})") from error
    if not isinstance(row, dict):
        raise _UnusableError("it is not a JSON object")
    return row


def _asked(row: dict[str, Any]) -> tuple[str, str]:
    name = "question" if "question" in row else "title"
    title, selftext = row.get(name), row.get("selftext") or ""
    if not isinstance(title, str):
        raise _UnusableError(
            "it has no `question`, and no `title`" if title is None else f"its `{name}` is not a text"
        )
    if name == "question" or not isinstance(selftext, str):
        selftext = ""
    return with_urls(title, _urls(row.get("title_urls"))), with_urls(
        selftext, _urls(row.get("selftext_urls"))
    )


def _urls(value: Any) -> list[str]:
    """Return the URLs of ELI5's field, a list or an object with the list `url`."""
    if isinstance(value, dict):
        value = value.get("url")
    return [url for url in value if isinstance(url, str)] if isinstance(value, list) else []


def _id(row: dict[str, Any]) -> str:
    value = row.get("id", row.get("q_id"))
    return (
        squeeze(encodable(str(value))) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    )


def _answer(row: dict[str, Any]) -> str | None:
    value = row.get("answer")
    if isinstance(value, list):
        value = next((text for text in value if isinstance(text, str)), None)
    return encodable(value) if isinstance(value, str) and value.strip() else None


def _references(value: Any) -> tuple[Reference, ...] | None:
    if value is None or value == []:
        return None
    if not isinstance(value, list):
        raise _UnusableError("its `references` are not a list")
    found: list[Reference] = []
    for position, item in enumerate(value, 1):
        fields = {"text": item} if isinstance(item, str) else item
        if not isinstance(fields, dict):
            raise _UnusableError(f"its reference {position} is neither text nor an object with its text")
        text, title, url = (_text(fields.get(name)) for name in ("text", "title", "url"))
        number = fields.get("n", fields.get("number", position))
        if text:
            found.append(Reference(number if isinstance(number, int) else position, url, title, text, 0.0))
    if len({reference.number for reference in found}) < len(found):
        raise _UnusableError("two of its references have the same number")
    return tuple(found) or None


def _text(value: Any) -> str:
    return squeeze(encodable(value)) if isinstance(value, str) else ""


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:8]
