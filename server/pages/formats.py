"""Times, sizes and words for people."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from markupsafe import Markup, escape

_CODE = re.compile(r"`([^`]+)`")


def spoken_time(moment: datetime) -> str:
    """Return a moment, as in `21 November 2026, 23:11 UTC`."""
    moment = moment.astimezone(UTC)
    return f"{spoken_day(moment)}, {moment:%H:%M} UTC"


def spoken_day(day: date) -> str:
    """Return a day, as in `21 November 2026`."""
    return f"{day.day} {day:%B %Y}"


def spoken_seconds(seconds: float) -> str:
    """Return a duration, as in `1.3 s`, or `12 ms` if it is short."""
    return f"{seconds:.1f} s" if seconds >= 0.0995 else f"{max(round(seconds * 1000), 0)} ms"


def with_code(text: str) -> Markup:
    """Return a text as HTML in which what stands between backticks is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped


def spoken_bytes(size: float) -> str:
    """Return a size, as in `1.2 MB`, in powers of 1000."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
