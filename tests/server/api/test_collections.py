"""Collections over HTTP: listed, and filled in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.core.settings import Settings
from tests.server.api.conftest import Service, Start, make_key, serving


def sources_in(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A folder of sources in one that holds a secret, and the settings of a service that may index it."""
    sources = folder / "sources"
    (sources / "whales").mkdir(parents=True)
    (sources / "whales" / "song.md").write_text("# Whale song\n\nMale humpback whales sing for 30 minutes.\n")
    (folder / "secret.md").write_text("# Secret\n\nThis is nobody's business, and is not to be indexed.\n")
    return sources, {
        "data_dir": folder / "data",
        "server__sources": sources,
        "search__providers": "searxng",
        "search__searxng_url": "http://127.0.0.1:9",
    }


@pytest.fixture(params=["embedded", "postgres"])
def indexing(
    request: pytest.FixtureRequest, start: Start, tmp_path: Path
) -> tuple[Service, dict[str, str], Path]:
    """A service with a folder of sources, a key that may index, and the folder."""
    sources, changes = sources_in(tmp_path)
    store = request.getfixturevalue("database") if request.param == "postgres" else ""
    service = start(**changes, collection__store=store)
    return service, make_key(service, "ask", "admin"), sources


@pytest.fixture(scope="module")
def refusing(
    settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, dict[str, str], Path]]:
    """The same for all tests in which nothing gets indexed."""
    sources, changes = sources_in(tmp_path_factory.mktemp("refusing"))
    with serving(settings(**changes)) as service:
        yield service, make_key(service, "ask", "admin"), sources


def finished(service: Service, key: dict[str, str], address: str) -> dict[str, Any]:
    for _ in range(1000):
        job: dict[str, Any] = service.client.get(address, headers=key).json()
        if job["status"] != "running":
            return job
        time.sleep(0.02)
    raise AssertionError(f"the job is still running: {job}")


def test_collections_are_listed_without_the_folders_of_this_computer(service: Service) -> None:
    listed = service.client.get("/v1/collections").json()
    assert listed["searched"] == "notes"
    (notes,) = listed["collections"]
    assert (notes["name"], notes["pages"], notes["problem"]) == ("notes", 4, None)
    assert not any("/" in source for source in notes["sources"])


def test_a_folder_is_indexed_and_can_be_asked_at_once(
    indexing: tuple[Service, dict[str, str], Path],
) -> None:
    service, key, sources = indexing
    (sources / "whales" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    taken = service.client.post("/v1/collections", json={"name": "whales", "source": "whales"}, headers=key)
    assert taken.status_code == 202, taken.json()
    job = finished(service, key, taken.headers["Location"])
    assert job["status"] == "done", job
    assert job["message"].startswith("1 added")
    assert "\ncollection:whales/broken.pdf: " in job["message"]
    assert str(sources) not in str(job)
    assert service.client.get("/v1/jobs", headers=key).json()["jobs"] == [job]
    (listed,) = service.client.get("/v1/collections", headers=key).json()["collections"]
    assert (listed["name"], listed["pages"], listed["sources"]) == ("whales", 1, ["whales"])
    answer = service.client.post(
        "/v1/answers",
        json={"question": "How long do humpback whales sing?", "collection": "whales"},
        headers=key,
    )
    assert "30 minutes" in answer.json()["answer"]
    assert answer.json()["references"][0]["url"] == "collection:whales/song.md"
    assert str(sources) not in answer.text


def test_an_answer_is_not_given_again_once_its_collection_has_changed(
    indexing: tuple[Service, dict[str, str], Path],
) -> None:
    service, key, sources = indexing
    body = {"name": "whales", "source": "whales"}
    question = {"question": "How long do humpback whales sing?", "collection": "whales"}
    finished(service, key, service.client.post("/v1/collections", json=body, headers=key).headers["Location"])
    service.client.post("/v1/answers", json=question, headers=key)
    assert service.client.post("/v1/answers", json=question, headers=key).json()["cached"]
    (sources / "whales" / "song.md").write_text("# Whale song\n\nMale humpback whales sing for 99 hours.\n")
    finished(service, key, service.client.post("/v1/collections", json=body, headers=key).headers["Location"])
    answer = service.client.post("/v1/answers", json=question, headers=key).json()
    assert not answer["cached"]
    assert "99 hours" in answer["answer"]


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("../secret.md", 400),
        ("/etc/passwd", 400),
        ("whales/../../secret.md", 400),
        ("nothing", 400),
        ("", 400),
        ("whales/\u0000", 400),
        ("file:///etc/passwd", 400),
        ("ftp://example.org/", 400),
        ("http://user:password@example.org/", 400),
    ],
)
def test_what_is_not_in_the_folder_of_sources_is_refused(
    refusing: tuple[Service, dict[str, str], Path], source: str, status: int
) -> None:
    service, key, _ = refusing
    response = service.client.post("/v1/collections", json={"name": "new", "source": source}, headers=key)
    assert response.status_code == status, response.json()
    assert "/tmp" not in response.text


def test_a_link_out_of_the_folder_is_refused(refusing: tuple[Service, dict[str, str], Path]) -> None:
    service, key, sources = refusing
    (sources / "link").symlink_to(sources.parent / "secret.md")
    response = service.client.post("/v1/collections", json={"name": "new", "source": "link"}, headers=key)
    assert response.status_code == 400


def test_a_link_to_itself_is_refused(refusing: tuple[Service, dict[str, str], Path]) -> None:
    service, key, sources = refusing
    (sources / "circle").symlink_to("circle")
    response = service.client.post("/v1/collections", json={"name": "new", "source": "circle"}, headers=key)
    assert (response.status_code, "does not exist" in response.text) == (400, True)


def test_links_inside_a_folder_do_not_lead_out_of_it(
    indexing: tuple[Service, dict[str, str], Path],
) -> None:
    service, key, sources = indexing
    secret = sources.parent / "secret.md"
    rows = sources.parent / "rows.jsonl"
    rows.write_text('{"url": "https://secret.example/", "text": "This is a secret row of a file."}\n')
    for name, target in {
        "a.md": secret,
        "b.jsonl": rows,
        "c": sources.parent,
        "d.md": Path("song.md"),
    }.items():
        (sources / "whales" / name).symlink_to(target)
    body = {"name": "whales", "source": "whales"}
    taken = service.client.post("/v1/collections", json=body, headers=key)
    job = finished(service, key, taken.headers["Location"])
    assert job["message"].startswith("1 added"), job
    assert job["message"].count("it is a link out of the folder of sources") == 2
    found = service.client.post(
        "/v1/retrieve", json={"question": "What is nobody's business?", "collection": "whales"}, headers=key
    )
    assert "nobody's business, and" not in found.text
    assert "secret row" not in found.text


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "http://2130706433/"]
)
def test_sites_of_private_addresses_are_not_crawled(
    refusing: tuple[Service, dict[str, str], Path], url: str
) -> None:
    service, key, _ = refusing
    taken = service.client.post("/v1/collections", json={"name": "new", "source": url}, headers=key)
    assert taken.status_code == 202
    job = finished(service, key, taken.headers["Location"])
    assert job["status"] == "failed"
    assert "not a public address" in job["message"]
    names = [
        collection["name"]
        for collection in service.client.get("/v1/collections", headers=key).json()["collections"]
    ]
    assert "new" not in names


def test_networks_that_questions_may_read_are_not_crawled_for_keys(start: Start, tmp_path: Path) -> None:
    service = start(data_dir=tmp_path / "data", fetch__allow_networks=["127.0.0.0/8"])
    key = make_key(service, "admin")
    body = {"name": "new", "source": service.url}
    job = finished(
        service, key, service.client.post("/v1/collections", json=body, headers=key).headers["Location"]
    )
    assert job["status"] == "failed"
    assert "not a public address" in job["message"]


def test_without_a_folder_of_sources_no_file_is_indexed(start: Start) -> None:
    service = start()
    key = make_key(service, "admin")
    response = service.client.post("/v1/collections", json={"name": "new", "source": "."}, headers=key)
    assert response.status_code == 400
    assert "server.sources" in response.json()["detail"]
