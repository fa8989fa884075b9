"""The refresh of a collection over HTTP, in both stores: what changed, is gone, and may not be read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.pipeline.refreshing import refresh
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument, read_source
from tests.server.api.conftest import Service, Start, make_key
from tests.server.api.test_collections import finished, sources_in
from tests.server.local import ReplyHandler, answering

ADDRESS = "/v1/collections/whales/refresh"
SONG = "# Whale song\n\nMale humpback whales sing for 30 minutes.\n"


@pytest.fixture(params=["embedded", "postgres"])
def filled(
    request: pytest.FixtureRequest, start: Start, tmp_path: Path
) -> tuple[Service, dict[str, str], Path]:
    """A service with a collection of a folder and of a document that was sent to it, and the folder."""
    sources, changes = sources_in(tmp_path)
    (sources / "whales" / "diet.md").write_text("# Whale diet\n\nBlue whales eat four tons of krill a day.\n")
    (sources / "single.md").write_text("# Whale milk\n\nThe milk of whales is a third fat.\n")
    store = request.getfixturevalue("database") if request.param == "postgres" else ""
    service = start(**changes, collection__store=store)
    key = make_key(service, "ask", "admin")
    for source in ("whales", "single.md"):
        body = {"name": "whales", "source": source}
        job = service.client.post("/v1/collections", json=body, headers=key)
        assert finished(service, key, job.headers["Location"])["status"] == "done"
    given = [("file", ("sent.md", b"# Whale age\n\nBowhead whales live for two centuries.\n"))]
    job = service.client.post("/v1/collections/whales/documents", files=given, headers=key)
    assert finished(service, key, job.headers["Location"])["status"] == "done"
    return service, key, sources


def titles(service: Service, key: dict[str, str]) -> set[str]:
    listed = service.client.get("/v1/collections/whales/documents", headers=key).json()
    return {each["title"] for each in listed["documents"]}


def test_a_refresh_replaces_what_changed_and_names_what_is_gone(
    filled: tuple[Service, dict[str, str], Path],
) -> None:
    service, key, sources = filled
    (sources / "whales" / "song.md").write_text(SONG.replace("30 minutes", "99 hours"))
    (sources / "whales" / "diet.md").unlink()
    (sources / "single.md").unlink()
    taken = service.client.post(ADDRESS, headers=key)
    assert taken.status_code == 202, taken.text
    assert (taken.json()["kind"], taken.json()["arguments"]["name"]) == ("refresh", "whales")
    assert set(taken.json()["arguments"]["source"].split(", ")) == {"whales", "single.md"}
    job = finished(service, key, taken.headers["Location"])
    summary, *lines = job["message"].split("\n")
    assert summary == "0 added, 1 changed, 0 unchanged, 2 removed, 0 failed"
    assert set(lines) == {"collection:whales/diet.md: gone", "collection:whales/single.md: gone"}
    assert titles(service, key) == {"Whale song", "Whale age"}
    question = {"question": "How long do humpback whales sing?", "collection": "whales"}
    assert "99 hours" in service.client.post("/v1/answers", json=question, headers=key).json()["answer"]

    again = finished(service, key, service.client.post(ADDRESS, headers=key).headers["Location"])
    assert again["message"] == "0 added, 0 changed, 1 unchanged, 0 removed, 0 failed"


def test_a_folder_that_cannot_be_found_keeps_its_documents(
    filled: tuple[Service, dict[str, str], Path],
) -> None:
    service, key, sources = filled
    shutil.move(sources / "whales", sources / "elsewhere")
    job = finished(service, key, service.client.post(ADDRESS, headers=key).headers["Location"])
    assert job["message"].startswith("0 added, 0 changed, 1 unchanged, 0 removed, 1 failed")
    assert "whales does not exist. Its documents stay." in job["message"]
    assert str(sources) not in str(job)
    assert titles(service, key) == {"Whale song", "Whale diet", "Whale age", "Whale milk"}


def test_folders_outside_of_the_folder_of_sources_are_not_read(start: Start, tmp_path: Path) -> None:
    sources, changes = sources_in(tmp_path)
    private = tmp_path / "private"
    shutil.copytree(sources / "whales", private)
    with indexing(EmbeddedCatalog(changes["data_dir"]), "whales") as indexer:
        index_documents(indexer, str(private), read_source(private))
    service = start(**changes)
    key = make_key(service, "ask", "admin")
    (private / "song.md").write_text("# A secret\n\nThis is nobody's business.\n")
    refused = service.client.post(ADDRESS, headers=key)
    assert refused.status_code == 400
    assert "server.sources" in refused.json()["detail"]
    assert "citewell index --collection whales --refresh" in refused.json()["detail"]
    assert str(tmp_path) not in refused.text
    # Beside a source that may be read, it is named, and stays.
    body = {"name": "whales", "source": "whales"}
    finished(service, key, service.client.post("/v1/collections", json=body, headers=key).headers["Location"])
    job = finished(service, key, service.client.post(ADDRESS, headers=key).headers["Location"])
    assert "private is not in the folder that the service may read" in job["message"]
    assert titles(service, key) == {"Whale song"}
    assert str(tmp_path) not in str(job)


def test_what_has_no_source_is_not_refreshed(start: Start, tmp_path: Path) -> None:
    service = start(data_dir=tmp_path, search__collection="handbook")
    asking, owning = make_key(service, "ask"), make_key(service, "ask", "admin")
    given = [("file", ("sent.md", SONG.encode()))]
    job = service.client.post("/v1/collections/whales/documents", files=given, headers=owning)
    finished(service, owning, job.headers["Location"])
    assert service.client.post(ADDRESS, headers=asking).status_code == 403
    refused = service.client.post(ADDRESS, headers=owning)
    assert (refused.status_code, "no folder, site or link" in refused.json()["detail"]) == (400, True)
    assert service.client.post(ADDRESS.replace("whales", "handbook"), headers=owning).status_code == 400
    missing = service.client.post(ADDRESS.replace("whales", "nets"), headers=owning)
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/no-collection")


def test_networks_that_questions_may_read_are_not_read_again(start: Start, tmp_path: Path) -> None:
    site = "http://127.0.0.1:9/"
    with indexing(EmbeddedCatalog(tmp_path), "whales") as indexer:
        page = SourceDocument(site, SONG.encode(), "text/plain", "Whale song")
        index_documents(indexer, site, [page])
    service = start(data_dir=tmp_path, search__collection="whales", fetch__allow_networks=["127.0.0.0/8"])
    key = make_key(service, "ask", "admin")
    job = finished(service, key, service.client.post(ADDRESS, headers=key).headers["Location"])
    assert "not a public address" in job["message"]
    assert titles(service, key) == {"Whale song"}


@pytest.fixture
def links() -> Iterator[tuple[str, dict[str, str]]]:
    """A site, and what its addresses answer: a text, a redirect to another address, or nothing."""
    replies: dict[str, str] = {}

    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            reply = replies.get(self.path, "")
            if not reply or reply.startswith("/"):
                self.reply(b"", status=302 if reply else 404, Location=reply or "/")
                return
            self.reply(reply.encode(), "text/plain")

    with answering(Handler) as url:
        yield url, replies


def test_links_are_read_again_and_sent_documents_stay(
    links: tuple[str, dict[str, str]], tmp_path: Path, settings: Any
) -> None:
    from citewell.core.stopping import StopSignal
    from citewell.pipeline.adding import GivenDocument, add_given

    site, replies = links
    wanted = settings(data_dir=tmp_path / "data", fetch__allow_networks=["127.0.0.0/8"])
    sent = tmp_path / "sent.md"
    sent.write_text(SONG)
    paths = ("/same", "/changed", "/gone", "/moved", "/late")
    replies |= {path: f"A text of some length that speaks of {path[1:]} things." for path in paths}
    given = [GivenDocument("sent.md", sent), *(GivenDocument(f"{site}{path}") for path in paths)]
    with indexing(EmbeddedCatalog(wanted.data_dir), "mixed") as indexer:
        add_given("mixed", given, indexer, wanted, lambda report, outcome: None, StopSignal())
        assert indexer.store.count() == 6
    replies |= {
        "/changed": "Another text about other things of tomorrow.",
        "/moved": "/new",
        "/late": "/late",
    }
    replies["/new"] = "A text of some length that speaks of moved things."
    del replies["/gone"]
    with indexing(EmbeddedCatalog(wanted.data_dir), "mixed") as indexer:
        ((_, report),) = refresh(indexer, wanted, lambda report: None)
        assert set(indexer.store.digests()) == {
            "collection:mixed/sent.md",
            *(f"{site}{path}" for path in ("/same", "/changed", "/new", "/late")),
        }
    assert (report.unchanged, report.changed, report.added) == (1, 1, 1)
    assert set(report.gone) == {f"{site}/gone", f"{site}/moved"}
    assert [failure.url for failure in report.failures] == [f"{site}/late"]
