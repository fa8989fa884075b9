"""The rules of what to store, and how long to use it: RFC 9111, https://www.rfc-editor.org/rfc/rfc9111.

The policy is our own, since the libraries that work with aiohttp ignore the Age field or cannot serve stale
answers after a failure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from citewell.core.http_time import delta_seconds, http_date
from citewell.retriever.fetch.cache.directives import Directives, nominated, varying
from citewell.retriever.fetch.cache.entry import CacheEntry, entry_of
from citewell.retriever.fetch.transport import Response

HOUR = 3_600
DAY = 24 * HOUR
# Those that the fetcher can use, of the statuses that are final and understood (§3).
_STORED = frozenset({200, 203, 301, 302, 303, 307, 308, 404, 410})
_HEURISTIC = _STORED - {302, 303, 307}  # RFC 9110 §15.1
_FRACTION = 0.1  # of the time since the last change, as §4.2.2 suggests
_MOST_HEURISTIC = DAY
_MOST_STALE = DAY  # for an expired page whose server fails and which sets no limit (RFC 5861 §4)
_MOST_FRESH = 7 * DAY  # whatever a server promises, revalidate after a week
_KEPT_FOR_VALIDATION = 7 * DAY
_ROBOTS_PATH = "/robots.txt"
_MOST_ROBOTS = DAY  # RFC 9309 §2.4
# §3.1, and cookies: a shared cache must not store them, and the fetcher never sends any.
_UNKEPT = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "proxy-connection",
        "set-cookie",
        "set-cookie2",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# §3.2: they describe a body, and a 304 has none.
_OF_THE_BODY = frozenset(
    {"content-encoding", "content-length", "content-md5", "content-range", "content-type"}
)
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """The decisions of a private cache (§1): what to store, and for how long."""

    unstated_seconds: float = 300.0
    """Freshness in seconds of an answer without an expiry or a Last-Modified date (§4.2.2)."""

    def entry(
        self, response: Response, request_headers: Mapping[str, str], requested_at: float, received_at: float
    ) -> CacheEntry | None:
        """Return the entry to store for an answer; None if storing is forbidden or useless."""
        says = Directives(response.headers)
        vary = varying(response.headers)
        if response.status not in _STORED or "no-store" in says or "*" in vary:
            return None
        values = nominated(vary, request_headers)
        entry = entry_of(response, values, requested_at, received_at, _UNKEPT | _listed(response.headers))
        return entry if self.keep_until(entry) > received_at else None

    def is_fresh(self, entry: CacheEntry, now: float) -> bool:
        """Return whether an entry may be used without asking its server (§4.2)."""
        return "no-cache" not in Directives(entry.headers) and self._age(entry, now) < self._lifetime(entry)

    def may_be_stale(self, entry: CacheEntry, now: float) -> bool:
        """Return whether an expired entry may be used because its server fails (§4.2.4)."""
        end = self._lifetime(entry) + self._stale_seconds(entry)
        return "no-cache" not in Directives(entry.headers) and self._age(entry, now) < end

    def keep_until(self, entry: CacheEntry) -> float:
        """Return the time, in seconds since the epoch, after which an entry is useless."""
        fresh = 0.0 if "no-cache" in Directives(entry.headers) else self._lifetime(entry)
        use = max(
            fresh + self._stale_seconds(entry) - self._age(entry, entry.received_at),
            _KEPT_FOR_VALIDATION if validators(entry) else 0.0,
        )
        return entry.received_at + use

    def _lifetime(self, entry: CacheEntry) -> float:
        """Return the seconds from its creation for which an entry is fresh (§4.2.1)."""
        is_robots = URL(entry.url).path == _ROBOTS_PATH
        return min(self._stated(entry, is_robots), _MOST_ROBOTS if is_robots else _MOST_FRESH)

    def _stated(self, entry: CacheEntry, is_robots: bool) -> float:
        says = Directives(entry.headers)
        if (seconds := says.seconds("max-age")) is not None:
            return seconds
        made = http_date(entry.headers.get("Date"))
        made = entry.received_at if made is None else made
        if (expires := entry.headers.get("Expires")) is not None:
            end = http_date(expires)
            return 0.0 if end is None else max(0.0, end - made)
        if entry.status not in _HEURISTIC and "public" not in says:
            return 0.0
        if is_robots:
            return _MOST_ROBOTS
        changed = http_date(entry.headers.get("Last-Modified"))
        if changed is None:
            return self.unstated_seconds
        return min(max(0.0, made - changed) * _FRACTION, _MOST_HEURISTIC)

    def _age(self, entry: CacheEntry, now: float) -> float:
        """Return the seconds since an entry was created or confirmed by its server (§4.2.3)."""
        made = http_date(entry.headers.get("Date"))
        apparent = max(0.0, entry.received_at - made) if made is not None else 0.0
        age = delta_seconds(entry.headers.get("Age", "")) or 0
        delay = entry.received_at - entry.requested_at
        # After the clock was set back, the entry counts as that much older.
        return max(apparent, age + delay) + abs(now - entry.received_at)

    def _stale_seconds(self, entry: CacheEntry) -> float:
        says = Directives(entry.headers)
        if "must-revalidate" in says or "no-cache" in says:
            return 0.0
        stated = says.seconds("stale-if-error")
        return _MOST_STALE if stated is None else stated


def suits(entry: CacheEntry, request_headers: Mapping[str, str]) -> bool:
    """Return whether an entry answers a request with these headers (§4.1)."""
    return nominated(frozenset(entry.vary), request_headers) == entry.vary


def validators(entry: CacheEntry) -> dict[str, str]:
    """Return the request headers that revalidate an entry (§4.3.1); none without a validator."""
    if entry.status not in {200, 203}:
        return {}
    conditions: dict[str, str] = {}
    if _ETAG.fullmatch(etag := entry.headers.get("ETag", "").strip()):
        conditions["If-None-Match"] = etag
    changed = entry.headers.get("Last-Modified", "").strip()
    if changed.isascii() and http_date(changed) is not None:
        conditions["If-Modified-Since"] = changed
    return conditions


def renewed(
    entry: CacheEntry, response: Response, requested_at: float, received_at: float
) -> CacheEntry | None:
    """Return an entry with the headers of the 304 that confirms it (§4.3.4).

    None if the 304 is about another version of the page.
    """
    tag = response.headers.get("ETag")
    if tag is not None and _opaque(tag) != _opaque(entry.headers.get("ETag", "")):
        return None
    left_out = _UNKEPT | _OF_THE_BODY | _listed(response.headers)
    news = CIMultiDict((k, v) for k, v in response.headers.items() if k.lower() not in left_out)
    # An Age that is not sent again belonged to the earlier answer.
    kept = [(k, v) for k, v in entry.headers.items() if k not in news and k.lower() != "age"]
    headers = CIMultiDictProxy(CIMultiDict([*kept, *news.items()]))
    return replace(entry, headers=headers, requested_at=requested_at, received_at=received_at)


def _opaque(tag: str) -> str:
    """Return the part of an entity tag that weak comparison uses (RFC 9110 §8.8.3.2)."""
    return tag.strip().removeprefix("W/")


def _listed(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Return the headers that belong to one connection only, since its Connection field lists them (§3.1)."""
    fields = ",".join(headers.getall("Connection", ()))
    return frozenset(part.strip().lower() for part in fields.split(","))
