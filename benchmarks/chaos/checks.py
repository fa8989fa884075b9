"""What must hold once all faults are over."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpx

from benchmarks.chaos.clients import UPLOADS
from benchmarks.chaos.ledger import FORGED, Ledger
from benchmarks.chaos.process import ServiceProcess

_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: |\| |Open http|Citewell listens on ")
_WORKERS = 2
_ASKED = 30  # requests that each worker gets some of
_MOST_SHOWN = 5


def settle(service: ServiceProcess, client: httpx.Client, seconds: float) -> list[str]:
    """Wait until nothing runs or waits in any worker; return what still does after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        states = [_ready(client) for _ in range(_ASKED)]
        leaked = sorted({state for state in states if state})
        count = len(service.workers())
        if count != _WORKERS:
            leaked.append(f"{count} workers run")
        if not leaked or time.monotonic() > end:
            return leaked
        time.sleep(0.2)


def _ready(client: httpx.Client) -> str:
    """Return why a worker is not idle, or ""."""
    try:
        reply = client.get("/ready")
    except httpx.TransportError as error:
        return f"/ready: {error}"
    state = reply.json()
    odd = {name: value for name, value in state["parts"].items() if value != "ready"}
    if reply.status_code == 200 and not odd and not state["running"] and not state["waiting"]:
        return ""
    return f"/ready: {json.dumps(state)}"


def check_writes(client: httpx.Client, ledger: Ledger) -> list[str]:
    """Return the acknowledged writes that are missing, changed or there twice."""
    rows = list(_pages(client, "/v1/answers", "answers"))
    return [
        *_check_answers(client, ledger, rows),
        *_once("the thumb", ledger.feedback, _exported(client, "feedback"), lambda row: row["comment"]),
        *_once(
            "the comparison",
            ledger.comparisons,
            _exported(client, "comparisons"),
            lambda row: row["answers"][1]["text"],
        ),
        *_check_documents(client, ledger),
        *_check_demonstrations(client, ledger),
    ]


def _check_answers(client: httpx.Client, ledger: Ledger, rows: Sequence[dict[str, Any]]) -> list[str]:
    wrong = [f"the answer {row['id']} is still running" for row in rows if row["status"] == "running"]
    counted = Counter(row["question"] for row in rows)
    for id_, text in ledger.answers.items():
        reply = client.get(f"/v1/answers/{id_}")
        if id_ in ledger.deleted:
            wrong += [f"the deleted answer {id_} is there"] * (reply.status_code != 404)
        elif id_ in ledger.doubtful and reply.status_code == 404:
            continue
        elif reply.status_code != 200 or reply.json()["answer"] != text:
            wrong.append(f"the answer {id_} is lost: {reply.status_code} {reply.text[:200]}")
        elif counted[ledger.questions[id_]] != 1:
            wrong.append(f"the question of {id_} is there {counted[ledger.questions[id_]]} times")
    return wrong


def _once(
    what: str,
    confirmed: dict[str, str],
    rows: Iterable[dict[str, Any]],
    text_of: Callable[[dict[str, Any]], str],
) -> list[str]:
    found = [(row["id"], text_of(row)) for row in rows]
    ids, texts = Counter(id_ for id_, _ in found), Counter(text for _, text in found)
    wrong = [f"{what} {text!r} is there {count} times" for text, count in texts.items() if count > 1]
    return wrong + [f"{what} {id_} is lost" for id_ in confirmed if ids[id_] != 1]


def _check_documents(client: httpx.Client, ledger: Ledger) -> list[str]:
    if not ledger.documents:
        return []
    rows = list(_pages(client, f"/v1/collections/{UPLOADS}/documents", "documents", place="after"))
    names = Counter(row["url"].rpartition("/")[2] for row in rows)
    wrong = [f"the document {name} is there {count} times" for name, count in names.items() if count > 1]
    return wrong + [f"the document {name} is lost" for name in sorted(ledger.documents - names.keys())]


def _check_demonstrations(client: httpx.Client, ledger: Ledger) -> list[str]:
    wrong = []
    for id_, count in ledger.demonstrations.items():
        reply = client.get(f"/v1/demonstrations/{id_}")
        stored = reply.json().get("count") if reply.status_code == 200 else None
        if stored is None or stored < count:
            wrong.append(f"the demonstration {id_} has {stored} of {count} actions")
    return wrong


def check_log(lines: Sequence[str]) -> list[str]:
    """Return forged lines, and faults of the service itself."""
    forged = [f"forged: {line[:200]}" for line in lines if line.startswith(FORGED) or not _LINE.match(line)]
    faults = [f"a fault: {line[:200]}" for line in lines if "Traceback (most recent" in line]
    return forged[:_MOST_SHOWN] + faults[:_MOST_SHOWN]


def _pages(client: httpx.Client, path: str, name: str, place: str = "before") -> Iterable[dict[str, Any]]:
    after: dict[str, Any] = {}
    while True:
        reply = client.get(path, params={"limit": 100} | after)
        reply.raise_for_status()
        page = reply.json()
        yield from page[name]
        if not page["next"]:
            return
        after = {place: page["next"]}


def _exported(client: httpx.Client, name: str) -> list[dict[str, Any]]:
    text = client.get(f"/v1/export/{name}").text
    return [json.loads(line) for line in text.split("\n") if line]
