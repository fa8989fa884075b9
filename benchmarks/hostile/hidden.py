"""Attack the service with pages that hide a sentence from their readers.

`python -m benchmarks.hostile.hidden` adds a page for each way of hiding to a collection, over HTTP, and reads
what the service has stored of it: the sentence may not be there, and the rest of the page must be. Pages that
show the sentence in unusual ways are added as well, and must keep it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import Target, open_target
from benchmarks.hostile.tricks import HIDING, SHOWING, TEXT, Trick, page_of
from citewell.server.access.keys import SCOPES, NewKey, new_key

_MARK = "green cheese"
_JOB_SECONDS = 120.0
_BATCH = 90  # documents of a request
_SMALL = 8


def attack(target: Target, key: NewKey, *, small: bool = False) -> Tally:
    """Add all pages, and read them as the service has stored them."""
    tally = Tally()
    with target.client(key) as client:
        for kind, tricks in (("hidden", HIDING), ("shown", SHOWING)):
            wanted = dict(list(tricks.items())[: _SMALL if small else None])
            _attack(tally, client, kind, wanted)
    return tally


def _attack(tally: Tally, client: httpx.Client, kind: str, tricks: Mapping[str, Trick]) -> None:
    names = {f"{kind}-{number}.html": name for number, name in enumerate(tricks)}
    pages = [(file, page_of(tricks[name]).encode()) for file, name in names.items()]
    address = f"/v1/collections/{kind}/documents"
    stored: dict[str, str] = {}
    for start in range(0, len(pages), _BATCH):
        form = [("file", (file, body, "text/html")) for file, body in pages[start : start + _BATCH]]
        reply = client.post(address, files=form)
        job = await_job(client, reply.headers.get("Location", ""))
        stored |= {row["name"]: row.get("url") or "" for row in job.get("documents") or []}
    for file, name in names.items():
        url = stored.get(file, "")
        shown = client.get(f"/collections/{kind}/document", params={"url": url}).text if url else ""
        tally.note(kind, name, _problem(shown, is_shown=kind == "shown"))


def _problem(text: str, *, is_shown: bool) -> str:
    if TEXT[-1] not in text:
        return "the page was not read"
    if (_MARK in text) == is_shown:
        return ""
    return "the sentence is missing" if is_shown else "the sentence is evidence"


def await_job(client: httpx.Client, address: str, seconds: float = _JOB_SECONDS) -> dict[str, Any]:
    """Return a job when it has ended, or as it is after these seconds; empty if it was not accepted."""
    job: dict[str, Any] = {}
    end = time.monotonic() + seconds
    while address and time.monotonic() < end:
        job = client.get(address).json()
        if job.get("status") != "running":
            break
        time.sleep(0.05)
    return job


def run(small: bool) -> Tally:
    """Attack a service of its own."""
    key = new_key("everything", SCOPES)
    with open_target([key]) as target:
        return attack(target, key, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("hidden", __doc__, run, words)


if __name__ == "__main__":
    main()
