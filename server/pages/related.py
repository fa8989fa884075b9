"""Questions to ask next, made from the titles and headings of the pages that an answer cites.

The rule writes English, so it is for questions in English, and it writes only what people ask: a heading that
is a question, the question that a usual heading of an encyclopedia answers, and who or what it is that a page
describes. The handbook has a table of contents in their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from urllib.parse import urlencode

from citewell.core.text import content_words, squeeze
from citewell.core.types import Reference
from citewell.generator.orders.marking import evidence_of
from citewell.pipeline.collections import HANDBOOK
from citewell.pipeline.conversation.related import MOST_RELATED
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.headings import is_english, question_about, question_of
from citewell.server.pages.modes import mode_of

_MOST_WORDS = 4
_NAME = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)*")
_IS = r"[^.;:]{0,200}?\b(is|was|are|were) (?:an?|the|one)\b"  # between, a name in other languages and dates
_PERSON = re.compile(r"\b(?:he|she|his|her)\b", re.I)
_OF_ANY_QUESTION = frozenset(("about", "known", "like"))


class Related(NamedTuple):
    """A question, and the address that asks it in the same way and of the same place."""

    text: str
    address: str


def related_questions(answer: AnswerResponse) -> tuple[Related, ...]:
    """Return up to three questions; none where the answer cites no page that they could be about."""
    if not is_english(answer.question):
        return ()
    references = sorted(evidence_of(answer.references), key=attrgetter("url"))
    cited = [number for sentence in answer.sentences for number in sentence.citations]
    pages = {url: tuple(passages) for url, passages in groupby(references, attrgetter("url"))}
    first_cited = dict.fromkeys(each.url for number in cited for each in references if each.number == number)
    described = [_Subject.of(pages[url]) for url in first_cited if not _is_of_handbook(url)]
    asked = set(content_words(f"{answer.question} {answer.rewritten or ''}"))
    found = [
        *(text for subject in described for text in subject.of_sections()),
        *(text for subject in described if (text := subject.of_itself())),
    ]
    new = [text for text in dict.fromkeys(found) if not set(content_words(text)) <= asked | _OF_ANY_QUESTION]
    same = asked_alike(answer)
    return tuple(Related(text, f"/?{urlencode({'q': text})}{same}") for text in new[:MOST_RELATED])


def asked_alike(answer: AnswerResponse) -> str:
    """Return the end of the address of a question that is asked in the same way and of the same places."""
    options = {name: answer.options[name] for name in ("collection", "search") if name in answer.options}
    same = options | ({"mode": mode} if (mode := mode_of(answer)) else {})
    return f"&{urlencode(same, doseq=True)}" if same else ""


class _Subject(NamedTuple):
    """What a page describes, as its passages write it: a name, or a noun in small letters; or nothing."""

    passages: Sequence[Reference]
    title: str
    is_name: bool

    @classmethod
    def of(cls, passages: Sequence[Reference]) -> _Subject:
        """Return the subject of a page with these passages."""
        title, text = squeeze(passages[0].title), " ".join(each.text for each in passages)
        if not _NAME.fullmatch(title) or len(title.split()) > _MOST_WORDS:
            return cls(passages, "", is_name=False)
        small = title.lower()
        if re.search(rf"\b{re.escape(small)}", text):
            return cls(passages, small, is_name=False)
        name = re.escape(title)
        if not re.search(rf"[a-z,;] {name}\b", text):  # inside a sentence, only names are capitalized
            return cls(passages, "", is_name=False)
        mentions = re.findall(rf"\b([Tt]he )?{name}\b(?! [A-Z])", text)
        has_article = len([the for the in mentions if the]) * 2 > len(mentions)
        return cls(passages, f"the {title}" if has_article else title, is_name=True)

    def of_sections(self) -> Iterator[str]:
        """Yield the questions that its sections answer."""
        for heading in (each.headings[-1] for each in self.passages if each.headings):
            about = question_about(heading, self.title, is_name=self.is_name) if self.title else ""
            if question := question_of(heading) or about:
                yield question

    def of_itself(self) -> str:
        """Return the question who or what it is; empty if the page does not begin by saying so."""
        if not self.is_name:
            return ""
        begins = re.compile(f"(?:the )?{re.escape(self.title.removeprefix('the '))}{_IS}", re.I)
        starts = (squeeze(each.text) for each in self.passages if not each.headings)
        start, said = next(((text, found) for text in starts if (found := begins.match(text))), ("", None))
        if said is None:
            return ""
        is_person = said[1] in ("is", "was") and _PERSON.search(start)
        return f"{'Who' if is_person else 'What'} {said[1]} {self.title}?"


def _is_of_handbook(url: str) -> bool:
    return url.startswith(f"collection:{HANDBOOK}/")
