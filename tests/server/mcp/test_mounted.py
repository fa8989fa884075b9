"""The tools at `/mcp` of the service: with its keys, its limits and its history."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.small_service import BATS
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument, read_source
from tests.server.api.conftest import Service, Start, collection_data, make_key, service, settings, start
from tests.server.api.test_sharing import keys_of
from tests.server.linked import linked_pages
from tests.server.mcp.test_tools import text_of

__all__ = ["collection_data", "service", "settings", "start"]


async def test_a_question_is_answered_and_stored_as_any_other(service: Service) -> None:
    async with Client(f"{service.url}/mcp") as client:
        answered = await client.call_tool("ask", {"question": BATS})
        missing = await client.call_tool("retrieve", {"question": BATS, "collection": "nets"})
    assert answered.structured_content is not None
    assert answered.structured_content["sentences"][0]["citations"] == [1]
    assert service.client.get("/mcp").status_code == 405
    newest = service.client.get("/v1/answers").json()["answers"][0]
    assert (newest["question"], newest["status"]) == (BATS, "done")
    assert text_of(missing) == "The collection 'nets' does not exist.\nCollections: notes."


async def test_a_collection_of_others_is_not_there(start: Start, tmp_path: Path) -> None:
    text = b"Bats find their way in the dark by echolocation, says the secret of the bats."
    with indexing(EmbeddedCatalog(tmp_path), "bats") as indexer:
        page = SourceDocument("https://bats.example/secret", text, "text/plain", "The secret")
        index_documents(indexer, "bats", [page])
    service = start(data_dir=tmp_path, search__collection="bats")
    keys = await asyncio.to_thread(keys_of, service, ada=("ask",), bob=("ask",), owner=("ask", "admin"))
    ada, bob, owner = keys
    await asyncio.to_thread(
        service.client.put, "/v1/collections/bats/readers", json={"keys": ["ada"]}, headers=owner
    )
    calls = [
        ("ask", {"question": BATS}),
        ("ask", {"question": BATS, "collection": "bats"}),
        ("retrieve", {"question": BATS, "collection": "bats"}),
        ("read", {"address": "https://bats.example/secret"}),
        ("read", {"address": "https://bats.example/secret", "collection": "bats"}),
    ]
    for key, is_refused in ((ada, False), (bob, True)):
        async with (
            httpx2.AsyncClient(headers=key) as http,
            Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
        ):
            for tool, arguments in calls:
                reply = await client.call_tool(tool, arguments)
                assert bool(reply.is_error) == is_refused, (tool, text_of(reply))
                assert ("echolocation" in text_of(reply)) != is_refused


async def test_keys_are_needed_and_their_limits_hold(start: Start) -> None:
    service = start()
    key = await asyncio.to_thread(make_key, service, "ask", rate_per_minute=2)
    other = await asyncio.to_thread(make_key, service, "export")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert service.client.post("/mcp", json=body).status_code == 401
    assert service.client.post("/mcp", json=body, headers=other).status_code == 403
    assert service.client.post("/mcp", data={"a": "b"}, headers=key).status_code == 415
    async with (
        httpx2.AsyncClient(headers=key) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
    ):
        replies = [await client.call_tool("retrieve", {"question": BATS}) for _ in range(3)]
    assert [reply.is_error for reply in replies] == [False, False, True]
    assert "used its 2 requests" in text_of(replies[2])


@pytest.mark.parametrize(
    ("body", "status"), [(b'{"jsonrpc": "\xff"}', 400), (b'"' + b"a" * 1_000_001 + b'"', 413), (b"[[", 400)]
)
def test_broken_bodies_are_refused_like_those_of_other_addresses(
    service: Service, body: bytes, status: int
) -> None:
    for content in (body, iter([body[:15], body[15:]])):
        reply = service.client.post("/mcp", content=content, headers={"Content-Type": "application/json"})
        assert reply.status_code == status, reply.text


async def test_files_have_public_names_by_which_they_are_read(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "secret" / "whales"
    folder.mkdir(parents=True)
    (folder / "song.md").write_text("# Whale song\n\nMale humpback whales sing for 30 minutes.\n")
    with indexing(EmbeddedCatalog(tmp_path), "whales") as indexer:
        index_documents(indexer, str(folder), read_source(folder))
    service = start(data_dir=tmp_path, search__providers="searxng", search__searxng_url="http://127.0.0.1:9")
    asked = {"question": "How long do humpback whales sing?", "collection": "whales"}
    async with Client(f"{service.url}/mcp") as client:
        found = await client.call_tool("retrieve", asked)
        assert found.structured_content is not None
        address = found.structured_content["references"][0]["address"]
        assert address == "collection:whales/song.md"
        page = await client.call_tool("read", {"address": address})
        outside = await client.call_tool("read", {"address": "collection:whales/../../citewell.sqlite3"})
    assert "30 minutes" in text_of(page)
    assert outside.is_error
    assert "secret" not in f"{found} {page} {outside}"


async def test_a_caller_does_not_read_the_networks_that_are_open_to_questions(
    start: Start, tmp_path: Path
) -> None:
    with linked_pages(tmp_path) as linked:
        service = start(**{name.replace(".", "__"): value for name, value in linked.settings.items()})
        async with Client(f"{service.url}/mcp") as client:
            stored = await client.call_tool("read", {"address": f"{linked.url}/tides"})
            other = await client.call_tool("read", {"address": f"{linked.url}/other"})
    assert "gravity" in text_of(stored)
    assert other.is_error
    assert "not a public address" in text_of(other)
