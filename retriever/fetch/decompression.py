"""Decompression of bodies piece by piece, so that a small body cannot become a large one unnoticed.

Every decoder gives pieces of about `PIECE_BYTES`, whatever its input, and works only as far as its pieces are
read: a caller that counts bytes can stop at a limit. A decoder also holds its window, which is at most 32 KiB
(gzip, deflate), 8 MiB (zstd, RFC 9659) or 16 MiB (br, RFC 7932).
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from citewell.core.errors import FetchError

PIECE_BYTES = 65_536
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGICS = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16)))
_ZSTD_WINDOW_LOG = 23  # 8 MiB; the library would take 128 MiB
_MEMBERS = 100  # real files have one; setting up a decoder costs more than a few bytes suggest


class Decoder(Protocol):
    """A decoder of a content coding (RFC 9110 §8.4.1), piece by piece."""

    is_slow: bool
    """Feeding it may take tens of milliseconds and belongs in a thread. It releases the interpreter
    meanwhile."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the pieces that `data` adds to the body; raises `FetchError` when it is damaged."""

    def finish(self) -> None:
        """Raise `FetchError` unless the body is complete."""


def decoder(content_encoding: str) -> Decoder:
    """Return a new decoder for the header `Content-Encoding`.

    A name that is not a coding, such as `none` or `UTF-8`, which servers send, says nothing. Raises
    `FetchError` for a coding that was not requested, and for several codings, which no server needs.
    """
    names = [
        name
        for part in content_encoding.lower().split(",")
        if (name := part.partition(";")[0].strip()) in _CODINGS
    ]
    if not names:
        return _Identity()
    if len(names) > 1 or names[0] not in _DECODERS:
        shown = ascii(content_encoding.strip().lower()[:80])
        raise FetchError(f"its body is encoded as {shown}, which was not asked for", kind="malformed")
    return _DECODERS[names[0]]()


class _Identity:
    is_slow = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None:
        return


class _Inflate:
    """gzip (RFC 1952), of one or several members, and deflate (RFC 1950, or 1951 as some servers send)."""

    is_slow = False

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._head = b""
        self._inflate: zlib._Decompress | None = None
        self._members = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        data, self._head = self._head + data, b""
        while True:
            if self._inflate is None or self._inflate.eof:
                if len(data) < 2:
                    self._head = data
                    return
                if not self._begin(data):
                    return
            assert self._inflate is not None
            try:
                piece = self._inflate.decompress(data, PIECE_BYTES)
            except zlib.error:
                raise _damaged() from None
            if piece:
                yield piece
            if self._inflate.eof:
                data = self._inflate.unused_data
            else:
                data = self._inflate.unconsumed_tail
                if not data and len(piece) < PIECE_BYTES:
                    return

    def finish(self) -> None:
        if (self._head and self._inflate is None) or (self._inflate and not self._inflate.eof):
            raise _incomplete()

    def _begin(self, data: bytes) -> bool:
        """Start on a member; what follows the last one is padding, which browsers skip as well."""
        if self._inflate and not (self._gzip and data.startswith(_GZIP_MAGIC)):
            return False
        self._members = _counted(self._members)
        # The header of RFC 1950 §2.2; without it the data are bare.
        wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        self._inflate = zlib.decompressobj(31 if self._gzip else 15 if wrapped else -15)
        return True


class _Zstd:
    """zstd (RFC 8878), of one or several frames."""

    is_slow = False

    def __init__(self) -> None:
        self._head = b""
        self._frame: zstd.ZstdDecompressor | None = None
        self._frames = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        data, self._head = self._head + data, b""
        while True:
            if self._frame is None or self._frame.eof:
                if len(data) < 4:
                    self._head = data
                    return
                if self._frame and not data.startswith(_ZSTD_MAGICS):
                    return
                self._frames = _counted(self._frames)
                limit: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
                self._frame = zstd.ZstdDecompressor(options=limit)
            try:
                piece = self._frame.decompress(data, PIECE_BYTES)
            except zstd.ZstdError:
                raise _damaged() from None
            if piece:
                yield piece
            data = self._frame.unused_data if self._frame.eof else b""
            if not self._frame.eof and self._frame.needs_input:
                return

    def finish(self) -> None:
        if (self._head and self._frame is None) or (self._frame and not self._frame.eof):
            raise _incomplete()


class _Brotli:
    """br (RFC 7932).

    Its first piece comes only once the window is filled. That takes a few milliseconds where it has up to 4
    MiB, which is what servers use, and tens of milliseconds for the largest.
    """

    is_slow = False

    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()
        self._fed = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if data and not self._fed:
            self._fed = True
            self.is_slow = data[0] & 0b1101 == 0b1101  # windows of 8 and 16 MiB (§9.1)
        return self._pieces(data)

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        while not self._decompressor.is_finished():
            try:
                piece = self._decompressor.process(data, output_buffer_limit=PIECE_BYTES)
            except brotli.error:
                raise _damaged() from None
            if not piece:
                return
            yield piece
            data = b""

    def finish(self) -> None:
        if self._fed and not self._decompressor.is_finished():
            raise _incomplete()


_DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": lambda: _Inflate(gzip=True),
    "x-gzip": lambda: _Inflate(gzip=True),
    "deflate": lambda: _Inflate(gzip=False),
    "br": _Brotli,
    "zstd": _Zstd,
}
# https://www.iana.org/assignments/http-parameters/http-parameters.xhtml#content-coding
_OTHER_CODINGS = {"aes128gcm", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"}
_CODINGS = _DECODERS.keys() | _OTHER_CODINGS
ACCEPT_ENCODING = "gzip, deflate, br, zstd"


def _counted(members: int) -> int:
    if members >= _MEMBERS:
        raise FetchError(f"its body is compressed in more than {_MEMBERS} parts", kind="malformed")
    return members + 1


def _damaged() -> FetchError:
    return FetchError("the body could not be decompressed", kind="malformed")


def _incomplete() -> FetchError:
    return FetchError("the body broke off: its compressed data are not complete", kind="malformed")
