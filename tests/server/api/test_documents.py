"""Documents that are added to a collection over HTTP, in both stores, and what becomes of each."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.core.settings import Settings
from tests.retriever.extract.office.made import docx_file, xlsx_file
from tests.server.api.conftest import Search, Service, Start, make_key, serving
from tests.server.api.test_collections import finished

SONG = b"# Whale song\n\nMale humpback whales sing for 30 minutes.\n"
QUESTION = "How long do humpback whales sing?"
ADDRESS = "/v1/collections/whales/documents"


@pytest.fixture(params=["embedded", "postgres"])
def adding(request: pytest.FixtureRequest, start: Start, tmp_path: Path) -> tuple[Service, dict[str, str]]:
    """A service without collections of its own, and a key that may add documents."""
    store = request.getfixturevalue("database") if request.param == "postgres" else ""
    service = start(
        data_dir=tmp_path / "data",
        search__providers="searxng",
        search__searxng_url="http://127.0.0.1:9",
        collection__store=store,
    )
    return service, make_key(service, "ask", "admin")


@pytest.fixture(scope="module")
def refusing(
    settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service with small limits, and a key that may only ask."""
    data = tmp_path_factory.mktemp("refusing")
    with serving(settings(data_dir=data, server__max_document=20_000, server__max_upload=50_000)) as service:
        yield service, make_key(service, "ask", "admin")


def files(*documents: tuple[str, bytes]) -> list[tuple[str, tuple[str, bytes]]]:
    return [("file", document) for document in documents]


def add(service: Service, key: dict[str, str], *documents: tuple[str, bytes]) -> list[dict[str, Any]]:
    """Add documents, and return what became of each."""
    taken = service.client.post(ADDRESS, files=files(*documents), headers=key)
    assert taken.status_code == 202, taken.text
    assert [each["status"] for each in taken.json()["documents"]] == ["waiting"] * len(documents)
    job = finished(service, key, taken.headers["Location"])
    assert job["status"] == "done", job
    assert job["done"] == job["total"] == len(documents)
    found: list[dict[str, Any]] = job["documents"]
    return found


def test_documents_are_added_asked_listed_and_removed(adding: tuple[Service, dict[str, str]]) -> None:
    service, key = adding
    song, broken, photo, book, packed = add(
        service,
        key,
        ("C:\\songs\\50% song #1.md", SONG),
        ("broken.pdf", b"%PDF-1.4 broken"),
        ("photo.png", b"\x89PNG\r\n\x1a\n"),
        ("kites.docx", docx_file()),
        ("sales.xlsx.gz", gzip.compress(xlsx_file())),
    )
    assert (song["status"], song["title"], song["passages"]) == ("indexed", "Whale song", 1)
    assert song["name"] == "50% song #1.md"
    assert (broken["status"], photo["status"]) == ("skipped", "skipped")
    assert "the PDF is broken" in broken["reason"]
    assert "PNG image" in photo["reason"]
    assert (book["title"], packed["status"]) == ("The handbook of kites", "indexed")
    assert packed["reason"] == "hidden sheets were left out: Secret"
    rows = service.client.get("/v1/collections", headers=key).json()["collections"]
    shared = bool(service.settings.collection.store.get_secret_value())  # not every such server keeps vectors
    assert [row["vectors"] for row in rows if row["name"] == "whales"] == [not shared]

    asked = {"question": QUESTION, "collection": "whales"}
    answer = service.client.post("/v1/answers", json=asked, headers=key).json()
    assert "30 minutes" in answer["answer"]
    assert answer["references"][0]["url"] == song["url"]

    listed = service.client.get(ADDRESS, headers=key, params={"limit": 2}).json()
    assert (listed["total"], len(listed["documents"])) == (3, 2)
    rest = service.client.get(ADDRESS, headers=key, params={"after": listed["next"]}).json()
    assert [each["title"] for each in rest["documents"]] == ["sales.xlsx"]
    best = service.client.get(ADDRESS, headers=key, params={"query": "humpback"}).json()
    assert [each["url"] for each in best["documents"]] == [song["url"]]

    (again,) = add(service, key, ("50% song #1.md", SONG))
    assert again["status"] == "unchanged"
    for status in (204, 404):
        gone = service.client.delete(ADDRESS, headers=key, params={"url": song["url"]})
        assert gone.status_code == status
    answer = service.client.post("/v1/answers", json=asked, headers=key).json()
    assert "30 minutes" not in answer["answer"]


def test_a_new_version_replaces_a_document_and_two_of_one_name_are_told(
    adding: tuple[Service, dict[str, str]],
) -> None:
    service, key = adding
    add(service, key, ("song.md", SONG))
    new, twice = add(service, key, ("song.md", SONG.replace(b"30", b"99")), ("song.md", SONG))
    assert (new["status"], twice["status"]) == ("indexed", "skipped")
    assert twice["reason"] == "an earlier document has the same name"
    asked = {"question": QUESTION, "collection": "whales"}
    assert "99 minutes" in service.client.post("/v1/answers", json=asked, headers=key).json()["answer"]


def test_a_link_is_fetched_by_the_guarded_fetcher(adding: tuple[Service, dict[str, str]]) -> None:
    service, key = adding
    link = f"{service.url}/docs/collections"
    body = {"link": [link, "http://169.254.169.254/latest", "file:///etc/passwd"]}
    taken = service.client.post(ADDRESS, data=body, files=files(("song.md", SONG)), headers=key)
    job = finished(service, key, taken.headers["Location"])
    song, *links = job["documents"]
    assert song["status"] == "indexed"
    assert [each["name"] for each in links] == body["link"]
    assert {each["status"] for each in links} == {"skipped"}
    assert "only http and https" in links[2]["reason"]
    assert all("address" in each["reason"] for each in links[:2]), links


def test_a_collection_whose_documents_all_fail_is_not_made(adding: tuple[Service, dict[str, str]]) -> None:
    service, key = adding
    (broken,) = add(service, key, ("broken.pdf", b"%PDF-1.4 broken"))
    assert broken["status"] == "skipped"
    assert service.client.get("/v1/collections", headers=key).json()["collections"] == []
    assert service.client.get(ADDRESS, headers=key).status_code == 404


@pytest.mark.parametrize(
    ("documents", "status", "words"),
    [
        ([("large.txt", b"kite " * 5_000)], 413, "large.txt has more than 0 MB"),
        ([(f"{n}.txt", b"kite " * 2_500) for n in range(6)], 413, ""),
        ([(f"{n}.txt", b"kite") for n in range(101)], 400, "101 documents"),
        ([], 400, ""),
    ],
)
def test_limits(
    refusing: tuple[Service, dict[str, str]],
    documents: list[tuple[str, bytes]],
    status: int,
    words: str,
) -> None:
    service, key = refusing
    reply = service.client.post(ADDRESS, files=files(*documents) or {"other": b""}, headers=key)
    assert reply.status_code == status, reply.text
    assert words in reply.json()["detail"]
    assert service.client.get("/v1/jobs", headers=key).json()["jobs"] == []


def test_only_the_scope_admin_adds_and_removes(refusing: tuple[Service, dict[str, str]]) -> None:
    service, _ = refusing
    asking = make_key(service, "ask")
    for headers, status in ((asking, 403), ({}, 401)):
        assert (
            service.client.post(ADDRESS, files=files(("a.md", SONG)), headers=headers).status_code == status
        )
        assert service.client.delete(ADDRESS, headers=headers, params={"url": "a"}).status_code == status
    # A form of another site could be sent without asking the browser's owner: only this path takes one.
    asked = service.client.post("/v1/answers", files=files(("a.md", SONG)), headers=asking)
    assert asked.status_code == 415


def test_questions_are_answered_while_documents_are_indexed(
    adding: tuple[Service, dict[str, str]],
) -> None:
    service, key = adding
    add(service, key, ("song.md", SONG))
    row = ",".join(f"value {number}" for number in range(20)) + "\n"
    tables = [(f"{number}.csv", (row * 15_000).encode()) for number in range(4)]
    taken = service.client.post(ADDRESS, files=files(*tables), headers=key)
    asked = {"question": QUESTION, "collection": "whales"}
    answer = service.client.post("/v1/answers", json=asked, headers=key).json()
    assert "30 minutes" in answer["answer"]
    assert service.client.get(taken.headers["Location"], headers=key).json()["status"] == "running"
    assert service.client.delete(taken.headers["Location"], headers=key).json()["status"] == "cancelled"


def test_a_question_may_search_the_web_that_is_set_up_beside_a_collection(
    start: Start, search: Search
) -> None:
    service = start(search__providers="searxng collection", search__searxng_url=search.url)
    search.gate.set()
    asked = {"question": "How do bats find their way in the dark?"}
    web = service.client.post("/v1/answers", json=asked | {"search": "web"}).json()
    assert (web["outcome"], web["options"]) == ("no_evidence", {"search": "web"})
    both = service.client.post("/v1/answers", json=asked | {"search": "web", "collection": "notes"}).json()
    assert "echolocation" in both["answer"]
    assert len(search.questions) == 2
    own = service.client.post("/v1/answers", json=asked | {"collection": "notes"}).json()
    assert "echolocation" in own["answer"]
    assert len(search.questions) == 2
    assert service.client.get("/v1/collections").json()["providers"] == ["searxng", "collection"]


def test_the_web_is_refused_where_none_is_set_up(service: Service) -> None:
    refused = service.client.post("/v1/answers", json={"question": "Why?", "search": "web"})
    assert refused.status_code == 400
    assert "search.providers" in refused.json()["detail"]
    assert service.client.post("/v1/answers", json={"question": "Why?", "search": "x"}).status_code == 400
