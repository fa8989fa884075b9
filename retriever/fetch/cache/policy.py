"""What may be kept, and how long it may be used: RFC 9111, https://www.rfc-editor.org/rfc/rfc9111.

A policy of our own rather than a library's, since the libraries that could be driven from aiohttp leave out
the Age field or answers that are served stale after a failure.
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
_MOST_FRESH = 7 * DAY  # whatever a server promises, it is asked again after a week
_KEPT_FOR_VALIDATION = 7 * DAY
_ROBOTS_PATH = "/robots.txt"
_MOST_ROBOTS = DAY  # RFC 9309 §2.4
# §3.1, and cookies: a cache for many has no business with them, and none is ever sent.
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
    """Decides what is kept and for how long, as a private cache does (§1)."""

    unstated_seconds: float = 300.0
    """How long an answer is fresh that says neither how long it is nor when it last changed (§4.2.2)."""
    stale_seconds: float = DAY
    """How long after its time an answer is used when its server fails, unless it says (RFC 5861 §4)."""

    def entry(
        self, response: Response, request_headers: Mapping[str, str], requested_at: float, received_at: float
    ) -> CacheEntry | None:
        """Return what is kept of an answer, or None when it must not be kept or would never be of use."""
        says = Directives(response.headers)
        vary = varying(response.headers)
        if response.status not in _STORED or "no-store" in says or "*" in vary:
            return None
        values = nominated(vary, request_headers)
        entry = entry_of(response, values, requested_at, received_at, _UNKEPT | _listed(response.headers))
        return entry if self.keep_until(entry) > received_at else None

    def is_fresh(self, entry: CacheEntry, now: float) -> bool:
        """Say whether an entry may be used without asking its server (§4.2)."""
        return "no-cache" not in Directives(entry.headers) and self._age(entry, now) < self._lifetime(entry)

    def may_be_stale(self, entry: CacheEntry, now: float) -> bool:
        """Say whether an entry may be used although its time is over, since its server fails (§4.2.4)."""
        end = self._lifetime(entry) + self._stale_seconds(entry)
        return "no-cache" not in Directives(entry.headers) and self._age(entry, now) < end

    def keep_until(self, entry: CacheEntry) -> float:
        """Return the time, in seconds since the epoch, after which an entry is of no use."""
        fresh = 0.0 if "no-cache" in Directives(entry.headers) else self._lifetime(entry)
        use = max(
            fresh + self._stale_seconds(entry) - self._age(entry, entry.received_at),
            _KEPT_FOR_VALIDATION if validators(entry) else 0.0,
        )
        return entry.received_at + use

    def _lifetime(self, entry: CacheEntry) -> float:
        """Return the seconds that an entry is fresh for, from when it was made (§4.2.1)."""
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
        """Return the seconds since an entry was made or found to hold by its server (§4.2.3)."""
        made = http_date(entry.headers.get("Date"))
        apparent = max(0.0, entry.received_at - made) if made is not None else 0.0
        age = delta_seconds(entry.headers.get("Age", "")) or 0
        delay = entry.received_at - entry.requested_at
        # A clock that was set back makes the past as long as the future that it came from.
        return max(apparent, age + delay) + abs(now - entry.received_at)

    def _stale_seconds(self, entry: CacheEntry) -> float:
        says = Directives(entry.headers)
        if "must-revalidate" in says or "no-cache" in says:
            return 0.0
        stated = says.seconds("stale-if-error")
        return self.stale_seconds if stated is None else stated


def suits(entry: CacheEntry, request_headers: Mapping[str, str]) -> bool:
    """Say whether an entry answers a request with these headers (§4.1)."""
    return nominated(frozenset(entry.vary), request_headers) == entry.vary


def validators(entry: CacheEntry) -> dict[str, str]:
    """Return the request headers that ask whether an entry still holds (§4.3.1); none where nothing tells."""
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
    """Return an entry with the headers of the 304 that says that it holds (§4.3.4).

    None when the 304 is about another state of the page.
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
    """Return the part of an entity tag that weak comparison looks at (RFC 9110 §8.8.3.2)."""
    return tag.strip().removeprefix("W/")


def _listed(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Return the headers that belong to one connection only, since its Connection field lists them (§3.1)."""
    fields = ",".join(headers.getall("Connection", ()))
    return frozenset(part.strip().lower() for part in fields.split(","))
