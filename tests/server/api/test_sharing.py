"""A collection that some keys and accounts alone may read is not there for others, at any door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from citewell.core.settings import Settings
from citewell.server.access.keys import new_key
from citewell.server.store.database import open_store
from tests.server.api.conftest import Service, serving
from tests.server.api.test_accounts import HEADER, PROXY, connected
from tests.server.places import QUESTION, four_places

ZOO = "/v1/collections/zoo"
FIELD = "/v1/collections/field"


class Shared(NamedTuple):
    """A service of which Ada's key alone may read the collection zoo, and the headers of its keys."""

    service: Service
    ada: dict[str, str]
    bob: dict[str, str]
    owner: dict[str, str]


def keys_of(service: Service, **scopes: tuple[str, ...]) -> list[dict[str, str]]:
    """Store keys by their names, and return their headers."""
    made = [new_key(name, each) for name, each in scopes.items()]

    async def store() -> None:
        async with open_store(service.settings.server.database_url.get_secret_value()) as opened:
            for each in made:
                await opened.keys.add(each.key)

    asyncio.run(store())
    return [{"Authorization": f"Bearer {each.secret}"} for each in made]


@pytest.fixture(scope="module")
def shared(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with four_places(tmp_path_factory.mktemp("shared")) as changes:
        # The collection zoo is searched by default, too.
        wanted = changes | {
            "search.providers": "collection,collection:zoo,searxng",
            "server.rate_per_minute": 0,
        }
        with serving(settings(**wanted)) as service:
            ada, bob, owner = keys_of(
                service, ada=("ask", "feedback"), bob=("ask", "feedback"), owner=("ask", "feedback", "admin")
            )
            readers = {"keys": ["ada"], "accounts": []}
            kept = service.client.put(f"{ZOO}/readers", json=readers, headers=owner)
            assert (kept.status_code, kept.json()) == (200, readers)
            yield Shared(service, ada, bob, owner)


def is_missing(reply: httpx.Response) -> bool:
    """Whether a reply is the one for a collection that does not exist, and names zoo only as it was asked."""
    problem = reply.json()
    assert "zoo" not in problem["detail"].replace("The collection 'zoo' does not exist.", "")
    return (reply.status_code, problem["type"]) == (404, "/problems/no-collection")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", ZOO, None),
        ("GET", f"{ZOO}/documents", None),
        ("POST", "/v1/answers", {"question": QUESTION, "collection": "zoo"}),
        ("POST", "/v1/answers", {"question": QUESTION, "collection": ["field", "zoo"], "search": "web"}),
        ("POST", "/v1/retrieve", {"question": QUESTION, "collection": "zoo"}),
        ("POST", "/v1/demonstrations", {"question": QUESTION, "collection": "zoo"}),
        ("GET", "/v1/models/citewell/zoo", None),
        (
            "POST",
            "/v1/chat/completions",
            {"model": "citewell", "messages": [{"role": "user", "content": QUESTION}], "collection": "zoo"},
        ),
        (
            "POST",
            "/v1/chat/completions",
            {"model": "citewell/zoo", "messages": [{"role": "user", "content": QUESTION}]},
        ),
    ],
)
def test_no_door_opens_to_other_keys(
    shared: Shared, method: str, path: str, body: dict[str, Any] | None
) -> None:
    def send(key: dict[str, str]) -> httpx.Response:
        return shared.service.client.request(method, path, headers=key, json=body)

    refused = send(shared.bob)
    assert refused.status_code == 404, refused.text
    nets = {"collection": "nets"} if body and "collection" in body else {}
    unknown = shared.service.client.request(
        method, path.replace("zoo", "nets"), headers=shared.bob, json=body and body | nets
    )
    if body is None or body.get("model") != "citewell/zoo":
        assert refused.text.replace("zoo", "nets") == unknown.text
    for key in (shared.ada, shared.owner):
        assert send(key).status_code in (200, 201), send(key).text


@pytest.mark.parametrize("path", ["/collections/zoo", "/collections/zoo/document?url=collection:zoo/bats.md"])
def test_no_page_opens_to_other_keys(shared: Shared, path: str) -> None:
    html = {"Accept": "text/html"}
    refused = shared.service.client.get(path, headers=shared.bob | html)
    assert refused.status_code == 404
    assert "mangoes" not in refused.text
    for key in (shared.ada, shared.owner):
        assert shared.service.client.get(path, headers=key | html).status_code == 200


def test_no_list_names_it(shared: Shared) -> None:
    client = shared.service.client
    for path in ("/v1/collections", "/v1/models", "/collections", "/settings", "/demonstrate"):
        html = {} if path.startswith("/v1") else {"Accept": "text/html"}
        assert "zoo" not in client.get(path, headers=shared.bob | html).text, path
        for key in (shared.ada, shared.owner):
            assert "zoo" in client.get(path, headers=key | html).text, path
    assert "zoo" not in client.get("/", headers={"Accept": "text/html"}).text


def test_questions_search_by_default_what_their_key_may_read(shared: Shared) -> None:
    def asked(key: dict[str, str]) -> dict[str, Any]:
        body = {"question": QUESTION, "fresh": True}
        answer: dict[str, Any] = shared.service.client.post("/v1/answers", json=body, headers=key).json()
        return answer

    own, other = asked(shared.ada), asked(shared.bob)
    assert "collection:zoo/bats.md" in {each["url"] for each in own["references"]}
    assert own["options"] == {}
    assert "mangoes" not in str(other)
    assert other["options"] == {"collection": "field", "search": "searxng"}
    assert {each["url"].rpartition("/")[2] for each in other["references"]} == {"bats.md", "bats-on-the-web"}
    stored = shared.service.client.get(f"/v1/answers/{own['id']}", headers=shared.bob)
    assert stored.status_code == 404
    followed = {"question": "What do they eat?", "thread": own["id"], "collection": "zoo"}
    assert shared.service.client.post("/v1/answers", json=followed, headers=shared.bob).status_code == 404


def test_answers_stay_their_owners_once_the_collection_is_closed(shared: Shared) -> None:
    client = shared.service.client
    body = {"question": "What do bats eat at the zoo?", "collection": "field"}
    answer = client.post("/v1/answers", json=body, headers=shared.bob).json()
    client.put(f"{FIELD}/readers", json={"keys": ["ada"]}, headers=shared.owner)
    try:
        assert client.get(f"/v1/answers/{answer['id']}", headers=shared.bob).json() == answer
        assert client.post("/v1/answers", json=body, headers=shared.bob).status_code == 404  # not cached
        page = client.get(f"/answers/{answer['id']}", headers=shared.bob | {"Accept": "text/html"})
        assert page.status_code == 200
        # What is left of what is searched by default is the web.
        rest = client.post("/v1/answers", json={"question": QUESTION}, headers=shared.bob).json()
        assert rest["options"] == {"search": "searxng"}
    finally:
        opened = client.put(f"{FIELD}/readers", json={}, headers=shared.owner)
    assert opened.json() == {"keys": [], "accounts": []}
    assert client.get(FIELD, headers=shared.bob).status_code == 200


def test_a_demonstration_ends_where_its_collection_is_closed(shared: Shared) -> None:
    client = shared.service.client
    started = client.post(
        "/v1/demonstrations", json={"question": QUESTION, "collection": "field"}, headers=shared.bob
    ).json()
    client.put(f"{FIELD}/readers", json={"keys": ["ada"]}, headers=shared.owner)
    try:
        action = {"command": "Search bats", "after": 0}
        path = f"/v1/demonstrations/{started['id']}/actions"
        assert is_missing(client.post(path, json=action, headers=shared.bob))
    finally:
        client.put(f"{FIELD}/readers", json={}, headers=shared.owner)
    by_default = client.post("/v1/demonstrations", json={"question": QUESTION}, headers=shared.bob)
    assert (by_default.status_code, by_default.json()["type"]) == (403, "/problems/nothing-to-search")


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (ZOO, {"keys": ["Ada"]}, 400, "No active key has the name 'Ada'"),
        (ZOO, {"accounts": ["ada"]}, 400, "The account 'ada' may not use this service"),
        (ZOO, {"keys": "ada"}, 400, "keys"),
        (ZOO, {"key": ["ada"]}, 400, "key"),
        ("/v1/collections/nets", {"keys": ["ada"]}, 404, "does not exist"),
        ("/v1/collections/handbook", {"keys": ["ada"]}, 404, "does not exist"),
    ],
)
def test_lists_that_would_shut_everybody_out_are_refused(
    shared: Shared, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    refused = shared.service.client.put(f"{path}/readers", json=body, headers=shared.owner)
    assert refused.status_code == status, refused.text
    assert words in refused.text
    assert shared.service.client.get(f"{ZOO}/readers", headers=shared.owner).json()["keys"] == ["ada"]
    assert shared.service.client.put(f"{path}/readers", json={}, headers=shared.ada).status_code == 403


def test_accounts_of_a_proxy_are_readers_too(
    settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory
) -> None:
    accounts = {"ada": ["ask"], "bob": ["ask"], "eve": ["ask", "admin"]}
    own = {
        "server.trusted_proxies": PROXY,
        "server.account_header": HEADER,
        "server.accounts": accounts,
    }
    with (
        four_places(tmp_path_factory.mktemp("accounts")) as changes,
        serving(settings(**changes | own)) as service,
        connected(service) as proxy,
    ):
        (key,) = keys_of(service, ada=("ask",))  # which is not the account
        readers = {"accounts": ["ada"]}
        headers = {HEADER: "eve", "Sec-Fetch-Site": "same-origin"}
        assert proxy.put(f"{ZOO}/readers", json=readers, headers=headers).status_code == 200
        seen = {name: proxy.get(ZOO, headers={HEADER: name}).status_code for name in accounts}
        assert seen == {"ada": 200, "bob": 404, "eve": 200}
        assert service.client.get(ZOO, headers=key).status_code == 404


def test_where_nothing_is_left_to_search_the_question_is_refused(
    settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        four_places(tmp_path_factory.mktemp("closed")) as changes,
        serving(settings(**changes | {"search.providers": "collection"})) as service,
    ):
        ada, bob, owner = keys_of(service, ada=("ask",), bob=("ask",), owner=("ask", "admin"))
        service.client.put(f"{FIELD}/readers", json={"keys": ["ada"]}, headers=owner)
        refused = service.client.post("/v1/answers", json={"question": QUESTION}, headers=bob)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/nothing-to-search")
        assert "field" not in refused.text
        assert service.client.get("/v1/collections", headers=bob).json()["searched"] is None
        named = {"question": QUESTION, "collection": "zoo"}
        assert service.client.post("/v1/answers", json=named, headers=bob).status_code == 201
        assert service.client.post("/v1/answers", json={"question": QUESTION}, headers=ada).json()["answer"]
