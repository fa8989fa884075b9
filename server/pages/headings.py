"""Headings of encyclopedias and instructions, and the question that the section below each answers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from citewell.core.text import squeeze

_OF_NOUNS = {  # of names, and of nouns without an article, such as diseases and substances
    "cause": "What causes {}?",
    "causes": "What causes {}?",
    "diagnosis": "How is {} diagnosed?",
    "discovery": "Who discovered {}?",
    "prevention": "How can {} be prevented?",
    "signs and symptoms": "What are the symptoms of {}?",
    "symptoms": "What are the symptoms of {}?",
    "treatment": "How can {} be treated?",
}


def _all(question: str, *headings: str) -> dict[str, str]:
    return {heading: question.replace("HEADING", heading) for heading in headings}


_OF_NAMES: Mapping[str, str] = {
    **_OF_NOUNS,
    **_all("What is the HEADING of {}?", "anatomy", "diet", "habitat", "history", "legacy", "purpose"),
    **_all("What is the HEADING of {} like?", "architecture", "climate", "culture", "economy", "geography"),
    **_all("What are the HEADING of {}?", "applications", "effects", "rules", "types", "uses"),
    **_all("What is known about the HEADING of {}?", "childhood", "early life", "family", "personal life"),
    **_all("What is known about the life of {}?", "biography", "life"),
    **_all("What are the sights of {}?", "landmarks", "monuments and landmarks", "sights"),
    **_all("Where does the name of {} come from?", "etymology", "name", "naming", "origin of the name"),
    **_all("How is {} governed?", "governance", "government", "government and politics", "politics"),
    **_all("How do people get around in {}?", "transport", "transportation"),
    **_all("Which languages are spoken in {}?", "language", "languages"),
    **_all("Which animals live in {}?", "fauna", "flora and fauna", "wildlife"),
    **_all("Who lives in {}?", "demographics", "population"),
    **_all("How does {} behave?", "behavior", "behaviour"),
    "construction": "How was {} built?",
    "death": "How did {} die?",
    "tourism": "What draws tourists to {}?",
}
_TO_DO = re.compile(r"(how|what|when|where) to (\w.*[^\W_])", re.I)
_MOST = 100  # characters of a heading that is a question, or says what to do
_QUESTION = re.compile(
    r"(?:who|what|when|where|why|how|which|is|are|do|does|did|can|could|should|tell)\b", re.I
)


def is_english(question: str) -> bool:
    """Return whether a question begins as one in English."""
    return _QUESTION.match(question) is not None


def question_of(heading: str) -> str:
    """Return the question that a heading is, or that the steps below it answer; empty if there is none."""
    heading = squeeze(heading)
    if len(heading) > _MOST:
        return ""
    if heading.endswith("?") and is_english(heading):
        return heading
    if not (found := _TO_DO.fullmatch(heading)):
        return ""
    asked = found[1].capitalize()
    return f"{asked} {'do' if asked == 'How' else 'should'} I {found[2]}?"


def question_about(heading: str, title: str, *, is_name: bool) -> str:
    """Return the question about what a page describes that a section of it answers; empty if none is known.

    `title` is written as in a sentence, and may be a name or, in small letters, a noun.
    """
    questions = _OF_NAMES if is_name else _OF_NOUNS
    return questions.get(squeeze(heading).lower(), "").format(title)
