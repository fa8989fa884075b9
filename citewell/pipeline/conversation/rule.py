"""The rule that completes a follow-up question: pronouns and ellipses take the last subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from citewell.core.text import content_words, squeeze
from citewell.core.types import Turn
from citewell.pipeline.conversation.subject import ASKS, ENDS, find_subject
from citewell.retriever.parts import ONE_NAME

_LONGEST = 80  # characters of a question that is asked about something else
_FEW = 1  # content words of a question that leaves something out
_PERSON = r"he|him|his|she|her|hers"
_PRONOUN = re.compile(
    rf"\b(?P<own>its|their|his|her(?= [a-z]))\b|\b(?:it|they|them|{_PERSON})\b(?!['’])", re.IGNORECASE
)
_PERSONS = re.compile(rf"\b(?:{_PERSON})\b", re.IGNORECASE)
# "Is it true that …", "How long does it take to …": this pronoun stands for nothing.
_NOTHING = re.compile(
    r"\b(?:is|was) it (?:\w+ )?(?:true|possible|legal|illegal|safe|ok|okay|hard|easy|better|best|worth|"
    r"necessary|right|wrong|important|cold|hot|raining)\b|\bit takes?\b|"
    r"\b(?:does|do|did|will|would|can) it (?:take to|mean to|rain|snow|hurt)\b|"
    r"\bwhat time is it\b|\bhow far is it\b|\bis it like to\b|"
    r"\bit (?:is|was)(?: not|n['’]t)? (?:true|possible)\b|\bit makes? sense\b",
    re.IGNORECASE,
)
# What a pronoun may stand for in its own question: "the man", "Mars", or anything in a clause before.
_OWN = re.compile(
    r"(?<!\bin )(?<!\bof )(?<!\bon )(?<!\bat )(?<!\bfor )(?<!\bfrom )\b(?:a|an|the) [a-z]|[a-z] [A-Z][a-z]|"
    r"\w{3,}[,.;:?!] "
)
# A plural without an article, which "they" and "their" then stand for: "Why do people lose their hair?"
_BARE = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should) "
    r"(?!(?:it|they|he|she|we|you|i|this|that|these|those|there|its|their|his|her|an?|the)\b)[a-z]{3,}\b",
    re.IGNORECASE,
)
_OF_BARE = frozenset({"they", "their", "its"})
# "this", "those": alone or before a noun, which does not say of what it is.
_POINTS = re.compile(
    r"\b(?:this|these|those|such|ones?|that(?= \w+\b)|same|other)\b|\bthat$|"
    r"(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b(?! (?:is|are|was|were)\b)",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"(?:what|who)(?:['’]s| is| are| was| were) \w", re.IGNORECASE)  # "What is an atom?"
_ABOUT = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?|then),? )*(?:(?:what|how) about|and|or) (?P<thing>[^.?!;]+)", re.IGNORECASE
)
_WHEN = re.compile(r"(?:in|on|at|by|during|under|with|without|for|before|after|from|near) \w", re.IGNORECASE)
_CONTINUES = re.compile(r"(?:and|but|so|then|also|or)\b", re.IGNORECASE)
_WHO = re.compile(r"who\b(?! (?:is|was|are|were) [A-Z])", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: (?:(?:of|the|de|da|von|van) )*[A-Z][\w'’.-]*)+")


class _Spoken(NamedTuple):
    """What a conversation is about: its last question and subject, and the person of its last answer."""

    question: str = ""
    subject: str = ""
    person: str = ""


def complete(question: str, turns: Sequence[Turn]) -> str:
    """Return a follow-up question with the subject of the turns before, in the place of pronouns or after it.

    A question that names its own subject stays as it is. The rule knows English.
    """
    spoken = _Spoken()
    for turn in turns:
        spoken = _heard(turn, spoken)
    return _completed(question, spoken)


def _depends(question: str) -> bool:
    """Return whether a question seems to need the turns before it to be understood."""
    return (
        any(_stands(pronoun) for pronoun in _PRONOUN.finditer(question))
        or bool(_POINTS.search(question.strip(ENDS)))
        or (len(content_words(question)) <= _FEW and not _DEFINES.match(question))
        or bool(_CONTINUES.match(question) or _ABOUT.fullmatch(question.strip(ENDS)))
    )


def _heard(turn: Turn, before: _Spoken) -> _Spoken:
    """Return what the conversation is about after a turn."""
    asked = squeeze(turn.question)
    completed = _completed(asked, before)
    subject = find_subject(completed)
    if completed != asked and before.subject in completed:
        subject = before.subject  # a pronoun or an ellipsis took it
    elif not subject and not ASKS.search(completed):
        return before  # "Thank you!"
    named = [name for name in _NAME.findall(turn.answer) if name not in completed]
    person = named[0] if named and _WHO.match(completed) else ""
    return _Spoken(completed, subject or before.subject, person or before.person)


def _completed(question: str, spoken: _Spoken) -> str:
    text = question.strip(ENDS)
    if not spoken.subject or not text:
        return question
    if replaced := _replaced(question, spoken):
        return replaced
    if (about := _ABOUT.fullmatch(text)) and not ASKS.match(about["thing"]):
        thing = about["thing"]
        return _asked_when(thing, spoken) if _WHEN.match(thing) else _asked_of(thing, spoken)
    if _depends(question) and not _names_own(text, spoken):
        return f"{question.rstrip()} ({spoken.subject})"
    return question


def _replaced(question: str, spoken: _Spoken) -> str:
    """Return the question with the subject in the place of its pronouns; empty if none stands for it."""

    def named(pronoun: re.Match[str]) -> str:
        if not _stands(pronoun):
            return pronoun[0]
        name = spoken.subject
        if _PERSONS.fullmatch(pronoun[0]):
            name = spoken.person or name
        if pronoun["own"]:
            return f"{name}'" if name.endswith("s") else f"{name}'s"
        return name

    replaced = _PRONOUN.sub(named, question)
    return replaced if replaced != question else ""


def _stands(pronoun: re.Match[str]) -> bool:
    """Return whether a pronoun of a question stands for something that the question does not name."""
    empty = _NOTHING.search(pronoun.string)
    is_empty = empty is not None and empty.start() <= pronoun.start() < empty.end()
    is_name = pronoun[0] == "IT" or (pronoun[0].istitle() and pronoun.start() > 0)  # "It Follows"
    before = pronoun.string[: pronoun.start()]
    is_bound = bool(_OWN.search(before)) or (pronoun[0].lower() in _OF_BARE and bool(_BARE.search(before)))
    return not (is_empty or is_name or is_bound)


def _asked_when(circumstance: str, spoken: _Spoken) -> str:
    """Return the last question, asked of another time, place or case: "And in winter?"."""
    word = circumstance.split()[0].lower()
    asked = spoken.question.rstrip(ENDS)
    other = re.search(rf" {word} \S+(?: \S+)?$", asked)
    if other and spoken.subject.lower() not in other[0].lower():
        asked = asked[: other.start()]
    return f"{asked} {circumstance}?"


def _asked_of(thing: str, spoken: _Spoken) -> str:
    """Return the last question, asked about something else."""
    place = spoken.question.lower().find(spoken.subject.lower())
    if place < 0 or len(spoken.question) > _LONGEST or not ASKS.search(spoken.question):
        return f"{thing} ({spoken.subject})"
    return spoken.question[:place] + thing + spoken.question[place + len(spoken.subject) :]


def _names_own(text: str, spoken: _Spoken) -> bool:
    """Return whether a question names a subject of its own, or the last one."""
    return any(name != "I" for name in ONE_NAME.findall(text)) or spoken.subject.lower() in text.lower()
