"""Splits a question that needs more than one search into its parts, by rules."""

from __future__ import annotations

import re

from citewell.core.text import content_words

_MOST = 4  # parts
_LONGEST = 300  # characters of a question that is split
_ENDS = ' \t?!.,;:"“”'

# Comparisons: the whole question matches, and `things` are joined by `and` or the like.
_ASKING = (
    r"(?:(?:in|on|at|by|for|from|to|of|with) )?(?:what|who|whom|whose|when|where|why|which|how)(?:['’]s)?\b"
)
_VERB = r"(?:do|does|did|is|are|was|were|can)"
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:please )?(?:compare and contrast|compare|contrast)(?: between)? (?P<things>.+)",
        r"(?:.*\b)?(?:differences?|similarit(?:y|ies)|comparison|distinction)(?: (?:is|are) there)?"
        r" between (?P<things>.+)",
        rf"(?:how|in (?:what|which) ways?) {_VERB} (?P<things>.+? and .+?) "
        r"(?:differ|compare|different|similar|alike)(?:\b.*)?",
        rf"how {_VERB} (?P<things>.+? (?:different from|differ from|compare to|compare with|similar to) .+)",
        r"(?:how|what|who) (?:can (?:you|i|we) |to )?(?:distinguish(?:es)?|tell) "
        r"(?!(?:if|whether|when|where|why|how|what|who|that) )(?P<things>.+)",
        r"what do (?P<things>.+) have in common",
        rf"(?!{_ASKING})(?P<things>.+?,? (?:vs\.?|versus|compared (?:to|with)|as opposed to) .+)",
    )
)
_JOINT = re.compile(
    r",?\s+(?:and|with|versus|vs\.?|different from|differ from|similar to|compared? (?:to|with)|"
    r"as opposed to|from|to|&)\s+",
    re.IGNORECASE,
)
_AND = re.compile(r",?\s+(?:and|versus|vs\.?|&)\s+", re.IGNORECASE)
_COMMA = re.compile(r",\s+")
_EITHER = re.compile(
    r"(?P<asked>(?:which|who|what)\b[^,:]*)[,:] (?P<first>[^,]+),? or (?P<second>[^,]+)", re.IGNORECASE
)
# Two names after a plural: "When were Newton and Leibniz born?", "the capitals of France and Spain".
_NAME = r"(?:[tT]he )?[A-Z][\w'’.-]*(?: (?:(?:of|the|de|von|van) )*[A-Z0-9][\w'’.-]*)*"
_NAMES = re.compile(
    rf"(?P<before>.*\b(?:are|were|do|have|[a-z]{{3,}}s of|[a-z]{{3,}}s in)) "
    rf"(?P<first>{_NAME}) and (?P<second>{_NAME})(?P<after>(?: [^A-Z]*)?)"
)
# The head of "the climate of France and Spain", which the second thing shares.
_HEAD = re.compile(r"(?P<head>.*\b[a-z]\w* (?:of|for) )(?P<rest>.+)")
# The kind of things that are then named: "the planets Mars and Venus".
_KIND = re.compile(r"(?:the )?(?:[a-z]+ )?[a-z]{3,}s (?=[A-Z])")
_THAT = re.compile(r"^(?:that|those) (?:of|for|in) ", re.IGNORECASE)
# In "red and white blood cells" the first shares the noun.
_ADJECTIVES = frozenset(
    "red white black blue green yellow brown gray grey hot cold warm old new young big small large great low "  # noqa: SIM905
    "high upper lower inner outer left right north south east west northern southern eastern western "
    "hard soft light heavy strong weak male female acute chronic civil criminal direct indirect private "
    "public simple complex solid liquid primary secondary positive negative plant animal".split()
)

# Questions joined by `and`.
_NEXT = re.compile(rf"[,;]?\s+(?:and|but)(?: also)?\s+(?={_ASKING})|[?.;]\s+(?={_ASKING})", re.IGNORECASE)
_BEGINS = re.compile(rf"{_ASKING}|(?:tell|explain|describe|define)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"^(?:who|whose|which)\b", re.IGNORECASE)
_LEAST = 3  # words of a question: "How and why does it rain?" is one
_PRONOUN = re.compile(
    r"\b(?P<own>its|his|hers|their|her(?= \w))\b|\b(?:it|he|him|she|her|they|them)\b", re.IGNORECASE
)
ONE_NAME = re.compile(rf"(?<!^)\b{_NAME}")
_DONE = r"(?:\w{2,}ed|made|born|built|found|written|held|spoken|grown|fought|begun)(?: (?:in|at|on|by) .+)?"
# "what is X", "where is X made", "who wrote X", "when did X begin"
_DESCRIBED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:what|who|where|when|how \w+)(?:['’]s| is| are| was| were) (?P<subject>.+?)(?: {_DONE})?",
        r"(?:what|when|where|why|how) (?:did|does|do) (?P<subject>.+) \w+",
        r"who (?!is |are |was |were |did |does |do )\w+ (?P<subject>.+)",
        r"(?:tell me about|explain|describe|define) (?P<subject>.+)",
    )
)
_OFFICE = re.compile(r"who(?:['’]s| is| was| are| were) (?:a|an|the) [a-z]", re.IGNORECASE)
_NO_QUESTION = re.compile(r"(?:in|on|at|by|for|from|to|of|with) (?:what|which) \w+", re.IGNORECASE)


def parts(question: str) -> tuple[str, ...]:
    """Return the queries to search for, one by one; only the question itself if it has no parts.

    A comparison becomes one query for each thing. Questions joined by `and` are separated, and a pronoun
    in a later one is replaced by what the first is about.
    """
    text = " ".join(question.split()).strip(_ENDS)
    if len(text) > _LONGEST:
        return (question,)
    found = tuple(dict.fromkeys(_compared(text) or _joined(text) or _two_names(text)))
    return found[:_MOST] if len(found) > 1 else (question,)


def _compared(text: str) -> tuple[str, ...]:
    for pattern in _COMPARISONS:
        if found := pattern.fullmatch(text):
            return _things(found["things"])
    if found := _EITHER.fullmatch(text):
        return tuple(_described(found[name], found["asked"]) for name in ("first", "second"))
    return ()


def _things(text: str) -> tuple[str, ...]:
    """Split `A, B and C`; the second of `the climate of A and B` gets the head of the first."""
    joint = _AND if _AND.search(text) else _JOINT
    *before, last = (side.strip(_ENDS) for side in joint.split(text))
    things = [thing for side in before for thing in _COMMA.split(side)] + [last]
    if len(things) < 2 or not all(things):
        return ()
    if all(thing[0].isupper() for thing in things[1:]):
        things[0] = _KIND.sub("", things[0], count=1)
    if found := _HEAD.fullmatch(things[0]):
        things[1:] = [_THAT.sub("", thing) for thing in things[1:]]
        if not any(map(_HEAD.fullmatch, things[1:])):
            return (things[0], *(found["head"] + thing for thing in things[1:]))
    tail = last.split()
    if len(tail) > 1:
        things = [f"{t} {' '.join(tail[1:])}" if t.lower() in _ADJECTIVES else t for t in things[:-1]] + [
            last
        ]
    return tuple(things)


def _two_names(text: str) -> tuple[str, ...]:
    found = _NAMES.fullmatch(text)
    return (
        tuple(found["before"] + f" {found[n]}" + found["after"] for n in ("first", "second")) if found else ()
    )


def _described(thing: str, asked: str) -> str:
    return f"{thing.strip(_ENDS)} {' '.join(content_words(asked))}"


def _joined(text: str) -> tuple[str, ...]:
    first, *others = (clause.strip(_ENDS) for clause in _NEXT.split(text))
    if not others or not _BEGINS.match(first) or any(len(c.split()) < _LEAST for c in (first, *others)):
        return ()
    if any(_RELATIVE.match(clause) and f" {clause.split()[0].lower()} " in first for clause in others):
        return ()  # "the man who came and who went"
    completed = [_completed(clause, first) for clause in others]
    return (f"{first}?", *(f"{clause}?" for clause in completed)) if all(completed) else ()


def _completed(clause: str, first: str) -> str:
    """Return a later question with what the first is about in the place of its pronouns; empty if unknown."""
    if _NO_QUESTION.fullmatch(clause):
        return ""
    few = len(content_words(clause)) <= 1 and not ONE_NAME.search(clause)
    if not few and not _PRONOUN.search(clause):
        return clause
    subject = subject_of(first)
    thing = found["rest"] if (found := _HEAD.fullmatch(subject)) else subject
    if not subject:
        return ""
    if not _PRONOUN.search(clause):
        return f"{clause} of {thing}"

    def named(pronoun: re.Match[str]) -> str:
        name = thing if pronoun[0].lower() in ("it", "its") else subject
        return f"{name}'s" if pronoun["own"] else name

    return _PRONOUN.sub(named, clause)


def subject_of(clause: str) -> str:
    """Return what a question is about: its only name, or the phrase after its verb; empty if unknown.

    "Who was the king of France?" is about the king.
    """
    names = ONE_NAME.findall(clause)
    if len(names) == 1 and not _OFFICE.match(clause):
        return str(names[0])
    return next((found["subject"] for p in _DESCRIBED if (found := p.fullmatch(clause))), "")
