"""The subject of a question that asks what something is or does, and the names that a title gives to it.

`Who was Marie Curie?`, `define photosynthesis` and `black holes` each ask for a description, which the lead
of an article is. Names are compared in lower case, without accents, articles and plurals.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from citewell.core.text import STOP_WORDS, words

IS = r"(?:['’]?s| is| are| was| were)"
"""What follows `what` or `who`, as a pattern: `'s`, `is` and the like."""
_OF = r"(?:the |an? |some )?(?:definition|meaning|overview|introduction|information) (?:of|to|on|about)"
_FRAME = re.compile(
    rf"(?:(?:what{IS} )?{_OF}|what{IS} meant by|(?:what|who){IS}|define|describe|explain|about|"
    rf"give me {_OF}|(?:can you |could you |please )*tell me (?:more |something )?about|"
    r"what (?:do you|can you) (?:know|tell me) about)\s+(?P<subject>.+)",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"what (?:do|does|did) (?:the (?:word|term) )?(?P<subject>.+?) (?:mean|stand for)", re.IGNORECASE
)
_KNOWN = r"(?:famous|important|significant|celebrated|(?:well[- ])?known|renowned|remembered|noted)"
# What somebody did or something does, and what it is known for: the lead says it.
_DOES = re.compile(
    r"what (?:do|does|did) (.+?) (?:actually )?do|"
    rf"what{IS} (.+?) (?:(?:best|most|mainly|mostly) )?{_KNOWN} for|"
    rf"why{IS} (.+?) (?:so )?{_KNOWN}",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*[(\[]([^)\]]*)[)\]]\s*$")
_SITE = re.compile(r"\s+(?:[|–—·•»]|-|::)\s+")
_ARTICLES = frozenset({"the", "a", "an"})
_ASKS = re.compile(
    r"(?:what|who|whom|whose|when|where|why|how|which|is|are|was|were|do|does|did|can|compare)\b",
    re.IGNORECASE,
)
# The beginning of `Suffrage (from the Latin suffragium) is`, and what stands beside the name in it.
_DEFINITION = re.compile(r"(?P<name>\w[^.!?]{0,120}?)\s+(?:is|are|was|were)\s(?!also\b)")
_ASIDE = re.compile(r"\s*[(\[,].*$")
LAST_NAME, _FIRST_AND_LAST = 0.5, 0.75
_MIDDLE_NAME = re.compile(r" \w+ ")
_MOST_WORDS = 8  # of a name
_SHORT = 3  # letters of a word that stays as it is
_BEFORE_ES = ("che", "she", "se", "xe", "ze", "oe")


def asked_subject(question: str) -> str:
    """Return the name of what the question asks to describe; empty if it asks something else.

    `the capital of France` is returned for "What is the capital of France?": whether that is a subject only
    a page's title can tell.
    """
    text = question.strip().rstrip("?!. ").strip()
    if found := _DOES.fullmatch(text):
        return name_key(next(filter(None, found.groups())))
    if found := _MEANS.fullmatch(text) or _FRAME.fullmatch(text):
        return name_key(found["subject"])
    return "" if _ASKS.match(text) else name_key(text)


def named(title: str) -> frozenset[str]:
    """Return the names that a title gives to the subject of its page.

    `Mercury (planet)` is called `mercury`, `mercury planet` and `planet mercury`, and the title of a web page
    counts with and without the name of its site, as in `Caesium | An encyclopedia`.
    """
    return _named(title)


@lru_cache(4096)
def _named(title: str) -> frozenset[str]:
    names = set()
    for text in {title, _SITE.split(title)[0]}:
        names.add(name_key(text))
        if found := _BRACKETS.search(text):
            base = text[: found.start()]
            names |= {name_key(base), name_key(f"{found[1]} {base}")}
    return frozenset(names - {""})


def name_key(name: str) -> str:
    """Return a name as it is compared: its words without accents, leading articles, and plural endings."""
    plain = unicodedata.normalize("NFKD", name)
    found = words("".join(c for c in plain if not unicodedata.combining(c)))
    while len(found) > 1 and found[0] in _ARTICLES:
        del found[0]
    return " ".join(map(_singular, found[:_MOST_WORDS]))


def is_about(subject: str, title: str) -> float:
    """Return how surely a page with this title is about the subject: 1 for a name of it, 0 for another.

    A page on somebody counts three quarters without the middle name, as in `william taft`, and half for the
    last name.
    """
    if not subject:
        return 0.0
    names = named(title)
    if subject in names:
        return 1.0
    if any(_MIDDLE_NAME.sub(" ", name) == subject for name in names):
        return _FIRST_AND_LAST
    return LAST_NAME if any(name.endswith(f" {subject}") for name in names) else 0.0


def defines(title: str, sentence: str) -> bool:
    """Return whether a sentence says what the subject of a title is, as in `A volcano is an opening`."""
    found = _DEFINITION.match(sentence)
    return found is not None and name_key(_ASIDE.sub("", found["name"])) in named(title)


def mentioned(question: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the runs of words of the question that may be the name of something, with their content words.

    No run begins or ends with a function word.
    """
    found = words(question)[: 4 * _MOST_WORDS]
    for start in range(len(found)):
        for end in range(start + 1, min(start + _MOST_WORDS, len(found)) + 1):
            run = found[start:end]
            if run[0] not in STOP_WORDS and run[-1] not in STOP_WORDS:
                yield name_key(" ".join(run)), frozenset(run) - STOP_WORDS


def _singular(word: str) -> str:
    """Return a word without its plural ending, and without a final `e` that a plural may have added.

    `virus` and `viruses`, and `prize` and `prizes`, are one word each: which of them had the `e` before its
    plural ending only a dictionary can tell.
    """
    if len(word) > _SHORT and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
    if len(word) > _SHORT and word.endswith(_BEFORE_ES):
        return word[:-1]
    return word
