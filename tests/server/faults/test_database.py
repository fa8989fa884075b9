"""The database goes away, or has no room, while the service answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.server.api.conftest import Search, Start
from tests.server.faults.conftest import (
    PostgresServer,
    answers_again,
    ask_notes,
    compare,
    exported,
    give_thumb,
    judge,
    searching,
    states,
    until,
)


def test_a_database_that_goes_away_midway_costs_nothing_that_was_accepted(
    start: Start, search: Search, postgres_server: PostgresServer
) -> None:
    service = start(server__database_url=postgres_server.url, **searching(search))
    known = ask_notes(service.client).headers["Location"]
    accepted = judge(service.client, known)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(service.ask, "Why?")
        search.await_question()
        until(lambda: "running" in states(service.client).values())
        postgres_server.stop()
        assert service.client.get("/health").status_code == 200
        assert service.client.get("/ready").status_code == 503
        assert [service.client.head(path).status_code for path in ("/ready", "/health")] == [503, 200]
        for refused in (
            ask_notes(service.client),
            give_thumb(service.client, known),
            compare(service.client, known),
        ):
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/store-unreachable")
            assert "Retry-After" in refused.headers
        search.gate.set()
        reply = asking.result()  # worked out before, and kept until it can be stored
        assert (reply.status_code, reply.json()["status"]) == (201, "done")
    assert "1 waiting" in service.client.get("/ready").json()["parts"]["answers"]
    postgres_server.start()
    until(lambda: answers_again(service))
    assert set(states(service.client).values()) == {"done"}
    assert reply.headers["Location"] in states(service.client)
    accepted |= judge(service.client, known)
    assert exported(service.client) == accepted


def test_a_database_that_is_down_at_first_is_used_once_it_is_up(
    start: Start, postgres_server: PostgresServer
) -> None:
    postgres_server.stop()
    service = start(server__database_url=postgres_server.url)
    assert service.client.get("/health").status_code == 200
    assert service.client.get("/ready").status_code == 503
    assert ask_notes(service.client).status_code == 503
    postgres_server.start()
    until(lambda: answers_again(service))


def test_a_full_disk_costs_nothing_that_was_accepted(tiny_disk: Path, start: Start, search: Search) -> None:
    service = start(server__database_url=f"sqlite:///{tiny_disk / 'c.sqlite3'}", **searching(search))
    known = ask_notes(service.client).headers["Location"]
    accepted = judge(service.client, known)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(service.ask, "Why?")
        search.await_question()
        until(lambda: "running" in states(service.client).values())
        ballast = fill(tiny_disk)
        for refused in (
            ask_notes(service.client),
            give_thumb(service.client, known),
            compare(service.client, known),
        ):
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/store-full")
        assert exported(service.client) == accepted  # what is stored can be read
        search.gate.set()
        reply = asking.result()
        assert (reply.status_code, reply.json()["status"]) == (201, "done")
    ballast.unlink()
    until(lambda: answers_again(service))
    assert set(states(service.client).values()) == {"done"}
    assert reply.headers["Location"] in states(service.client)
    accepted |= judge(service.client, known)
    assert exported(service.client) == accepted


def fill(disk: Path) -> Path:
    """Take all the room that is left on a disk, with one file."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            return ballast
    raise AssertionError("the disk has no end")
