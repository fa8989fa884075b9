"""Attack the limits of keys: more requests, more questions and more places than a key may have.

`python -m benchmarks.hostile.limits` sends headers that could hide a request from the count of its key, on
every address that asks a question; sends many at once; opens many idle connections; and lets one key fill the
queue while another asks. No key may get more than its limit, and nobody is kept out.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from benchmarks.hostile.searching import LocalServer, local_server, nothing
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import COLLECTION, Target, open_target
from benchmarks.small_service import BATS
from citewell.server.access.keys import NewKey, new_key

_LIMIT = 2
_ATTEMPTS = 5
_CONNECTIONS = 400
_QUEUE = 7
_SLOW_SECONDS = 5.0  # in which a request beside the attack must be answered
_BODIES: dict[str, dict[str, Any]] = {
    "/v1/retrieve": {"question": BATS},
    "/v1/demonstrations": {"question": BATS},
    "/v1/answers": {"question": BATS},
    "/v1/chat/completions": {"model": "citewell", "messages": [{"role": "user", "content": BATS}]},
    "/v1/rerank": {"query": BATS, "documents": ["Bats sing.", "Bees hum."]},
    "/v1/embeddings": {"model": "citewell", "input": BATS},
}
_TRICKS: dict[str, dict[str, str]] = {
    "nothing": {},
    "a stream": {"Accept": "text/event-stream"},
    "Last-Event-ID": {"Accept": "text/event-stream", "Last-Event-ID": "x.1"},
    "a known Last-Event-ID": {"Accept": "text/event-stream", "Last-Event-ID": "{n}.{n}"},
    "X-Forwarded-For": {"X-Forwarded-For": "93.184.215.{n}", "X-Real-IP": "93.184.215.{n}"},
    "Forwarded": {"Forwarded": "for=93.184.215.{n};proto=https;host=example.org"},
    "Idempotency-Key": {"Idempotency-Key": "key-{n}"},
    "one Idempotency-Key": {"Idempotency-Key": "key"},
    "another method": {"X-HTTP-Method-Override": "GET", "X-HTTP-Method": "GET", "X-Method-Override": "GET"},
    "another address": {"X-Original-URL": "/health", "X-Rewrite-URL": "/health"},
    "an account": {"X-Forwarded-Email": "user{n}@example.org", "X-Forwarded-User": "user{n}"},
    "a new connection": {"Connection": "close"},
    "the key in small letters": {"Authorization": "bearer {key}"},
    "the key after spaces": {"Authorization": "Bearer   {key}"},
    "a preflight": {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    "a prefetch": {"Purpose": "prefetch", "Sec-Purpose": "prefetch", "X-Moz": "prefetch"},
    "a cache": {"Cache-Control": "no-cache", "If-None-Match": "*", "Pragma": "no-cache"},
}
_SMALL_TRICKS = ("a stream", "Last-Event-ID", "X-Forwarded-For", "Idempotency-Key")
Kind = Literal["per minute", "per day"]


@dataclass
class LimitedKeys:
    """New keys with limits, one for each trick, since what a key has used stays used."""

    stored: list[NewKey] = field(default_factory=list)
    greedy: NewKey = field(default_factory=lambda: new_key("greedy", ["ask"]))
    fair: NewKey = field(default_factory=lambda: new_key("fair", ["ask"]))
    limited: dict[tuple[Kind, str, str], NewKey] = field(default_factory=dict)

    @classmethod
    def make(cls, *, small: bool) -> LimitedKeys:
        """Make one for each address and trick."""
        found = cls()
        for kind in ("per minute", "per day"):
            for path in list(_BODIES)[: 2 if small else None]:
                for trick in (*(_SMALL_TRICKS if small else _TRICKS), "all at once"):
                    minute, day = (_LIMIT, None) if kind == "per minute" else (None, _LIMIT)
                    found.limited[kind, path, trick] = new_key(
                        "limited", ["ask"], rate_per_minute=minute, daily=day
                    )
        found.stored = [found.greedy, found.fair, *found.limited.values()]
        return found


def attack(target: Target, keys: LimitedKeys, search: LocalServer, *, small: bool = False) -> Tally:
    """Try to get more than the limits allow."""
    tally = Tally()
    with target.client() as client:
        for (kind, path, trick), key in keys.limited.items():
            accepted = (
                _together(client, path, key) if trick not in _TRICKS else _after(client, path, key, trick)
            )
            problem = f"{accepted} requests instead of {_LIMIT}" if accepted > _LIMIT else ""
            tally.note(f"requests {kind}", f"{path}, {trick}", problem or _none(accepted, trick))
    _open_many(tally, target, keys.fair, _CONNECTIONS // (4 if small else 1))
    _fill_queue(tally, target, keys, search)
    return tally


def _none(accepted: int, trick: str) -> str:
    """Return that nothing was let in, since then nothing was tried, unless the trick itself is refused."""
    return "" if accepted or "Last-Event-ID" in trick else "no request was let in"


def _after(client: httpx.Client, path: str, key: NewKey, trick: str) -> int:
    """Return how many requests with the headers of a trick were let in, one after another."""
    return sum(_send(client, path, key, _TRICKS[trick], number) for number in range(_ATTEMPTS))


def _together(client: httpx.Client, path: str, key: NewKey) -> int:
    with ThreadPoolExecutor(_ATTEMPTS) as pool:
        return sum(pool.map(lambda number: _send(client, path, key, {}, number), range(_ATTEMPTS)))


def _send(client: httpx.Client, path: str, key: NewKey, trick: Mapping[str, str], number: int) -> bool:
    headers = {"Authorization": f"Bearer {key.secret}"}
    headers |= {
        name: value.replace("{n}", str(number)).replace("{key}", key.secret) for name, value in trick.items()
    }
    return client.post(path, json=_BODIES[path], headers=headers).status_code < 300


def _open_many(tally: Tally, target: Target, key: NewKey, count: int) -> None:
    """Open connections that say nothing, or half a request, and ask beside them."""
    with ExitStack() as stack:
        for number in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", target.port), timeout=20))
            if number % 2:
                connection.sendall(b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        tally.note("idle connections", f"{count} at once", _beside(target, key))


def _beside(target: Target, key: NewKey) -> str:
    """Return why a question beside an attack was not answered in time, or ""."""
    started = time.monotonic()
    with target.client(key) as client:
        body = {"question": BATS, "collection": COLLECTION}
        try:
            status = client.post("/v1/retrieve", json=body, timeout=_SLOW_SECONDS * 4).status_code
        except httpx.HTTPError as error:
            return f"{type(error).__name__} after {time.monotonic() - started:.1f} s"
    spent = time.monotonic() - started
    return "" if status < 300 and spent < _SLOW_SECONDS else f"{status} after {spent:.1f} s"


def _fill_queue(tally: Tally, target: Target, keys: LimitedKeys, search: LocalServer) -> None:
    """Let one key ask more than fits while the search hangs; another must find a place."""
    search.open.clear()
    with target.client(keys.greedy) as greedy, ThreadPoolExecutor(4 * _QUEUE) as pool:
        asked = [
            pool.submit(greedy.post, "/v1/answers", json={"question": f"Why {number}?", "search": "web"})
            for number in range(3 * _QUEUE)
        ]
        end = time.monotonic() + 20
        while sum(each.done() for each in asked) < 2 * _QUEUE and time.monotonic() < end:
            time.sleep(0.05)  # until those that do not fit are refused
        refused = sum(each.done() and each.result().status_code == 429 for each in asked)
        tally.note("a full queue", "the greedy key", "" if refused >= 2 * _QUEUE else f"{refused} refused")
        with target.client(keys.fair) as fair:
            waiting = pool.submit(fair.post, "/v1/answers", json={"question": "When?", "search": "web"})
            time.sleep(0.5)
            was_refused = waiting.done() and waiting.result().status_code == 429
            tally.note("a full queue", "another key", "refused" if was_refused else "")
            search.open.set()
            status = waiting.result().status_code
            tally.note("a full queue", "another key, afterwards", "" if status < 300 else str(status))


@contextmanager
def limited_target(keys: LimitedKeys) -> Iterator[tuple[Target, LocalServer]]:
    """Run a service with few places, whose search of the web hangs while it is told to."""
    with local_server(nothing) as search:
        search.open.set()
        settings = {
            "search__providers": "searxng collection",
            "search__searxng_url": search.url,
            "search__seconds": 40,
            "server__concurrency": 1,
            "server__queue": _QUEUE - 1,
            "server__queue_seconds": 60,
        }
        with open_target(keys.stored, **settings) as target:
            yield target, search


def run(small: bool) -> Tally:
    """Attack a service of its own."""
    keys = LimitedKeys.make(small=small)
    with limited_target(keys) as (target, search):
        return attack(target, keys, search, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("limits", __doc__, run, words)


if __name__ == "__main__":
    main()
