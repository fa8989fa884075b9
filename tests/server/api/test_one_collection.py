"""One collection over HTTP: read, and deleted."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.postgres.catalog import PostgresCatalog
from citewell.retriever.collection.protocol import Catalog
from citewell.retriever.collection.sources import SourceDocument
from citewell.server.store.database import open_store
from citewell.server.store.jobs import StoredJob
from tests.server.api.conftest import Service, Start, make_key

QUESTION = "How long do humpback whales sing?"
TEXT = b"Male humpback whales sing for 30 minutes."


def filled(catalog: Catalog) -> None:
    with indexing(catalog, "whales") as indexer:
        page = SourceDocument("https://whales.example/song", TEXT, "text/plain", "Whale song")
        index_documents(indexer, "whales", [page])


@pytest.mark.parametrize("kind", ["embedded", "postgres"])
def test_a_collection_is_there_until_it_is_deleted(
    start: Start, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    store = request.getfixturevalue("database") if kind == "postgres" else ""
    filled(PostgresCatalog(store) if store else EmbeddedCatalog(tmp_path))
    changes = {"search__providers": "searxng", "search__searxng_url": "http://127.0.0.1:9"}
    service = start(data_dir=tmp_path, collection__store=store, **changes)
    asking, owning = make_key(service, "ask"), make_key(service, "ask", "admin")
    path = "/v1/collections/whales"
    found = service.client.get(path, headers=asking).json()
    (listed,) = service.client.get("/v1/collections", headers=asking).json()["collections"]
    assert found == listed
    assert (found["name"], found["pages"], found["problem"]) == ("whales", 1, None)
    body = {"question": QUESTION, "collection": "whales"}
    assert "30 minutes" in service.client.post("/v1/answers", json=body, headers=asking).json()["answer"]

    assert service.client.delete(path, headers=asking).status_code == 403
    gone = service.client.delete(path, headers=owning)
    assert (gone.status_code, gone.content) == (204, b"")
    for reply in (
        service.client.get(path, headers=asking),
        service.client.delete(path, headers=owning),
        service.client.post("/v1/answers", json=body, headers=asking),
    ):
        assert (reply.status_code, reply.json()["type"]) == (404, "/problems/no-collection")
    filled(PostgresCatalog(store) if store else EmbeddedCatalog(tmp_path))
    assert "30 minutes" in service.client.post("/v1/answers", json=body, headers=asking).json()["answer"]


@pytest.mark.parametrize("name", ["nets", "..", "a%2Fb", "%00"])
def test_a_collection_that_is_not_there_is_not_found(service: Service, name: str) -> None:
    assert service.client.get(f"/v1/collections/{name}").status_code in (404, 405)


def test_a_collection_that_is_being_filled_is_kept(start: Start, tmp_path: Path) -> None:
    filled(EmbeddedCatalog(tmp_path))
    service = start(data_dir=tmp_path, search__collection="whales")
    key = make_key(service, "ask", "admin")
    now = datetime.now(UTC)
    job = StoredJob("0" * 32, "index", "running", 0, None, "", now, now, {"name": "whales", "source": "x"})

    async def store() -> None:
        async with open_store(service.settings.server.database_url.get_secret_value()) as opened:
            await opened.jobs.add(job)

    asyncio.run(store())
    busy = service.client.delete("/v1/collections/whales", headers=key)
    assert (busy.status_code, busy.json()["type"]) == (409, "/problems/collection-busy")
    assert f"DELETE /v1/jobs/{job.id}" in busy.json()["detail"]
    assert service.client.get("/v1/collections/whales", headers=key).json()["pages"] == 1


def test_the_handbook_stays(start: Start, tmp_path: Path) -> None:
    service = start(data_dir=tmp_path, search__collection="handbook")
    key = make_key(service, "ask", "admin")
    address = "/v1/collections/handbook"
    assert service.client.delete(address, headers=key).status_code == 400
    given = {"file": ("bees.md", b"Bees make honey.", "text/markdown")}
    assert service.client.post(f"{address}/documents", files=given, headers=key).status_code == 400
    body = {"name": "handbook", "source": "bees.md"}
    assert service.client.post("/v1/collections", json=body, headers=key).status_code == 400
    url = {"url": "collection:handbook/faq.md"}
    assert service.client.delete(f"{address}/documents", params=url, headers=key).status_code == 400
    assert service.client.get("/v1/collections/handbook", headers=key).json()["pages"] > 20
