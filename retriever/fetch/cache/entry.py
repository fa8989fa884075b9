"""A stored answer, and its form as bytes: the same on disk and in Redis."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from multidict import CIMultiDict, CIMultiDictProxy

from citewell.retriever.fetch.transport import Response

_MAGIC = b"cw1"
"""Changes with the form of a record, so that records of another form are dropped."""
_LENGTH = struct.Struct(">I")
_MOST_META_BYTES = 1_000_000
_PDF = b"%PDF-"


class DamagedEntryError(ValueError):
    """The bytes are not those of an entry that Citewell wrote."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A response as received, with its times.

    `vary` holds the values of the request headers that the answer depends on, by lower-case name (RFC 9111
    §4.1). The two times are seconds since the epoch: when the request was sent and the answer received,
    or when the server last confirmed it.
    """

    url: str
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    truncated: bool
    vary: Mapping[str, str]
    requested_at: float
    received_at: float


@dataclass(frozen=True, slots=True)
class _Meta:
    url: str
    status: int
    headers: list[list[str]]
    truncated: bool
    vary: dict[str, str]
    requested_at: float
    received_at: float


def entry_of(
    response: Response,
    vary: Mapping[str, str],
    requested_at: float,
    received_at: float,
    unkept: frozenset[str],
) -> CacheEntry:
    """Make the entry of an answer, without the headers whose lower-case names are in `unkept`."""
    kept = CIMultiDict(
        (name, value) for name, value in response.headers.items() if name.lower() not in unkept
    )
    return CacheEntry(
        url=response.url,
        status=response.status,
        headers=CIMultiDictProxy(kept),
        body=response.body,
        truncated=response.truncated,
        vary=dict(vary),
        requested_at=requested_at,
        received_at=received_at,
    )


def encode(entry: CacheEntry) -> bytes:
    """Return the bytes of an entry: compressed, and with zlib's checksum over all of it."""
    meta = _Meta(
        url=entry.url,
        status=entry.status,
        headers=[[name, value] for name, value in entry.headers.items()],
        truncated=entry.truncated,
        vary=dict(entry.vary),
        requested_at=entry.requested_at,
        received_at=entry.received_at,
    )
    # Servers may send any bytes; aiohttp keeps them as lone surrogates, which JSON escapes.
    head = json.dumps(asdict(meta)).encode("ascii")
    # PDFs are compressed inside; level 1 costs little and gains most on HTML.
    level = 0 if entry.body[: len(_PDF)] == _PDF else 1
    return _MAGIC + zlib.compress(b"".join((_LENGTH.pack(len(head)), head, entry.body)), level)


def decode(record: bytes, most_bytes: int) -> CacheEntry | None:
    """Read an entry; None when its body is longer than `most_bytes`.

    Memory is bounded by `most_bytes`, whatever the record expands to. Raises `DamagedEntryError` when the
    bytes are not those that `encode` returned.
    """
    if not record.startswith(_MAGIC):
        raise DamagedEntryError("it does not begin like an entry")
    inflater = zlib.decompressobj()
    most = _LENGTH.size + _MOST_META_BYTES + most_bytes
    try:
        plain = inflater.decompress(memoryview(record)[len(_MAGIC) :], most + 1)
        if len(plain) > most:
            return None
        if not inflater.eof or inflater.unused_data:
            raise DamagedEntryError("it is incomplete, or longer than it was")
        (length,) = _LENGTH.unpack_from(plain)
        start = _LENGTH.size + length
        meta = _meta(json.loads(plain[_LENGTH.size : start]))
    except (zlib.error, struct.error, ValueError, TypeError, RecursionError) as error:
        raise DamagedEntryError(str(error)) from error
    body = plain[start:]
    if len(body) > most_bytes:
        return None
    return CacheEntry(
        url=meta.url,
        status=meta.status,
        headers=CIMultiDictProxy(CIMultiDict((name, value) for name, value in meta.headers)),
        body=body,
        truncated=meta.truncated,
        vary=meta.vary,
        requested_at=meta.requested_at,
        received_at=meta.received_at,
    )


def cut(entry: CacheEntry, at: int | None) -> CacheEntry | None:
    """Return the entry with its body cut to `at` bytes; None if it holds less than requested."""
    if at is not None and len(entry.body) > at:
        return replace(entry, body=entry.body[:at], truncated=True)
    # A body that was cut earlier than this request would cut it lacks a part.
    return entry if not entry.truncated or at == len(entry.body) else None


def _meta(value: Any) -> _Meta:
    """Check a record from a store that others can write to."""
    meta = _Meta(**value)
    if not (
        isinstance(meta.url, str)
        and isinstance(meta.status, int)
        and isinstance(meta.truncated, bool)
        and all(isinstance(text, str) for pair in meta.headers for text in pair)
        and all(isinstance(text, str) for pair in meta.vary.items() for text in pair)
        and isinstance(meta.requested_at, float | int)
        and isinstance(meta.received_at, float | int)
    ):
        raise TypeError("its fields are of other types")
    return meta
