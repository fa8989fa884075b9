"""The support of a sentence by a reference: ROUGE-1 of content words, plus names and numbers."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from functools import cached_property
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from citewell.core.dates import MONTH_WORDS, Day, days, spelled_dates
from citewell.core.pointing_back import points_back
from citewell.core.quotable import pieces
from citewell.core.rouge import Text, score
from citewell.core.text import STOP_WORDS, content_words, words

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CAPITAL = f"[{''.join(filter(str.isupper, map(chr, range(0x530))))}]"  # Latin, Greek, Cyrillic
# The number of a ruler, a war or the like with the word before it, as in "Elizabeth II".
_ROMAN = re.compile(rf"\b{_CAPITAL}\w+ [IVX]+\b")
_NAME = re.compile(rf"(?<=[\w,;:)\"'’”] ){_CAPITAL}\w+")
# Several names, as in `World Health Organization` and `University of the Arts`
_RUN = re.compile(rf"{_CAPITAL}\w*(?:[ -](?:(?:and|of|the) ){{0,2}}{_CAPITAL}\w*)+")
# Endings by which forms of a name differ, as Canada and Canadian, but not Austria and Australia.
_ENDINGS = frozenset(
    "|s|es|a|e|i|y|o|k|n|m|t|ce|ey|ay|al|an|ian|ean|vian|egian|ese|uese|ish|tish|and|land|ic|ist|ism|ity|"  # noqa: SIM905
    "ary|ency|ent|er|ers|ed|ing".split("|")
)
_FEWEST_SHARED = 4  # letters, but for plurals
_CALENDAR = MONTH_WORDS | frozenset(day.lower() for day in calendar.day_name)

_NUMBER_WORDS = """\
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_WORDS_OF = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "thousand": "1000",
}
_STEM = 4  # letters that make two words one
# `64 members`, but no year and no unit, which may have another name or a sign.
_COUNT = re.compile(r"(?<![\w.,$€£-])(\d{1,3}(?:,\d{3})*(?:\.\d+)?) ([a-z]{3,}s)\b")
_UNIT = re.compile(
    r"(?:centi|milli|kilo|mega|giga)?"
    r"(?:met|lit|gram|byte|watt|volt|sec|min|hr|hour|day|week|month|year|mile|yard|inch|acre|ton|pound|"
    r"dollar|euro|cent|degree|time)"
)
_UNITS = {
    "km": "kilometer",
    "cm": "centimeter",
    "mm": "millimeter",
    "kg": "kilogram",
    "h": "hour",
    "min": "minute",
}
# As in `the fee less 6 euros`, which does not say that anything is 6 euros.
_TAKEN_AWAY = re.compile(r"\b(?:less|minus|except|not) [$€£]?(\d+(?:[.,]\d+)*)")
# A sentence, row or item with fewer words may leave out what its number is of.
_FEWEST_WORDS = 8
_CURRENCIES = (
    ("$", {"dollar", "dollars", "usd"}),
    ("€", {"euro", "euros", "eur"}),
    ("£", {"pound", "pounds", "gbp"}),
)


class ReferenceText:
    """A reference's text, tokenized once for comparison with any number of sentences.

    `above` are its title and headings, whose numbers hold for all of it.
    """

    def __init__(self, text: str, above: str = "") -> None:
        self._passage, self._above = text, above
        self._text = f"{above}\n{text}"
        self._content = Text(self._text, content_words)

    def precision(self, sentence: str) -> float:
        """`rouge_1_precision` of a sentence and this text."""
        return score(Text(sentence, content_words), self._content).precision

    def holds_facts(self, sentence: str) -> bool:
        """`holds_facts` for a sentence and this text."""
        names = {word for name in _NAME.findall(sentence) for word in words(name)}
        return _numbers(sentence) <= self._numbers and names <= self._words

    def holds_numbers(self, sentence: str, question: str) -> bool:
        """Return whether the text has each number that the sentence has in digits, in digits or in words.

        A sentence, item or row with the number has another word of the sentence or of its question, or is
        short: the date of one event says nothing of another. It names no other day than the sentence or else
        the question, and takes the number from another only if the sentence does. It has what is counted,
        such as the members of `64 members`. Currencies count too, and Roman numerals after names, since a
        text about Elizabeth I says nothing of Elizabeth II.
        """
        numbers, said = _numbers(sentence), _stems_beside_numbers(f"{question} {sentence}")
        of, taken = days(sentence) or days(question), _taken_away(sentence)
        for number in numbers:
            if not any(each.says(number, taken) and each.tells(said, of) for each in self._statements):
                return False
        for number, noun in _counts(sentence):
            if not any(number in each.numbers and noun in each.stems for each in self._statements):
                return False
        money = all(_names(self._text, of) for of in _CURRENCIES if numbers and _names(sentence, of))
        return money and set(_ROMAN.findall(sentence)) <= set(_ROMAN.findall(self._text))

    def holds_names(self, sentence: str, question: str) -> bool:
        """Return whether the text has each name that the sentence adds to its question, or its initials.

        The first word does not count as a name, nor do days and months, which may be written in digits.
        """
        known = {*words(f"{self._text} {question}"), *map(_initials, _RUN.findall(self._text))}
        added = [n for n in _NAME.findall(sentence) if not all(_is_known(word, known) for word in words(n))]
        spelled_out = {
            name for run in _RUN.findall(sentence) if _initials(run) in self._words for name in run.split()
        }
        return all(name in spelled_out or name.lower() in _CALENDAR for name in added)

    @cached_property
    def _statements(self) -> list[_Statement]:
        found = [_Statement.of(self._above, frozenset())._replace(is_short=True)]
        for text in pieces(self._passage):
            before = found[-1].stems if points_back(text) else frozenset()
            found.append(_Statement.of(text, before))
        return found

    @cached_property
    def _numbers(self) -> set[str]:
        return _numbers(self._text)

    @cached_property
    def _words(self) -> set[str]:
        return set(words(self._text)) | STOP_WORDS


class _Statement(NamedTuple):
    """A sentence, an item of a list, or a row of a table."""

    numbers: frozenset[str]
    taken_away: frozenset[str]
    stems: frozenset[str]
    days: frozenset[Day]
    is_short: bool

    @classmethod
    def of(cls, text: str, before: frozenset[str]) -> _Statement:
        """Return the piece of a text; `before` are the stems of what it points back to."""
        found = words(text)
        spelled = {_WORDS_OF[word] for word in found if word in _WORDS_OF}
        numbers = frozenset(_numbers(text) | spelled)
        is_short = len(found) < _FEWEST_WORDS
        return cls(numbers, _taken_away(text), _stems_beside_numbers(text) | before, days(text), is_short)

    def says(self, number: str, taken_away: frozenset[str]) -> bool:
        """Return whether it has a number, and takes it away only if a sentence with `taken_away` does."""
        return number in self.numbers and (number not in self.taken_away or number in taken_away)

    def tells(self, said: frozenset[str], of: frozenset[Day]) -> bool:
        """Return whether its numbers may be of one of these words, and of one of these days, if any."""
        is_of_day = not (of and self.days) or any(day.may_be(other) for day in of for other in self.days)
        return is_of_day and (self.is_short or bool(said & self.stems))


def rouge_1_precision(sentence: str, reference: str) -> float:
    """Return the share of the sentence's content words that occur in the reference, 0 to 1.

    This is ROUGE-1 precision without stop words (option `-s` of the original ROUGE, Lin 2004,
    https://aclanthology.org/W04-1013). Precision as in WebGLM §3.1.2, since a reference is a paragraph and a
    sentence need not cover it; without stop words, since half of any English sentence occurs in any other.
    """
    return ReferenceText(reference).precision(sentence)


def holds_facts(sentence: str, reference: str) -> bool:
    """Return whether the reference contains every number and every capitalized name of the sentence.

    A wrong year or person changes one word of ROUGE-1, but makes the sentence false. The first word does not
    count as a name, since every sentence begins with a capital.
    """
    return ReferenceText(reference).holds_facts(sentence)


def stems(found: Iterable[str]) -> frozenset[str]:
    """Return the beginnings of words, which most inflected forms share, and numbers in digits."""
    return frozenset(number if (number := digits(word)) else _stem(word) for word in found)


def _stem(word: str) -> str:
    # A plural of three letters is as short as a stem.
    is_plural = len(word) == _STEM and word.endswith("s") and not word.endswith("ss")
    return word[: _STEM - is_plural]


def digits(word: str) -> str | None:
    """Return a number in digits, if a word is one, in words or in digits."""
    return word if word.isdecimal() else _WORDS_OF.get(word)


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in _NUMBER.findall(spelled_dates(text))}


def _is_known(word: str, known: set[str]) -> bool:
    """Return whether a word of a name, or another form of it, is among others."""
    return word in known or any(_is_form(word, other) for other in known if other[:3] == word[:3])


def _is_form(word: str, other: str) -> bool:
    shared = sum(takewhile(bool, map(eq, word, other)))
    left = {word[shared:], other[shared:]}
    return left <= {"", "s"} or (shared >= _FEWEST_SHARED and left <= _ENDINGS)


def _initials(run: str) -> str:
    """Return the initials of a name of several words, in lower case."""
    return "".join(letter for letter in run if letter.isupper()).lower()


def _taken_away(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", "") for number in _TAKEN_AWAY.findall(text))


def _stems_beside_numbers(text: str) -> frozenset[str]:
    found = (word for word in content_words(text) if not digits(word) and word not in MONTH_WORDS)
    return stems(_UNITS.get(word, word) for word in found)


def _counts(sentence: str) -> list[tuple[str, str]]:
    """Return numbers in digits with the stems of what they count, but of units."""
    found = [(number, noun) for number, noun in _COUNT.findall(sentence) if not _UNIT.match(noun)]
    return [(number.replace(",", ""), noun[:_STEM]) for number, noun in found if noun not in STOP_WORDS]


def _names(text: str, currency: tuple[str, set[str]]) -> bool:
    sign, names = currency
    return sign in text or not names.isdisjoint(words(text))
