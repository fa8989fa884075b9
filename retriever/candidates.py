"""The passages that the dual encoder sees for a question: BM25's best, and leads on its subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from citewell.core.asked_section import asked_section
from citewell.core.dates import spelled_dates
from citewell.core.subject import asked_subject, defines, is_about
from citewell.core.text import content_words, words
from citewell.core.types import Passage
from citewell.retriever.lexical import Bm25
from citewell.retriever.scoring import FULL, Numbers, PassageFeatures, order

# How often a word of the title and the headings counts in BM25, beside each time in the passage.
_TITLE = 0.3
_SECTION = 0.75  # what the beginning of a section that the question asks for counts, where a lead counts 1
_PER_LINE = 10  # min words per line of prose, unlike tables
_SHARE = 3  # of the passages, one in so many is enough beside the lead on the subject of the question
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The rows of the candidates among all passages, in the order in which they are encoded.

    `lexical`, `words`, `lead` and `numbers` are as in `citewell.retriever.scoring.PassageFeatures`.
    """

    rows: Numbers
    lexical: Numbers
    words: Numbers
    lead: Numbers
    numbers: Numbers

    def order(self, relevance: Numbers) -> Numbers:
        """Return the value of each candidate, given its relevance to the question."""
        return order(
            PassageFeatures(
                relevance=relevance,
                lexical=self.lexical,
                words=self.words,
                lead=self.lead,
                numbers=self.numbers,
            )
        )


class Counted:
    """The counts of one page's passages for one part of the question."""

    def __init__(self, counts: Numbers, leads: Numbers, numbers: Numbers) -> None:
        self.counts = counts
        self.leads = leads
        self.numbers = numbers


class CandidateFilter:
    """Selects the candidates for one part of a question, from pages that are counted as they arrive."""

    def __init__(self, question: str, prefilter: int) -> None:
        """Select the `prefilter` best passages for the question."""
        self._bm25 = Bm25(question)
        self._subject = asked_subject(question)
        self._section = asked_section(question)
        self._numbers = numbers(question)
        self._prefilter = prefilter

    def count(self, passages: Sequence[Passage]) -> Counted:
        """Count the words of the question in the passages of one page."""
        counts = self._bm25.count([passage.text for passage in passages])
        titles = {path: self._bm25.count([path])[0, 1:] for path in {p.title_path for p in passages}}
        for row, passage in enumerate(passages):
            counts[row, 1:] += _TITLE * titles[passage.title_path]
        certainty = np.zeros(len(passages))
        for _, of_page in groupby(range(len(passages)), key=lambda row: passages[row].url):
            rows = list(of_page)
            if about := is_about(self._subject, passages[rows[0]].title):
                certainty[lead(passages, rows)] = about
            elif self._section:
                sure = [self._section.certainty(passages[row].title, passages[row].headings) for row in rows]
                certainty[rows[int(np.argmax(sure))]] = _SECTION * max(sure)
        return Counted(counts, certainty, np.array([self._share(passage) for passage in passages]))

    def select(self, pages: Sequence[Counted], firsts: Numbers, encoded: Numbers) -> Candidates:
        """Select the candidates among all passages of the pages.

        `firsts` is the row of the first passage that says the same as each passage. Passages that are
        `encoded` already, an array of booleans, are all candidates. Of the others, `prefilter` are, or a
        third of that beside the lead of a page that is surely on the subject of the question: its answer.
        """
        counts = np.concatenate([page.counts for page in pages] or [self._bm25.count([])])
        leads = np.concatenate([page.leads for page in pages] or [np.zeros(0)])
        shares = np.concatenate([page.numbers for page in pages] or [np.zeros(0)])
        lengths = counts[:, 0].copy()
        counts[:, 0] = np.maximum(lengths, FULL)
        lexical = self._bm25.scores(counts)
        best = lexical.max(initial=0.0)
        ranked = np.argsort(-lexical - (best + 1) * leads, kind="stable")
        # Duplicates are not ranked again: the first source stands for all.
        rows = ranked[firsts[ranked] == ranked]
        most = -(-self._prefilter // _SHARE) if leads.max(initial=0) == 1 else self._prefilter
        rows = rows[encoded[rows] | (np.cumsum(~encoded[rows]) <= most)]
        return Candidates(
            rows=rows,
            lexical=lexical[rows] / max(best, 1e-9),
            words=lengths[rows],
            lead=leads[rows],
            numbers=shares[rows],
        )

    def _share(self, passage: Passage) -> float:
        if not self._numbers:
            return 0.0
        return len(self._numbers & numbers(f"{passage.title_path} {passage.text}")) / len(self._numbers)


def numbers(text: str) -> frozenset[str]:
    """Return the numbers in the text as they are written, such as `1869` or `2.39`, but those of dates."""
    return frozenset(_NUMBER.findall(spelled_dates(text)))


def lead(passages: Sequence[Passage], rows: Sequence[int]) -> int:
    """Return the row of a page's lead: its first passage that defines the title or is prose that names it.

    Without such a passage it is the first.
    """
    return next((row for row in rows if _describes(passages[row])), rows[0])


def _describes(passage: Passage) -> bool:
    lines = passage.text.splitlines()
    if any(defines(passage.title, line) and len(words(line)) >= _PER_LINE for line in lines):
        return True
    found = words(passage.text)
    is_prose = len(found) >= max(FULL, _PER_LINE * len(lines))
    return is_prose and not set(content_words(passage.title)).isdisjoint(found)
