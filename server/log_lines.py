"""Lines of the log, of which a request can forge none."""

from __future__ import annotations

import logging
import unicodedata
from types import TracebackType

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class OneLineFormatter(logging.Formatter):
    """A formatter that escapes what would end a line or hide a part of it: control and bidi characters.

    Lines of tracebacks, which may quote requests, begin with a bar.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the first line."""
        return one_line(super().formatMessage(record))

    def formatException(self, ei: _Raised) -> str:  # noqa: N802 - logging's name
        """Return the traceback."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"| {one_line(line)}" for line in lines)


def one_line(text: str) -> str:
    """Return a text with its control, format and separating characters escaped, as in a literal of Python."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    is_plain = unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return character if is_plain else character.encode("unicode_escape").decode()
