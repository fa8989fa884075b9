"""A question searches several places at once, and its answer says which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from citewell.core.settings import Settings
from citewell.server.pages.searched import searched
from tests.server.api.conftest import Service, serving
from tests.server.places import QUESTION, four_places


@pytest.fixture(scope="module")
def places(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with four_places(tmp_path_factory.mktemp("places")) as changes, serving(settings(**changes)) as service:
        yield service


@contextmanager
def several_providers(places: Service, settings: Callable[..., Settings]) -> Iterator[Service]:
    """A service over the same places, which searches the web by two providers."""
    wanted = places.settings
    changes = {
        "data_dir": wanted.data_dir,
        "search.collection": "field",
        "search.providers": "collection,searxng,bing",
        "search.searxng_url": wanted.search.searxng_url,
        "search.bing_endpoint": wanted.search.searxng_url,
        "fetch.allow_networks": "127.0.0.0/8",
        "fetch.robots": False,
        "retriever.k": 8,
    }
    with serving(settings(**changes)) as service:
        yield service


def sites(answer: dict[str, Any]) -> set[str]:
    """Where the references come from."""
    parts = (reference["url"].rpartition("/") for reference in answer["references"])
    return {folder if folder.startswith("collection:") else name for folder, _, name in parts}


@pytest.mark.parametrize(
    ("asked", "found", "words"),
    [
        (
            {"collection": ["field", "zoo"]},
            {"collection:field", "collection:zoo"},
            "the collection field, the collection zoo",
        ),
        (
            {"collection": "zoo", "search": "wikipedia"},
            {"collection:zoo", "Bats"},
            "the collection zoo, Wikipedia",
        ),
        (
            {"collection": ["zoo", "field"], "search": ["wikipedia", "web"]},
            {"collection:field", "collection:zoo", "Bats", "bats-on-the-web"},
            "the collection zoo, the collection field, SearXNG, Wikipedia",
        ),
        ({"search": "web"}, {"bats-on-the-web"}, "SearXNG"),
        ({"search": ["wikipedia", "searxng"]}, {"Bats", "bats-on-the-web"}, "SearXNG, Wikipedia"),
        ({}, {"collection:field", "bats-on-the-web"}, "the collection field, SearXNG"),
    ],
)  # fmt: skip
def test_every_place_that_is_named_gives_references(
    places: Service, asked: dict[str, Any], found: set[str], words: str
) -> None:
    response = places.ask(QUESTION, **asked)
    assert response.status_code == 201, response.text
    answer = response.json()
    assert answer["outcome"] == "answered"
    assert sites(answer) == found
    assert answer["options"] == asked
    assert searched(places.settings, answer["options"], QUESTION) == words
    stored = places.client.get(f"/v1/answers/{answer['id']}").json()
    assert stored["options"] == asked


def test_references_are_retrieved_from_several_places(places: Service) -> None:
    asked = {"question": QUESTION, "collection": ["field", "zoo"], "search": ["wikipedia"]}
    found = places.client.post("/v1/retrieve", json=asked).json()
    assert sites(found) == {"collection:field", "collection:zoo", "Bats"}


def test_a_place_that_fails_leaves_the_others(places: Service, settings: Callable[..., Settings]) -> None:
    changes = {"search.wikipedia_url": "http://127.0.0.1:9/w/api.php", "search.seconds": 1}
    same = {"data_dir": places.settings.data_dir, "search.collection": "field"}
    with serving(settings(**same | changes)) as service:
        answer = service.ask(QUESTION, collection="field", search="wikipedia").json()
    assert sites(answer) == {"collection:field"}
    assert [failure["url"] for failure in answer["failures"]] == ["wikipedia"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"collection": ["field", "none"]}, 404),
        ({"collection": ["field", "../zoo"]}, 400),
        ({"collection": ["field"] * 9}, 400),
        ({"search": ["wikipedia", "library"]}, 400),
        ({"search": "brave"}, 400),
        ({"search": ["web", "ddgs"]}, 400),
    ],
)
def test_a_place_that_does_not_exist_is_refused(places: Service, asked: dict[str, Any], status: int) -> None:
    assert places.ask(QUESTION, **asked).status_code == status


def test_single_providers_of_the_web_can_be_named(places: Service, settings: Callable[..., Settings]) -> None:
    listed = places.client.get("/v1/collections").json()["places"]
    assert [each["title"] for each in listed] == ["Wikipedia", "The web"]  # of which there is one provider
    with several_providers(places, settings) as service:
        listed = service.client.get("/v1/collections").json()["places"]
        assert [each["name"] for each in listed] == ["wikipedia", "web", "searxng", "bing"]
        both = service.ask(QUESTION, search="web").json()
        assert sites(both) == {"bats-on-the-web", "bats-by-bing"}
        one = service.ask(QUESTION, search="bing").json()
        assert sites(one) == {"bats-by-bing"}
        assert searched(service.settings, one["options"], QUESTION) == "Bing"
        refused = service.ask(QUESTION, search="tavily")
        assert refused.status_code == 400
        assert "Name one of wikipedia, web, searxng, bing" in refused.json()["detail"]
