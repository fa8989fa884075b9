"""Stack Exchange's dumps: `Posts.xml`, in which answers are far from their questions."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from citewell.core.errors import InputError
from citewell.scorer.data.html_text import html_text
from citewell.scorer.data.source_line import SourceLine
from citewell.scorer.data.types import Voted, VotedAnswer
from citewell.scorer.data.voted_rows import voted

_QUESTION, _ANSWER = "1", "2"  # PostTypeId
_TABLES = """
PRAGMA journal_mode = OFF;
CREATE TABLE questions (id INTEGER PRIMARY KEY, title TEXT, body TEXT, license TEXT);
CREATE TABLE answers (id INTEGER PRIMARY KEY, question INTEGER, body TEXT, score INTEGER, license TEXT);
"""
_ADD_QUESTION = "INSERT OR REPLACE INTO questions VALUES (?, ?, ?, ?)"
_ADD_ANSWER = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)"
_JOIN = """
SELECT question, title, questions.body, questions.license, answers.id, answers.body, score, answers.license
FROM answers JOIN questions ON questions.id = question ORDER BY question, answers.id
"""


class _Joined(NamedTuple):
    number: int
    title: str
    body: str
    license: str
    answer_number: int
    answer: str
    score: int
    answer_license: str


def read_dump(file: Path, place: SourceLine) -> Iterator[Voted]:
    """Yield the answered questions of a dump's `Posts.xml`, in the order of their numbers.

    Posts are kept in a temporary database on disk until all are read, so that memory does not grow with the
    dump (its schema: https://meta.stackexchange.com/q/2677). A damaged file is read up to the damage, which
    is recorded. Raises `InputError` if it cannot be opened.
    """
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(f"{folder}/posts")) as posts:
        posts.executescript(_TABLES)
        for row in _rows(file, place):
            _keep(row, posts, replace(place, where=f"{file}, post {row.get('Id')}"))
        joined = map(_Joined._make, posts.execute(_JOIN))
        for number, answers in groupby(joined, key=attrgetter("number")):
            yield from _voted(list(answers), replace(place, where=f"{file}, post {number}"))


def _rows(file: Path, place: SourceLine) -> Iterator[Any]:
    """Yield the rows of the file; free each row before the next."""
    try:
        with file.open("rb") as source:
            rows = etree.iterparse(source, tag="row", resolve_entities=False, no_network=True)
            for _, row in rows:
                place.notes.count("lines")
                yield row.attrib
                row.clear()
                while row.getprevious() is not None:
                    del row.getparent()[0]
    except etree.XMLSyntaxError as error:
        replace(place, where=f"{file}, line {error.lineno}").problem(
            "no_xml", f"the rest is not XML: {error}."
        )
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.", "Check its path.") from error


def _keep(row: Any, posts: sqlite3.Connection, place: SourceLine) -> None:
    kind, body, granted = row.get("PostTypeId"), row.get("Body") or "", row.get("ContentLicense") or ""
    try:
        if kind == _QUESTION:
            posts.execute(_ADD_QUESTION, (int(row["Id"]), row.get("Title") or "", body, granted))
        elif kind == _ANSWER:
            numbers = int(row["Id"]), int(row["ParentId"])
            posts.execute(_ADD_ANSWER, (*numbers, body, int(row["Score"]), granted))
    except (KeyError, ValueError, OverflowError) as error:
        place.problem("no_number", f"Id, ParentId or Score is missing or not a number: {error}.")


def _voted(rows: list[_Joined], place: SourceLine) -> Iterator[Voted]:
    question = place.question({"title": rows[0].title, "body": html_text(rows[0].body)})
    if question is None:
        return
    answers = []
    for row in rows:
        text = place.text(html_text(row.answer), f"answer {row.answer_number}")
        if text is not None:
            answers.append(VotedAnswer(text, row.score))
    licenses = {rows[0].license, *(row.answer_license for row in rows)} - {""}
    for each in voted(question, answers, place):
        yield replace(each, license="; ".join(sorted(licenses)) or each.license)
