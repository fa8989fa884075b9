"""What the service asks elsewhere hangs: a search, and a language model."""

from __future__ import annotations

from benchmarks.small_service import BATS
from tests.server.api.conftest import Search, Start
from tests.server.faults.conftest import answers_again, searching, until


def test_a_search_that_hangs_is_given_up_and_gives_its_place_back(start: Start, search: Search) -> None:
    short = {"search__seconds": 0.3}
    service = start(server__concurrency=1, **searching(search) | short)
    late = service.ask("Why?")
    assert (late.status_code, late.json()["type"]) == (504, "/problems/service-unreachable")
    assert service.client.get("/ready").json()["running"] == 0
    assert answers_again(service)
    search.gate.set()
    until(lambda: service.ask("Why?", fresh=True).status_code == 201)


def test_a_model_that_hangs_is_given_up_and_gives_its_place_back(start: Start, silent_server: str) -> None:
    service = start(
        generator__name="openai:silent",
        generator__base_url=f"{silent_server}/v1",
        generator__seconds=0.5,
        server__concurrency=1,
    )
    late = service.ask(BATS)
    assert (late.status_code, late.json()["type"]) == (504, "/problems/service-unreachable")
    assert service.client.get("/ready").json()["running"] == 0
    quoted = service.ask(BATS, generator="extractive")
    assert (quoted.status_code, quoted.json()["outcome"]) == (201, "answered")
