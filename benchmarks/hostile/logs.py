"""Attack the log of the service: lines that were never written by it, and secrets.

`python -m benchmarks.hostile.logs` writes what looks like a line of the log into addresses, headers, bodies,
names and the replies of a language model, on every address of the application. No line of the log may be
forged. No secret of the settings and no key may be in the log, in a reply, or in a file of the data folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from benchmarks.chaos.ledger import FORGED
from benchmarks.hostile.doors import Door, doors
from benchmarks.hostile.hidden import await_job
from benchmarks.hostile.searching import local_server
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import COLLECTION, Target, open_target
from benchmarks.hostile.wire import Headers, RawClient, ReplyOnWire, exchange
from benchmarks.small_service import BATS
from citewell.server.access.keys import SCOPES, NewKey, new_key

SECRET = "sesame"  # in every secret of the settings, and nowhere else
_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: |\| |Citewell listens on ")
_ENDS = {
    "LF": "\n",
    "CR": "\r",
    "CRLF": "\r\n",
    "NEL": "\x85",
    "LS": "\u2028",
    "PS": "\u2029",
    "VT": "\x0b",
    "FF": "\x0c",
    "FS": "\x1c",
    "erased": "\x1b[2K\x1b[1G",
    "backspaces": "\b" * 80,
    "reversed": "\u202e",
    "encoded twice": "%0a",
}
_HEADERS = (
    "User-Agent",
    "Referer",
    "X-Request-ID",
    "Accept",
    "Last-Event-ID",
    "Idempotency-Key",
    "Host",
    "Cookie",
)


def attack(target: Target, key: NewKey, *, small: bool = False) -> Tally:
    """Try to forge lines everywhere, and look for secrets in all that comes back."""
    tally, said = Tally(), []
    bearer = [("Authorization", f"Bearer {key.secret}".encode())]
    client = RawClient(target.port)
    every = doors()[:: 7 if small else 1]
    ends = dict(list(_ENDS.items())[: 4 if small else None])
    with _counting(tally, target) as is_forged:
        for door in every:
            for name, end in ends.items():
                for way, reply in _send(client, door, bearer, f"a{end}{FORGED}", name):
                    said.append(reply.text)
                    is_forged(way, f"{door.name}, {name}")
        for name, end in ends.items():
            said += [reply.text for reply in _write(target, client, key, f"a{end}{FORGED}")]
            is_forged("questions, comments and names of files", name)
        for door in every:
            first = (
                f"{door.method} {door.filled(quote(f'a{chr(10)}{FORGED}'))} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            )
            rest = b"Authorization: %s\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            exchange(target.port, [first.encode() + rest % bearer[0][1]], leave=True)
            is_forged("clients that leave", door.name)
    client.close()
    _find_secrets(tally, target, key, said)
    return tally


@contextmanager
def _counting(tally: Tally, target: Target) -> Iterator[Any]:
    """Give a function that notes whether an attempt has written a line that is not the service's own."""
    seen = 0

    def note(kind: str, name: str) -> None:
        nonlocal seen
        lines = target.lines
        new, seen = lines[seen:], len(lines)
        forged = next((line for line in new if line.startswith(FORGED) or not _LINE.match(line)), "")
        tally.note(kind, name, f"a forged line: {forged[:200]}" if forged else "")

    yield note
    note("afterwards", "the rest of the log")


def _send(
    client: RawClient, door: Door, bearer: Headers, text: str, end: str
) -> Iterator[tuple[str, ReplyOnWire]]:
    """Send the text in the path, in the query and in headers."""
    kind = ("Content-Type", b"multipart/form-data; boundary=a" if door.takes_form else b"application/json")
    body = b"{}" if door.takes_body else None
    headers = [*bearer, kind] if body else list(bearer)
    yield "paths", client.send(door.method, door.filled(quote(text, safe="")), headers, body)
    yield (
        "queries",
        client.send(door.method, f"{door.filled()}?query={quote(text)}&before={quote(text)}", headers, body),
    )
    name = _HEADERS[sum(map(ord, door.name + end)) % len(_HEADERS)]
    value = (
        text.encode().replace(b"\r\n", b"\r\n ").replace(b"\n", b"\n ")
        if end in ("LF", "CRLF")
        else text.encode()
    )
    if end != "CR":  # http.client sends none alone
        yield "headers", client.send(door.method, door.filled(), [*headers, (name, value)], body)


def _write(target: Target, client: RawClient, key: NewKey, text: str) -> Iterator[ReplyOnWire]:
    """Ask, comment and add files with the text; the generator fails with it as well."""
    typed = [("Authorization", f"Bearer {key.secret}".encode()), ("Content-Type", b"application/json")]

    def post(path: str, **fields: Any) -> ReplyOnWire:
        return client.send("POST", path, typed, json.dumps(fields).encode())

    yield (asked := post("/v1/answers", question=f"{BATS} {text}", collection=COLLECTION))
    yield post("/v1/answers", question=text, generator=text, sites=[text], collection=text)
    yield post("/v1/retrieve", question=text, collection=text)
    yield post("/v1/demonstrations", question=text, collection=COLLECTION)
    yield post("/v1/chat/completions", model=text, messages=[{"role": "user", "content": text}])
    yield post("/v1/collections", name=text, source=text)
    if asked.status == 201:
        yield post(f"/v1/answers/{json.loads(asked.text)['id']}/feedback", thumb=1, comment=text)
    with target.client(key) as http:
        form: list[tuple[str, tuple[str | None, bytes, str]]] = [
            ("file", (f"{text}.md", b"# Kites\n\nA kite flies.", "text/markdown")),
            ("link", (None, text.encode(), "text/plain")),
        ]
        taken = http.post("/v1/collections/added/documents", files=form)
        yield ReplyOnWire(taken.status_code, taken.text)
        await_job(http, taken.headers.get("Location", ""), 20)


def _find_secrets(tally: Tally, target: Target, key: NewKey, said: list[str]) -> None:
    own = key.secret[20:]
    texts = {"the log": "\n".join(target.lines), "replies": "\n".join(said)}
    for place, text in texts.items():
        for name, secret in (("a secret of the settings", SECRET), ("a key", own)):
            tally.note("secrets", f"{name} in {place}", "it is there" if secret in text else "")
    for file in sorted((target.folder / "data").rglob("*")):
        if file.is_file():
            body = file.read_bytes()
            found = [secret for secret in (SECRET, own) if secret.encode() in body]
            tally.note("secrets in files", file.name, "it has a secret" if found else "")
    is_open = (target.folder / "data").stat().st_mode & 0o077
    tally.note("secrets in files", "the data folder", "others can enter it" if is_open else "")


def _repeat(path: str, body: bytes) -> tuple[int, str, bytes]:
    """Fail as a language model that repeats the key and what it was asked, and forges a line."""
    reply = {"error": {"message": f"Incorrect API key {SECRET}-generator\n{FORGED}\n{body.decode()[:2000]}"}}
    return 401, "application/json", json.dumps(reply).encode()


def run(small: bool) -> Tally:
    """Attack a service of its own, whose settings have secrets, and whose language model repeats its key."""
    key = new_key("everything", SCOPES)
    with local_server(_repeat) as model:
        model.open.set()
        secrets = {
            "search__brave_key": f"{SECRET}-brave",
            "search__tavily_key": f"{SECRET}-tavily",
            "search__google_key": f"{SECRET}-google",
            "generator__key": f"{SECRET}-generator",
            "generator__name": "openai:repeats",
            "generator__base_url": f"{model.url}/v1",
        }
        with open_target([key], **secrets) as target:
            tally = attack(target, key, small=small)
        tally.note("afterwards", "the language model", "" if model.asked else "it was never asked")
        return tally


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("logs", __doc__, run, words)


if __name__ == "__main__":
    main()
