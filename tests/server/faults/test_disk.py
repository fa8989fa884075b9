"""The disk of the service fills up while documents are added, and what a killed service left is removed."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import tempfile
from pathlib import Path

import httpx
import pytest

from citewell.server.store.owners import is_running
from tests.server.api.conftest import Start, make_key
from tests.server.api.test_jobs import SITE, begin, patient
from tests.server.api.test_serve import Serve, store_key
from tests.server.faults.conftest import until
from tests.server.faults.test_database import fill

__all__ = ["patient"]

TEXT = b"# Orchard\n\nThe orchard of the village has a hundred trees, each of them planted by hand.\n"


def add(client: httpx.Client, name: str, text: bytes = TEXT) -> httpx.Response:
    return client.post("/v1/collections/trees/documents", files={"file": (name, text, "text/markdown")})


def ended(client: httpx.Client, added: httpx.Response) -> dict[str, str]:
    assert added.status_code == 202, added.text
    until(lambda: client.get(added.headers["Location"]).json()["status"] != "running")
    job: dict[str, str] = client.get(added.headers["Location"]).json()
    return job


def test_documents_are_refused_while_the_disk_is_full(
    tiny_disk: Path, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = start(data_dir=tiny_disk / "data")
    service.client.headers.update(make_key(service, "ask", "admin"))
    assert ended(service.client, add(service.client, "first.md"))["status"] == "done"
    ballast = fill(tiny_disk)
    failed = ended(service.client, add(service.client, "second.md"))
    assert (failed["status"], "Internal error" in failed["message"]) == ("failed", False), failed
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", str(tiny_disk))
        for text in (TEXT, 60_000 * TEXT):  # larger than what is kept in memory while it arrives
            refused = add(service.client, "third.md", text)
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/disk-full")
            assert "Retry-After" in refused.headers
    ballast.unlink()
    assert ended(service.client, add(service.client, "second.md"))["status"] == "done"
    listed = service.client.get("/v1/collections/trees/documents").json()["documents"]
    assert sorted(each["url"].rpartition("/")[2] for each in listed) == ["first.md", "second.md"]
    assert not [record for record in caplog.records if record.exc_info and record.levelno >= logging.ERROR]


def test_what_a_killed_service_left_is_removed_when_it_starts_again(
    run: Serve, patient: str, tmp_path: Path
) -> None:
    """The added document waits for a crawl, since both are for the same collection."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    variables = {"CITEWELL_FETCH__PROXY": patient, "TMPDIR": str(scratch)}
    variables["CITEWELL_DATA_DIR"] = str(tmp_path / "data")
    variables |= {"CITEWELL_SEARCH__PROVIDERS": "searxng", "CITEWELL_SEARCH__SEARXNG_URL": patient}
    key = asyncio.run(store_key(tmp_path, "admin"))
    killed = run("--workers", "2", **variables)
    with killed.client() as client:
        client.headers.update(key)
        crawl = begin(client, "trees", SITE)
        until(lambda: client.get(crawl).json()["done"] == 1)
        assert add(client, "first.md").status_code == 202
        owners = [int(folder.name.split("-")[3]) for folder in scratch.iterdir()]
        os.killpg(killed.process.pid, signal.SIGKILL)
        killed.process.wait()
    until(lambda: not any(map(is_running, owners)))
    assert {folder.name.split("-")[1] for folder in scratch.iterdir()} == {"documents", "metrics"}
    other = scratch / "citewell-documents-elsewhere-1-abc"
    other.mkdir()
    with run(**variables).client():
        assert list(scratch.iterdir()) == [other]
