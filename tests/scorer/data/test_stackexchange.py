from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.scorer.data.reading import read_comparisons
from tests.scorer.data.files import ALL


def dump(folder: Path, rows: Iterable[str], end: str = "</posts>") -> Path:
    file = folder / "Posts.xml"
    text = "\n".join(['<?xml version="1.0" encoding="utf-8"?>', "<posts>", *rows, end])
    file.write_text(text, encoding="utf-8")
    return file


def question(number: int, title: str, body: str = "<p>Tell me.</p>") -> str:
    attributes = f'Title="{title}" Body="{escape(body)}" Score="3" ContentLicense="CC BY-SA 3.0"'
    return f'<row Id="{number}" PostTypeId="1" {attributes} />'


def answer(number: int, parent: int, score: object, body: str) -> str:
    html = escape(body).replace("\n", "&#xA;")
    attributes = f'Score="{score}" Body="{html}" ContentLicense="CC BY-SA 4.0"'
    return f'<row Id="{number}" PostTypeId="2" ParentId="{parent}" {attributes} />'


def test_answers_find_their_questions_wherever_they_stand(tmp_path: Path) -> None:
    rows = [
        answer(1, 3, 7, "<p>Early</p>"),
        question(2, "Alone?"),
        question(3, "Why &amp; how?"),
        '<row Id="4" PostTypeId="5" Body="a tag" />',
        answer(5, 9, 1, "<p>Of no question</p>"),
        answer(6, 3, 2, "<p>Late</p><ul><li>one</li><li>two &lt; 3</li></ul><pre>a\n  b</pre>"),
    ]
    data = read_comparisons(dump(tmp_path, rows), ALL)
    (group,) = data.groups
    assert group.question == "Why & how?\n\nTell me."
    (found,) = group.comparisons
    assert found.first == "Early"
    assert found.second.split() == ["Late", "-", "one", "-", "two", "<", "3", "a", "b"]
    assert "\n  b" in found.second
    assert group.license == "CC BY-SA 3.0; CC BY-SA 4.0"
    assert data.funnel["lines"] == 6


def test_bad_posts_are_told_by_their_numbers(tmp_path: Path) -> None:
    rows = [question(1, "Why?"), answer(2, 1, 5, "a"), answer(3, 1, 1, "b"), answer(4, 1, "NaN", "c")]
    rows.append('<row Id="5" PostTypeId="2" Score="1" Body="d" />')
    data = read_comparisons(dump(tmp_path, rows), ALL)
    assert len(data.comparisons) == 1
    assert [each.where.rsplit(" ")[-1] for each in data.problems] == ["4", "5"]


def test_a_dump_that_is_cut_short_is_read_up_to_there_and_told(tmp_path: Path) -> None:
    rows = [question(1, "Why?"), answer(2, 1, 5, "a"), answer(3, 1, 1, "b")]
    data = read_comparisons(dump(tmp_path, rows, '<row Id="4'), ALL)
    assert len(data.comparisons) == 1
    assert [each.kind for each in data.problems] == ["no_xml"]
    assert "line 6" in data.problems[0].where


@pytest.mark.parametrize("text", ["", "no XML", "<posts/>"])
def test_a_file_that_is_no_dump_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "Posts.xml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"Posts\.xml is empty|no comparison"):
        read_comparisons(file, ALL)
    with pytest.raises(InputError, match="cannot be read"):
        read_comparisons(tmp_path / "none.xml", ALL)


def test_entities_of_the_file_are_not_expanded(tmp_path: Path) -> None:
    file = tmp_path / "Posts.xml"
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    posts = '<row Id="1" PostTypeId="1" Title="&e9;" Body="" />'
    file.write_text(f'<!DOCTYPE posts [<!ENTITY e0 "bomb">{entities}]><posts>{posts}</posts>')
    with pytest.raises(InputError):
        read_comparisons(file, ALL)


MEASURE = """
import resource, sys
from pathlib import Path
from citewell.scorer.data.notes import FileNotes
from citewell.scorer.data.config import ReadingConfig
from citewell.scorer.data.source_line import SourceLine
from citewell.scorer.data.stackexchange import read_dump
file = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sum(1 for _ in read_dump(file, SourceLine(str(file), "dump", FileNotes(), ReadingConfig()))))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    words = "<p>" + "many words " * 400 + "</p>"
    rows = [question(n, f"Question {n}?", words) for n in range(1500)]
    rows += [answer(n + 1500, n % 1500, n, words) for n in range(4500)]
    file = dump(tmp_path, rows)
    command = [sys.executable, "-c", MEASURE, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    questions, kilobytes = map(int, done.stdout.split())
    assert questions == 1500
    assert kilobytes * 1024 < file.stat().st_size / 2
