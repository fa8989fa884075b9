"""Pages that show what carries scripts: answers, comments, documents, studies and demonstrations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from benchmarks.hostile.payloads import URLS, hostile_answer
from benchmarks.hostile.target import Target
from benchmarks.small_service import BATS
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.server.access.owner import owner_token
from citewell.server.store.database import open_store

COLLECTION = "hostile"
_SEARCHES = ("/history?query=", "/rate?rater=", f"/collections/{COLLECTION}?query=", "/demonstrate?question=")
_MISSING = ("answers", "docs", "x", "studies")
_LISTS = ("/history", "/collections", f"/collections/{COLLECTION}", "/studies", "/demonstrate")


class HostilePage(NamedTuple):
    """A page to open, and what it shows."""

    kind: str
    path: str


def store_all(target: Target, payloads: Sequence[str]) -> Iterable[HostilePage]:
    """Store what carries scripts, and yield the pages that show it."""
    rows = [hostile_answer(payload, URLS[n % len(URLS)]) for n, payload in enumerate(payloads)]
    asyncio.run(_add(target, rows))
    _index(target, payloads)
    with target.client() as client:
        for payload, answer in zip(payloads, rows, strict=True):
            text = quote(payload, safe="")
            client.post(f"/v1/answers/{answer.id}/feedback", json={"thumb": -1, "comment": payload})
            client.post("/v1/comparisons", json=_comparison(answer.id, payload))
            for kind in ("answers", "threads", "compare"):
                yield HostilePage(kind, f"/{kind}/{answer.id}")
            yield HostilePage("questions", f"/?question={text}")
            yield from (HostilePage("searches", f"{path}{text}") for path in _SEARCHES)
            yield from (HostilePage("what is missing", f"/{name}/{text}") for name in _MISSING)
            yield from _made(client, target, payload)
        listed = client.get(f"/v1/collections/{COLLECTION}/documents", params={"limit": 100}).json()
    for row in listed["documents"]:
        path = f"/collections/{COLLECTION}/document?url={quote(row['url'], safe='')}"
        yield HostilePage("documents", path)
    for path in (*_LISTS, "/rate/results", "/compare", "/settings"):
        yield HostilePage("lists", path)


def _made(client: httpx.Client, target: Target, payload: str) -> Iterable[HostilePage]:
    """Make a demonstration, an answer of a policy and a study."""
    asked = {"question": f"{BATS} {payload}", "collection": COLLECTION}
    begun = client.post("/v1/demonstrations", json=asked)
    if begun.status_code == 201:
        path = f"/v1/demonstrations/{begun.json()['id']}/actions"
        for count, command in enumerate(("Search kites", "Clicked on link 0")):
            client.post(path, json={"command": command, "after": count})
        yield HostilePage("demonstrations", f"/demonstrate/{begun.json()['id']}")
    browsed = client.post("/v1/answers", json=asked | {"mode": "browse", "actions": 3})
    if browsed.status_code == 201:
        yield HostilePage("episodes", f"/trace/{browsed.json()['id']}")
        yield HostilePage("answers of policies", f"/answers/{browsed.json()['id']}")
    owner = {"Authorization": f"Bearer {owner_token(target.folder / 'data')}"}
    references = [{"title": payload, "text": payload, "url": URLS[0]}]
    answers = [{"system": name, "text": payload, "references": references} for name in ("a", "b")]
    study = {"name": payload[:90], "form": "webgpt", "items": [{"question": payload, "answers": answers}]}
    made = client.post("/v1/studies", json=study | {"share_required": 0}, headers=owner)
    if made.status_code == 201:
        path = f"/studies/{made.json()['id']}"
        yield HostilePage("studies", f"{path}?rater={quote(payload[:90], safe='')}")
        yield HostilePage("studies", f"{path}/results")


def _comparison(answer_id: str, payload: str) -> dict[str, Any]:
    answers = [{"answer_id": answer_id}, {"text": payload, "references": [payload]}]
    ratings = dict.fromkeys(("usefulness", "coherence", "unsupported", "overall"), 1)
    return {"question": payload, "answers": answers, "comment": payload} | ratings


async def _add(target: Target, rows: Iterable[Any]) -> None:
    async with open_store(f"sqlite:///{target.folder / 'data' / 'citewell.sqlite3'}") as store:
        for row in rows:
            await store.answers.add(row)


def _index(target: Target, payloads: Sequence[str]) -> None:
    documents = []
    for number, payload in enumerate(payloads):
        text = f"Kites fly in the wind {payload} because the wind lifts them, and so do bats in the dark."
        url = f"https://kites.example/{number}?{payload}"
        documents.append(SourceDocument(url, text.encode(), "text/plain", payload))
    with indexing(EmbeddedCatalog(target.folder / "data"), COLLECTION) as indexer:
        index_documents(indexer, COLLECTION, documents)
