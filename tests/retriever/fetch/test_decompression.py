"""Content codings: what each decoder gives, in what pieces, and what it refuses."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from contextlib import suppress

import brotli
import pytest

from citewell.core.errors import FetchError
from citewell.retriever.fetch.decompression import PIECE_BYTES, decoder, zstd

PAGE = b"".join(b"<p>line %d of a page</p>\n" % n for n in range(20_000))


def packed(wbits: int) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        packer = zlib.compressobj(6, wbits=wbits)
        return packer.compress(data) + packer.flush()

    return pack


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", packed(31)),
    "x-gzip": ("X-GZip", packed(31)),
    "zlib": ("deflate", packed(15)),
    "raw deflate": ("deflate", packed(-15)),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
    "none": ("", bytes),
}
CODINGS = [name for name in ENCODERS if name != "none"]


def decode(encoding: str, data: bytes, chunk: int = 4096) -> bytes:
    decoding = decoder(encoding)
    pieces = [piece for at in range(0, len(data), chunk) for piece in decoding.feed(data[at : at + chunk])]
    decoding.finish()
    assert all(len(piece) <= 2 * PIECE_BYTES for piece in pieces)
    return b"".join(pieces)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("chunk", [1, 7, 65_536])
def test_however_the_data_arrive(name: str, chunk: int) -> None:
    encoding, encode = ENCODERS[name]
    page = PAGE[:3000] if chunk == 1 else PAGE
    assert decode(encoding, encode(page), chunk) == page


@pytest.mark.parametrize("name", CODINGS)
def test_an_empty_body_and_a_body_of_nothing(name: str) -> None:
    encoding, encode = ENCODERS[name]
    assert decode(encoding, b"") == b""
    assert decode(encoding, encode(b"")) == b""


@pytest.mark.parametrize("name", CODINGS)
def test_a_body_that_breaks_off(name: str) -> None:
    encoding, encode = ENCODERS[name]
    data = encode(PAGE)
    for length in (1, 2, 3, 5, len(data) // 2, len(data) - 1):
        with pytest.raises(FetchError, match=r"broke off|could not be decompressed") as raised:
            decode(encoding, data[:length])
        assert raised.value.kind == "malformed"


@pytest.mark.parametrize("name", CODINGS)
def test_a_body_that_is_damaged_is_an_error_or_other_bytes(name: str) -> None:
    draw = random.Random(7)
    encoding, encode = ENCODERS[name]
    data = encode(PAGE[:5000])
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(data))] = draw.randrange(256)
        with suppress(FetchError):
            decode(encoding, bytes(damaged))


@pytest.mark.parametrize("name", CODINGS)
def test_a_bomb_comes_in_small_pieces(name: str) -> None:
    encoding, encode = ENCODERS[name]
    data = encode(bytes(30_000_000))
    pieces = decoder(encoding).feed(data)
    assert all(len(next(pieces)) <= 2 * PIECE_BYTES for _ in range(100))


@pytest.mark.parametrize(("encoding", "name"), [("gzip", "gzip"), ("zstd", "zstd")])
def test_several_members_are_one_body_and_what_follows_is_ignored(encoding: str, name: str) -> None:
    _, encode = ENCODERS[name]
    assert decode(encoding, encode(b"one ") + encode(b"two"), chunk=5) == b"one two"
    assert decode(encoding, encode(b"one") + bytes(8)) == b"one"
    with pytest.raises(FetchError, match="more than 100 parts"):
        decode(encoding, encode(b"") * 200)


def test_a_window_of_more_than_8_mebibytes_is_refused() -> None:
    level = {zstd.CompressionParameter.compression_level: 1, zstd.CompressionParameter.window_log: 27}
    packer = zstd.ZstdCompressor(options=level)
    with pytest.raises(FetchError, match="could not be decompressed"):
        decode("zstd", packer.compress(PAGE) + packer.flush())


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br, gzip", "compress", "x-compress", "gzip, dcb"])
def test_codings_that_were_not_asked_for(encoding: str) -> None:
    with pytest.raises(FetchError, match="which was not asked for") as raised:
        decoder(encoding)
    assert raised.value.message.isascii()


@pytest.mark.parametrize("encoding", ["", "none", "UTF-8", "binary", "identity, made-up", "\u00ff"])
def test_names_that_are_no_codings_say_nothing(encoding: str) -> None:
    assert decode(encoding, PAGE) == PAGE


@pytest.mark.parametrize("encoding", ["identity, gzip", "gzip,", "gzip;q=1"])
def test_a_coding_beside_what_says_nothing(encoding: str) -> None:
    assert decode(encoding, gzip.compress(PAGE)) == PAGE
