"""Personal data in texts, by named patterns: a heuristic that misses some and finds some too many."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple


class _Pattern(NamedTuple):
    found: re.Pattern[str]
    is_real: Callable[[str], bool]


def kind_of_personal_data(text: str) -> str | None:
    """Return the first kind of personal data in a text: mail, iban, card, ip or phone; or None."""
    for kind, (pattern, is_real) in _PATTERNS.items():
        if any(is_real(match.group()) for match in pattern.finditer(text)):
            return kind
    return None


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _is_card(text: str) -> bool:
    """Check the last digit by the formula of Luhn (ISO/IEC 7812-1)."""
    digits = [int(digit) for digit in reversed(_digits(text))]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """Check the two check digits (ISO 13616)."""
    packed = text.replace(" ", "")
    moved = packed[4:] + packed[:4]
    return 15 <= len(packed) <= 34 and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_phone(text: str) -> bool:
    """Return whether a number is long enough, and is not one with thousands set apart."""
    groups = re.findall(r"\d+", text)
    thousands = all(len(group) == 3 for group in groups[1:]) and not text.startswith(("+", "0", "("))
    return 9 <= len(_digits(text)) <= 15 and not thousands


_V4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_V6 = r"[0-9a-fA-F:]*(?::[0-9a-fA-F]{0,4}){3,7}"
_AREA = r"(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?"
_GROUPS = r"\d{2,5}(?:[ .-]\d{2,5}){1,4}"
_PATTERNS: Mapping[str, _Pattern] = {
    "mail": _Pattern(re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), lambda text: True),
    "iban": _Pattern(re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), _is_iban),
    "card": _Pattern(re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.]\d)"), _is_card),
    "ip": _Pattern(re.compile(rf"(?<![\w.:])(?:{_V4}|{_V6})(?!\w|[.:]\w)"), _is_ip),
    "phone": _Pattern(
        re.compile(rf"(?<![\w.,/-]){_AREA}\d{{2,5}}(?:[ .-]\d{{2,5}}){{1,4}}(?![\w/-])"), _is_phone
    ),
}
