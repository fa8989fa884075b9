"""The subject of a question, for the questions that follow it, by rules for English."""

from __future__ import annotations

import re

from citewell.core.text import content_words
from citewell.retriever.parts import ONE_NAME, subject_of

ENDS = " \t?!.,;:"
"""Characters that may end a question."""
ASKS = re.compile(
    r"\b(?:what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|will|would|should|"
    r"has|have|had|tell|explain|describe|define|list|compare|show|give)\b",
    re.IGNORECASE,
)
"""Words of questions; a text without any is a few words, such as those for a search engine."""
_LONGEST, _MOST_WORDS = 80, 7  # characters and words of a subject
_PRONOUNS = frozenset({"i", "it", "they", "he", "she", "this", "that", "you", "we"})
_NO_SUBJECT = re.compile(
    r"(?:if|that|to|not|how|what|why|when|i|we|you)\b|(?:yes|no|ok(?:ay)?|thanks?|sure)\b", re.IGNORECASE
)
# "How do bats find …", "Can I add a file to …": the subject ends where the verb begins.
_DOES = re.compile(
    r"(?:.*\b(?:what|which|when|where|why|how|who|whom)\b(?: \w+)? )?"
    r"(?:do|does|did|can|could|will|would|should) (?P<rest>.+)",
    re.IGNORECASE,
)
_VERBS = frozenset(
    (  # noqa: SIM905
        "act add affect allow answer appear apply arise ask attack become begin behave belong break "
        "breathe bring build burn buy call carry cause change charge check choose collect come "
        "communicate compare connect contain control cook cost count cover create cut deal decide defend "
        "delete depend destroy detect develop die differ digest discover do drink drive eat emit enable "
        "end enter evolve exist expand explain fall feed feel fight find fix flow fly follow form freeze "
        "function get give glow go grow handle happen have hear help hibernate hold hunt identify import "
        "improve include increase index influence install invent invest join jump keep kill know lay lead "
        "learn leave let live lose make mean measure meet melt migrate move navigate need occur open "
        "originate owe own pay perform play prevent process produce protect provide pump put quote reach "
        "react read receive reduce refer release remove renew replace report reproduce require rise "
        "rotate run save say scan search see sell send set shed show sing sit sleep smell sound speak "
        "spend spin spread stand start stay stop store study support survive swim take talk tell think "
        "throw train transmit travel treat try turn understand update use vary view vote walk want warn "
        "watch wear win work write"
    ).split()
)
# "Why is the sky blue?", "What causes the tides?", "Which metals are magnetic?"
_OTHERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:why|when|where|how|what)(?: \w+)? (?:is|are|was|were) (?P<subject>(?:the|an?|our|my) [\w-]+) .+",
        r"what \w+s (?P<subject>(?:the |an? )?\w+)",
        r"which (?P<subject>\w+) (?:is|are|was|were|have|has|can)\b.*",
    )
)
_PARTICLE = re.compile(r"^(?:off|on|up|out|in|down|away|back|about|for|at|to) ")  # "turn off the light"
_UNDONE = re.compile(r" \w+(?:ed|en|de) (?:by|of|from|for|in|with|as|at|to)$")  # "the tides caused by"
_PLACES = re.compile(
    r" (?:to|in|into|for|with|on|from|at|when|if|without|by|and|or|as|while)\b.*", re.IGNORECASE
)


def find_subject(question: str) -> str:
    """Return what a question or a few words are about; empty if unknown."""
    text = question.strip(ENDS)
    names = [name for name in ONE_NAME.findall(text) if name != "I"]
    other = next((found["subject"] for pattern in _OTHERS if (found := pattern.fullmatch(text))), "")
    named = names[-1] if names else ""
    few = "" if ASKS.search(text) else text
    for subject in (_before_verb(text), _UNDONE.sub("", subject_of(text).strip(ENDS)), other, named, few):
        if _can_be(subject):
            return subject
    return ""


def _can_be(subject: str) -> bool:
    """Return whether words name something, and are few."""
    is_short = len(subject) <= _LONGEST and len(subject.split()) <= _MOST_WORDS
    return is_short and not _NO_SUBJECT.match(subject) and bool(set(content_words(subject)) - _PRONOUNS)


def _before_verb(text: str) -> str:
    """Return the words between auxiliary and verb; those after it where a person asks of themselves."""
    does = _DOES.fullmatch(text)
    words = does["rest"].split() if does else []
    verb = next((place for place, word in enumerate(words) if place and word.lower() in _VERBS), None)
    if verb is None:
        return ""
    if words[0].lower() in ("i", "you", "we"):
        return _PLACES.sub("", _PARTICLE.sub("", " ".join(words[verb + 1 :])))
    return " ".join(words[:verb])
