"""Questions of `benchmarks.answer_bearing`: with short answers, and definitions made from titles.

The questions for Wikipedia for Schools are drawn with a fixed seed: 600 of NQ-open's (NQ-400 is a part of
it), whether or not the articles answer them; 100 of WebQuestions-400; and 140 things and 60 people among the
titles. A person is an article of a category under People. Titles with parentheses, digits or a comma, and
lists and histories, are left out, since nobody asks "What is X?" with them.

The lead of an article is read from its HTML, independently of how Citewell splits pages: the first paragraph
that is not a caption, has at least 20 words and ends like a sentence. Its first sentence must have half of
the title's words and a verb of a definition, or the article is not asked about.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lxml import html

from benchmarks.results_files import external_data
from citewell.core.answers import has_answer
from citewell.core.text import content_words, split_sentences, squeeze, words
from citewell.core.types import Reference

Split = Literal["dev", "held"]
SHORT = {"nq_open": 600, "webq400": 100}
THINGS, PEOPLE = 140, 60
LEADS = "definitions"
_SEED = 19
_HELD_OUT = 3  # one question of this many
_LEAST_WORDS, _LEAST_SENTENCE = 20, 8
_SAME = 0.8
_DEFINING = {"is", "was", "are", "were", "refers"}
_NO_SUBJECT = re.compile(r"[(),\d]|^(List|History|Geography|Timeline|Economy|Politics|Culture) ")


@dataclass(frozen=True, kw_only=True)
class BearingQuestion:
    """A question with accepted `answers`, or about the article `url` whose first sentence is `lead`."""

    text: str
    origin: str
    answers: tuple[str, ...] = ()
    lead: str = ""
    url: str = ""

    @property
    def key(self) -> str:
        """The question with its set, which names it in files."""
        return f"{self.origin}: {self.text}"

    def is_borne_by(self, reference: Reference) -> bool:
        """Return whether a reference holds an accepted answer, or the lead's first sentence.

        A reference holds the lead if it is of the same page and has at least .8 of the sentence's words.
        """
        if not self.lead:
            return has_answer(reference.text, self.answers)
        wanted, found = set(words(self.lead)), set(words(reference.text))
        same_page = self.url in (reference.url, *reference.duplicate_urls)
        return same_page and len(wanted & found) >= _SAME * len(wanted)


def read_questions(file: Path) -> list[BearingQuestion]:
    """Read lines of {"question", "answer": [...]} or {"question", "url", "lead"}, for other collections."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [
        BearingQuestion(text=row["question"], origin=LEADS, lead=row["lead"], url=row["url"])
        if "lead" in row
        else BearingQuestion(text=row["question"], origin="short answers", answers=tuple(row["answer"]))
        for row in rows
    ]


def wikipedia_questions() -> list[BearingQuestion]:
    """Return the questions for Wikipedia for Schools."""
    folder = external_data()
    asked: list[BearingQuestion] = []
    for name, number in SHORT.items():
        rows = {_key(row["question"]): row for row in _rows(folder / "questions" / f"{name}.jsonl.gz")}
        asked += [
            BearingQuestion(text=row["question"], origin=name, answers=tuple(row["answer"]))
            for row in random.Random(_SEED).sample(list(rows.values()), number)
        ]
    return asked + wikipedia_definitions()


def wikipedia_definitions() -> list[BearingQuestion]:
    """Return the questions about articles of Wikipedia for Schools."""
    files = sorted((external_data() / "web" / "wikispeedia").glob("articles-*.jsonl.gz"))
    return definitions(row for file in files for row in _rows(file))


def definitions(
    articles: Iterable[dict[str, Any]], things: int = THINGS, people: int = PEOPLE
) -> list[BearingQuestion]:
    """Return "What is X?" and "Who was X?" about articles of {"path", "title", "html", "categories"}."""
    found: tuple[list[BearingQuestion], list[BearingQuestion]] = ([], [])
    for row in articles:
        if _NO_SUBJECT.search(row["title"]) or not (lead := lead_sentence(row["html"], row["title"])):
            continue
        person = any(name.startswith("subject.People.") for name in row["categories"])
        text = f"Who was {row['title']}?" if person else f"What is {row['title']}?"
        found[person].append(BearingQuestion(text=text, origin=LEADS, lead=lead, url=row["path"]))
    return [
        question
        for questions, number in zip(found, (things, people), strict=True)
        for question in random.Random(_SEED).sample(questions, min(number, len(questions)))
    ]


def lead_sentence(document: str, title: str) -> str:
    """Return the first sentence of an article's first paragraph of prose; empty if there is none."""
    for paragraph in html.document_fromstring(document).iterfind(".//article//p"):
        text = squeeze(paragraph.text_content())
        if paragraph.get("class") or len(words(text)) < _LEAST_WORDS or text[-1] not in '.!?")':
            continue
        sentence = ""
        for part in split_sentences(text):  # an abbreviation may end a part early
            sentence = f"{sentence} {part}".strip()
            if len(words(sentence)) >= _LEAST_SENTENCE:
                break
        named, found = set(content_words(title)), set(words(sentence))
        return sentence if found & _DEFINING and len(named & found) >= len(named) / 2 else ""
    return ""


def of_split(questions: Sequence[BearingQuestion], split: Split) -> list[BearingQuestion]:
    """Return the questions of a split: a hash of its words holds a third of them out from every choice.

    The hash decides the order too, so that the first questions are a sample of all sets.
    """
    points = {question.key: _point(question.text) for question in questions}
    found = [
        question for question in questions if (points[question.key] % _HELD_OUT == 0) == (split == "held")
    ]
    return sorted(found, key=lambda question: points[question.key])


def _point(question: str) -> int:
    # Salted, so that it is independent of other divisions by a hash.
    return int.from_bytes(hashlib.sha256(f"answer_bearing {_key(question)}".encode()).digest()[:8])


def _key(question: str) -> str:
    return " ".join(words(question))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
