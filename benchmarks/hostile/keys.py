"""Attack the doors of the service with keys that do not fit.

`python -m benchmarks.hostile.keys` asks each address of the application without a key, with keys that are
wrong, revoked, expired, cut or in the wrong place, with malformed headers, and with keys that have every
scope but the one that is needed. Only public addresses may let these in, and no reply may repeat a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from benchmarks.hostile.doors import Door, doors
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import Target, open_target
from benchmarks.hostile.wire import Headers, RawClient, ReplyOnWire
from citewell.server.access.keys import SCOPES, NewKey, new_key

PUBLIC = frozenset(
    {
        *("GET /", "GET /api", "GET /docs", "GET /docs/{name:str}", "GET /trace", "GET /opensearch.xml"),
        *("GET /health", "HEAD /health", "GET /ready", "HEAD /ready", "GET /problems/{name:str}"),
        *("GET /schema", "GET /schema/openapi.json", "GET /schema/{path:str}"),
        *("GET /static/{name:str}", "HEAD /static/{name:str}"),
    }
)
"""The addresses that are open to everybody; another one without a scope is a failure."""
_OWN_CHECK = {"GET /metrics": "admin"}  # the scopes of handlers that check the key by themselves
_REFUSED = frozenset({400, 401, 431})  # a header that is malformed or too large is refused before its key
_SMALL, _SMALL_STEP = 6, 4


@dataclass(frozen=True)
class HostileKeys:
    """Keys of each scope alone, of all scopes but one, and keys that count no more; `stored` has them all."""

    alone: Mapping[str, NewKey]
    lacking: Mapping[str, NewKey]
    revoked: NewKey
    expired: NewKey

    @classmethod
    def make(cls) -> HostileKeys:
        """Make new ones."""
        now = datetime.now(UTC)
        revoked = new_key("revoked", SCOPES)
        return cls(
            {scope: new_key(scope, [scope]) for scope in SCOPES},
            {scope: new_key(f"not {scope}", set(SCOPES) - {scope}) for scope in SCOPES},
            NewKey(revoked.secret, replace(revoked.key, revoked=now)),
            new_key("expired", SCOPES, expires=now - timedelta(seconds=1)),
        )

    @property
    def stored(self) -> list[NewKey]:
        """All of them."""
        return [*self.alone.values(), *self.lacking.values(), self.revoked, self.expired]

    def credentials(self) -> dict[str, Headers]:
        """Return headers that prove nothing, by what is wrong with them."""
        unknown = new_key("never stored", SCOPES)
        good, hashed = self.alone["ask"].secret, self.alone["ask"].key.hash
        values = {
            "revoked": f"Bearer {self.revoked.secret}",
            "expired": f"Bearer {self.expired.secret}",
            "never stored": f"Bearer {unknown.secret}",
            "another's secret": f"Bearer {good[:20]}{unknown.secret[20:]}",
            "its hash": f"Bearer {good[:20]}{hashed[:43]}",
            "cut": f"Bearer {good[:-1]}",
            "longer": f"Bearer {good}A",
            "a NUL": f"Bearer {good}\0",
            "a line": f"Bearer {good}%0a",
            "in capitals": f"Bearer {good.upper()}",
            "two": f"Bearer {good}, Bearer {good}",
            "two words": f"Bearer {good} {good}",
            "Basic": f"Basic {good}",
            "no scheme": good,
            "no space": f"Bearer{good}",
            "scheme alone": "Bearer",
            "empty": "",
            "SQL": "Bearer cw_0123456789abcdef_' OR '1'='1",
            "wildcards": f"Bearer cw_{'%' * 16}_{'_' * 43}",
            "the owner's form": f"Bearer cw_owner_{'A' * 43}",
            "Unicode digits": f"Bearer cw_{'１' * 16}_{'a' * 43}",
            "huge": f"Bearer {'A' * 12_000}",
        }
        found: dict[str, Headers] = {"no key": ()}
        found |= {name: (("Authorization", value.encode()),) for name, value in values.items()}
        bearer = f"Bearer {good}".encode()
        found["not UTF-8"] = (("Authorization", b"Bearer cw_\xff\xfe\x80"),)
        found["twice, wrong first"] = (("Authorization", b"Bearer x"), ("Authorization", bearer))
        for header in ("X-Api-Key", "X-Authorization", "Proxy-Authorization", "X-Forwarded-Authorization"):
            found[header] = ((header, bearer),)
        found["a cookie"] = (("Cookie", f"key={good}; authorization={good}; token={good}".encode()),)
        found["the name of an account"] = (
            *(
                ("X-Forwarded-Email", b"ada@example.org"),
                ("X-Forwarded-User", b"ada"),
                ("Remote-User", b"ada"),
            ),
        )
        return found


def attack(target: Target, keys: HostileKeys, *, small: bool = False) -> Tally:
    """Try all doors; the service must have the keys `keys.stored`."""
    tally = Tally()
    credentials = dict(list(keys.credentials().items())[: _SMALL if small else None])
    client = RawClient(target.port)
    for door in doors()[:: _SMALL_STEP if small else 1]:
        scope = _OWN_CHECK.get(door.name, door.scope)
        if scope is None:
            tally.note("public addresses", door.name, "" if door.name in PUBLIC else "it asks for no scope")
            continue
        for name, headers in credentials.items():
            tally.note("no key that counts", f"{door.name}, {name}", _refusal(client, door, headers))
        for name, key, allowed in _scopes(keys, scope):
            tally.note("scopes", f"{door.name}, {name}", _answer(client, door, key, allowed))
    secret = keys.alone["ask"].secret
    for name in ("key", "api_key", "access_token", "token", "authorization"):
        reply = client.send("GET", f"/v1/answers?{name}={secret}")
        problem = f"let in, {reply.status}" if reply.status != 401 else _repeated(reply, secret)
        tally.note("a key in the address", name, problem)
    client.close()
    return tally


def _scopes(keys: HostileKeys, scope: str) -> Iterator[tuple[str, NewKey, bool]]:
    """Yield keys, and whether they let in."""
    yield f"all scopes but {scope}", keys.lacking[scope], False
    for name, key in keys.alone.items():
        yield f"{name} alone", key, name == scope


def _refusal(client: RawClient, door: Door, headers: Headers) -> str:
    """Return what was wrong with a refusal, or "" if it was one."""
    reply = _send(client, door, headers)
    secrets = [value[-20:].decode("latin-1") for name, value in headers if len(value) > 40]
    if reply.status not in _REFUSED:
        return f"let in, {reply.status}"
    return next(filter(None, (_repeated(reply, secret) for secret in secrets)), "")


def _answer(client: RawClient, door: Door, key: NewKey, allowed: bool) -> str:
    """Return what was wrong with the reply to a key that is allowed or not, or ""."""
    reply = _send(client, door, [("Authorization", f"Bearer {key.secret}".encode())])
    if (reply.status in (401, 403)) == allowed:
        return f"{'refused' if allowed else 'let in'}, {reply.status}"
    return _repeated(reply, key.secret[-20:])


def _send(client: RawClient, door: Door, headers: Headers) -> ReplyOnWire:
    if door.takes_body and not door.takes_form:
        return client.send(
            door.method, door.filled(), [*headers, ("Content-Type", b"application/json")], b"{}"
        )
    return client.send(door.method, door.filled(), headers)


def _repeated(reply: ReplyOnWire, secret: str) -> str:
    return "the reply repeats the key" if secret in reply.text else ""


def run(small: bool) -> Tally:
    """Attack a service of its own."""
    keys = HostileKeys.make()
    with open_target(keys.stored) as target:
        return attack(target, keys, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("keys", __doc__, run, words)


if __name__ == "__main__":
    main()
