"""Times in the header fields of HTTP, which anybody may send: dates, seconds and Retry-After."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_MOST_SECONDS = 2**31  # RFC 9111 §1.2.2: what larger numbers of seconds count as


def delta_seconds(text: str) -> int | None:
    """Read a number of seconds (RFC 9111 §1.2.2); None for everything else."""
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return None
    return min(int(text[:12]), _MOST_SECONDS)


def http_date(text: str | None) -> float | None:
    """Read a date (RFC 9110 §5.6.7) as seconds since the epoch; None when it is none."""
    try:
        date = parsedate_to_datetime(text or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds until what `Retry-After` says, in either form (RFC 9110 §10.2.3); None where there is none."""
    value = headers.get("Retry-After", "")
    if (seconds := delta_seconds(value)) is not None:
        return float(seconds)
    date = http_date(value)
    return None if date is None else max(date - now(), 0.0)
