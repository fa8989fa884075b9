"""Entries as bytes: what is written is read again, and nothing else is."""

from __future__ import annotations

import os
import random
import zlib

import pytest

from citewell.retriever.fetch.cache.entry import CacheEntry, DamagedEntryError, cut, decode, encode

from .entries import entry


@pytest.mark.parametrize("body", [b"", b"text", os.urandom(100_000), b"%PDF-1.7 " + os.urandom(1_000)])
def test_what_is_written_is_read(body: bytes) -> None:
    written = entry(body=body)
    read = decode(encode(written), 100_000)
    assert read == written
    assert read is not None
    assert read.headers.getall("via") == ["a", "b"]


def test_text_is_compressed() -> None:
    assert len(encode(entry(body=b"<p>Again and again.</p>" * 1_000))) < 1_000


def test_no_change_of_a_byte_goes_unnoticed() -> None:
    chance = random.Random(1)
    written = entry(body=chance.randbytes(500))
    record = encode(written)
    noticed = 0
    for position in range(len(record)):
        damaged = bytearray(record)
        damaged[position] ^= 1 << chance.randrange(8)
        try:
            assert decode(bytes(damaged), 10_000) == written  # some bits of a stream only fill up a byte
        except DamagedEntryError:
            noticed += 1
    assert noticed > 0.98 * len(record)
    for length in range(len(record)):
        with pytest.raises(DamagedEntryError):
            decode(record[:length], 10_000)


@pytest.mark.parametrize(
    "head",
    [b"", b"[]", b"{}", b"null", b'{"url": 1}', b"\xff", b"[" * 100_000],
    ids=["empty", "list", "no-fields", "null", "field", "bytes", "deep"],
)
def test_what_others_wrote_is_not_believed(head: bytes) -> None:
    with pytest.raises(DamagedEntryError):
        decode(b"cw1" + zlib.compress(len(head).to_bytes(4, "big") + head), 10_000)


def test_a_body_that_is_larger_than_allowed_is_not_given_out() -> None:
    assert decode(encode(entry(body=b"a" * 10_000)), 10_000) is not None
    assert decode(encode(entry(body=b"a" * 10_001)), 10_000) is None
    assert decode(encode(entry(body=b"a" * 5_000_000)), 10_000) is None


@pytest.mark.parametrize(
    ("stored", "at", "given"),
    [
        (entry(body=b"1234"), None, entry(body=b"1234")),
        (entry(body=b"1234"), 4, entry(body=b"1234")),
        (entry(body=b"1234"), 3, entry(body=b"123", truncated=True)),
        (entry(body=b"1234", truncated=True), None, None),
        (entry(body=b"1234", truncated=True), 4, entry(body=b"1234", truncated=True)),
        (entry(body=b"1234", truncated=True), 3, entry(body=b"123", truncated=True)),
        (entry(body=b"1234", truncated=True), 5, None),
    ],
)
def test_a_body_that_was_cut_serves_those_who_want_no_more(
    stored: CacheEntry, at: int | None, given: CacheEntry
) -> None:
    assert cut(stored, at) == given
