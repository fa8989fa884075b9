"""Parses times in HTTP headers: dates, seconds and Retry-After. The input is untrusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_MAX_SECONDS = 2**31  # RFC 9111 §1.2.2: larger values count as this


def delta_seconds(text: str) -> int | None:
    """Parse a number of seconds (RFC 9111 §1.2.2); None if `text` is anything else."""
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return None
    return min(int(text[:12]), _MAX_SECONDS)


def http_date(text: str | None) -> float | None:
    """Parse a date (RFC 9110 §5.6.7) as seconds since the epoch; None if it is not a date."""
    try:
        date = parsedate_to_datetime(text or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds to wait according to `Retry-After` (RFC 9110 §10.2.3); None without a valid value."""
    value = headers.get("Retry-After", "")
    if (seconds := delta_seconds(value)) is not None:
        return float(seconds)
    date = http_date(value)
    return None if date is None else max(date - now(), 0.0)
