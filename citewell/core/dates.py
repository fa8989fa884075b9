"""Days of the calendar in English text, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAMES = "January February March April May June July August September October November December"
_MONTHS = _NAMES.split()
_WORDS = [*_MONTHS, *(name[:3] for name in _MONTHS), "Sept"]
MONTH_WORDS = frozenset(map(str.lower, _WORDS))
"""The names of months and their abbreviations, in lower case."""

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (?P<year>\d{4})\b)?"
_MONTH = rf"(?P<name>{'|'.join(_WORDS)})\b\.?"
_DAY_FIRST = re.compile(rf"(?<![\d.,:/-]){_DAY}(?: of)? {_MONTH}{_YEAR}", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH} {_DAY}\b(?![:.]\d){_YEAR}", re.IGNORECASE)
_ISO = re.compile(r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\d-])")
_DOTTED = re.compile(r"(?<![\w.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?![\w.]\d)")
_VERBS = {"may", "march", "mar"}  # before a number, in lower case


class Day(NamedTuple):
    """A day of a year; `year` is None where the text leaves it out."""

    year: int | None
    month: int
    day: int

    def may_be(self, other: Day) -> bool:
        """Return whether both may be the same day: years count only if both have one."""
        years = {self.year, other.year} - {None}
        return self[1:] == other[1:] and len(years) < 2


def days(text: str) -> frozenset[Day]:
    """Return the days that a text names, such as `9 November`, `Nov. 9th, 2026`, `2026-11-09`, `9.11.2026`.

    `9/11/2026` is not one, since Americans and others read it differently.
    """
    return frozenset(_in_names(text)) | {day for _, day in _in_digits(text)}


def spelled_dates(text: str) -> str:
    """Return the text with its days in digits as people say them: `9 November 2026` for `2026-11-09`."""
    for match, (year, month, day) in _in_digits(text):
        text = text.replace(match, f"{day} {_MONTHS[month - 1]} {year}")
    return text


def _in_names(text: str) -> Iterator[Day]:
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for found in pattern.finditer(text):
            name, year, day = found["name"], found["year"], int(found["day"])
            is_verb = pattern is _MONTH_FIRST and name in _VERBS
            if 1 <= day <= 31 and not is_verb:
                yield Day(int(year) if year else None, _number(name), day)


def _in_digits(text: str) -> Iterator[tuple[str, Day]]:
    for pattern in (_ISO, _DOTTED):
        for found in pattern.finditer(text):
            day = Day(int(found["year"]), int(found["month"]), int(found["day"]))
            if 1 <= day.month <= 12 and 1 <= day.day <= 31:
                yield found[0], day


def _number(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name[:3].capitalize()))
