"""Attack the service with bodies that are broken, deep, huge, slow, cut or of the wrong type.

`python -m benchmarks.hostile.bodies` sends them to each address that takes a body, with each field of its
description in turn. A reply may be an error of the client, and never one of the service; the log may have no
traceback, and the service answers afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.hostile.doors import Door, doors
from benchmarks.hostile.examples import Schemas
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import Target, open_target
from benchmarks.hostile.wire import Headers, RawClient, ReplyOnWire, exchange
from citewell.server.access.keys import SCOPES, NewKey, new_key

_JSON = b"application/json"
_FORM = b"multipart/form-data; boundary=a"
_BROKEN = {
    "invalid UTF-8": b'{"question": "\xff\xfe", "messages": "caf\xe9"}',
    "half a character": b'{"question": "\xc3',
    "a surrogate in UTF-8": b'{"question": "\xed\xa0\x80"}',
    "UTF-16": '{"question": "Why?"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"question": 1}',
    "gzip": b"\x1f\x8b\x08\x00" + bytes(30),
    "NULs": bytes(1000),
    "nothing": b"",
    "two values": b"{}{}",
    "half a value": b'{"question": "Why',
    "a comment": b'{"question": /* Why? */ 1}',
    "NaN": b'{"question": NaN}',
    "infinite": b'{"a": 1e999, "question": -Infinity}',
    "a long number": b'{"question": ' + b"9" * 100_000 + b"}",
    "a long fraction": b'{"question": 0.' + b"1" * 100_000 + b"e-99999}",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "300 deep": b'{"question": ' + b"[" * 300 + b"]" * 300 + b"}",
    "a deep field": b'{"messages": [{"content": ' + b'{"a":' * 90_000,
    "a million names": b"{" + b",".join(b'"%d":0' % n for n in range(90_000)) + b"}",
    "one name often": b"{" + b",".join(b'"question":0' for _ in range(60_000)) + b"}",
    "a lone surrogate": b'{"question": "\\ud800", "text": "\\udc00"}',
    "null": b"null",
    "a number": b"-0",
    "a list": b"[1, 2]",
    "a text": b'"Why?"',
    "prototype": b'{"__proto__": {"admin": true}, "constructor": 1, "__class__": "x"}',
}
_TYPES = (
    *(b"", b"text/plain", b"application/xml", b"application/x-www-form-urlencoded", b"application/json5"),
    *(b"application/json; charset=utf-7", b"application/x-pickle", b"application/x-msgpack", b"\xff/\xfe"),
    *(
        b"multipart/form-data",
        b"multipart/form-data; boundary=" + b"a" * 5_000,
        _FORM,
        b"application/json, a/b",
    ),
)
_FORMS = (
    *(b"--a\r\n", b"--a\r\nno header", b"\xff" * 1000, b"--a--", b""),
    b'--a\r\nContent-Disposition: form-data; name="file"; f' * 2000,
    b'--a\r\nContent-Disposition: form-data; name="file"; filename="\xff\x00.md"\r\n\r\nx\r\n--a--\r\n',
    b'--a\r\nContent-Disposition: form-data; name="link"\r\n\r\n\xff\xfe\r\n--a--\r\n',
    b'--a\r\nContent-Disposition: form-data; name="link"; filename="x"\r\n\r\nhttp://][@\r\n--a--\r\n',
    b'--a\r\nContent-Disposition: form-data; name="link"\r\n\r\nhttp://][@\r\n--a--\r\n',
    b'--a\r\nContent-Disposition: form-data; name="file"\r\n\r\nno file\r\n--a--\r\n',
    *(
        b'--a\r\nContent-Disposition: form-data; name="link"\r\nContent-Type: text/plain; charset=%s\r\n\r\n'
        b"http://a.example/\r\n--a--\r\n" % charset
        for charset in (b"none", b"hex", b"idna", b"utf-16", b"undefined", b"utf-8\0", b'"\xff"', b"punycode")
    ),
    b'--a\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n' * 3000 + b"--a--\r\n",
)
_FRAMES = (
    *("Content-Length: 2\r\nContent-Length: 30", "Content-Length: -1", "Content-Length: +2"),
    *("Content-Length: 0x2", "Content-Length: 99999999999999999999999", "Content-Length : 2"),
    *("Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked", "Content-Length: 10000000"),
    *("Content-Length: 2\r\nTransfer-Encoding: chunked", "X-A: 1\r\n Content-Length: 2\r\nX-\x00: 1"),
)
_WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**70, -(2**63) - 1, 1e308, 0.1, "", "\0", "\n\r\u2028\u202e", "x" * 100_000),
    *([], {}, [[]], [None], {"a": {}}, ["x"] * 10_000, "💩" * 3000, "../../etc/passwd", "1" * 5000),
)
_SLOW_SECONDS = 45.0  # the service waits for at most 30
_SMALL_KINDS = 5


def attack(target: Target, key: NewKey, *, small: bool = False) -> Tally:
    """Send bodies to all addresses that take them, with a key that may do everything."""
    tally = Tally()
    taking = [door for door in doors() if door.takes_body]
    bearer = [("Authorization", f"Bearer {key.secret}".encode())]
    client = RawClient(target.port)
    schemas = Schemas.read(client.send("GET", "/schema/openapi.json").text)
    for door in taking[:: 6 if small else 1]:
        for kind, name, headers, body in _bodies(door, schemas, small=small):
            reply = client.send(door.method, door.filled("none"), [*bearer, *headers], body)
            tally.note(kind, f"{door.name}, {name}", _problem(reply))
        for name, head in _cut(door, bearer):
            exchange(target.port, [head, b'{"question": "\xc3'], leave=True)
            tally.note("clients that leave", f"{door.name}, {name}", target.is_well())
    for frame in _FRAMES:
        lines = (
            f"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{frame}\r\n"
        )
        reply = exchange(target.port, [lines.encode() + b"\r\n{}GET /health HTTP/1.1\r\n\r\n"])
        problem = "" if reply.status in (0, 401, 501) else _problem(reply)
        tally.note("framing", frame, problem or ("two replies" if reply.text.count("HTTP/1.1") > 1 else ""))
    if not small:
        _be_slow(tally, target, taking, bearer)
    client.close()
    tally.note("afterwards", "the service answers", target.is_well())
    tally.note("afterwards", "tracebacks in the log", "; ".join(target.tracebacks()[:3]))
    return tally


def _bodies(door: Door, schemas: Schemas, *, small: bool) -> Iterator[tuple[str, str, Headers, bytes]]:
    kinds = _TYPES[:: _SMALL_KINDS if small else 1]
    yield from (("content types", ascii(kind), [("Content-Type", kind)], b"{}") for kind in kinds)
    if door.takes_form:
        for number, form in enumerate(_FORMS):
            yield "forms", str(number), [("Content-Type", _FORM)], form
        return
    typed = [("Content-Type", _JSON)]
    yield from (("broken JSON", name, typed, body) for name, body in _BROKEN.items())
    fields = schemas.example(door.method, door.path)
    for name in list(fields)[: 2 if small else None]:
        for value in _WRONG[:: _SMALL_KINDS if small else 1]:
            body = json.dumps(fields | {name: value}).encode()
            yield "wrong values", f"{name} = {str(value)[:40]!a}", typed, body


def _cut(door: Door, headers: Headers) -> Iterator[tuple[str, bytes]]:
    head = f"{door.method} {door.filled()} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()
    head += b"".join(b"%s: %s\r\n" % (name.encode(), value) for name, value in headers)
    kind = _FORM if door.takes_form else _JSON
    for framing in (b"Content-Length: 99", b"Transfer-Encoding: chunked"):
        yield framing.decode(), head + b"Content-Type: %s\r\n%s\r\n\r\n" % (kind, framing)


def _be_slow(tally: Tally, target: Target, taking: list[Door], headers: Headers) -> None:
    """Send half a body to all addresses at once, and wait until the service gives each up."""
    slow = [door for door in taking if not door.takes_form]  # files have 15 minutes
    heads = [dict(_cut(door, headers))["Content-Length: 99"] for door in slow]
    with ThreadPoolExecutor(len(slow)) as pool:
        replies = pool.map(lambda head: exchange(target.port, [head, b"{"], seconds=_SLOW_SECONDS), heads)
        for door, reply in zip(slow, replies, strict=True):
            problem = "" if reply.status == 408 else f"{reply.status} {reply.text[:60]}"
            tally.note("slow bodies", door.name, problem)


def _problem(reply: ReplyOnWire) -> str:
    if 200 <= reply.status < 500:
        return ""
    return f"{reply.status} {reply.text[:200]}"


def run(small: bool) -> Tally:
    """Attack a service of its own, in which questions are answered from an empty collection."""
    key = new_key("everything", SCOPES)
    with open_target([key]) as target:
        return attack(target, key, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("bodies", __doc__, run, words)


if __name__ == "__main__":
    main()
