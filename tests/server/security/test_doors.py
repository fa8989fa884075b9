"""Every address of the service, as the application itself lists them, and whom it lets in."""

from __future__ import annotations

import asyncio
import http.client
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from citewell.core.settings import Settings, load_settings
from citewell.server.access.keys import SCOPES, NewKey, new_key
from citewell.server.app import create_app
from citewell.server.store.database import open_store
from tests.server.api.conftest import Service, serving

OPEN = "open"
DOORS = {
    "GET /": OPEN,
    "GET /api": OPEN,
    "GET /docs": OPEN,
    "GET /docs/{name}": OPEN,
    "GET /health": OPEN,
    "HEAD /health": OPEN,
    "GET /ready": OPEN,
    "HEAD /ready": OPEN,
    "GET /problems/{name}": OPEN,
    "GET /schema": OPEN,
    "GET /schema/openapi.json": OPEN,
    "GET /schema/{path}": OPEN,
    "GET /static/{name}": OPEN,
    "HEAD /static/{name}": OPEN,
    "GET /opensearch.xml": OPEN,
    "GET /metrics": "admin",
    "GET /answers/{answer_id}": "ask",
    "GET /answers/{answer_id}/icons/{number}": "ask",
    "GET /compare": "ask",
    "GET /compare/{answer_id}": "ask",
    "GET /history": "ask",
    "GET /settings": "ask",
    "GET /threads/{thread_id}": "ask",
    "GET /rate": "ask",
    "GET /rate/results": "export",
    "GET /studies": "feedback",
    "GET /studies/{study_id}": "feedback",
    "GET /studies/{study_id}/results": "export",
    "GET /collections": "ask",
    "GET /collections/{name}": "ask",
    "GET /collections/{name}/document": "ask",
    "GET /demonstrate": "ask",
    "GET /demonstrate/{demonstration_id}": "ask",
    "GET /trace": OPEN,
    "GET /trace/{id_}": "ask",
    "POST /v1/answers": "ask",
    "GET /v1/answers": "ask",
    "GET /v1/answers/{answer_id}": "ask",
    "DELETE /v1/answers/{answer_id}": "ask",
    "POST /v1/answers/{answer_id}/cancel": "ask",
    "GET /v1/answers/{answer_id}/events": "ask",
    "GET /v1/answers/{answer_id}/related": "ask",
    "GET /v1/answers/{answer_id}/episode": "ask",
    "GET /v1/answers/{answer_id}/export": "ask",
    "GET /v1/threads": "ask",
    "GET /v1/threads/{thread_id}": "ask",
    "PATCH /v1/threads/{thread_id}": "ask",
    "DELETE /v1/threads/{thread_id}": "ask",
    "GET /v1/threads/{thread_id}/export": "ask",
    "POST /v1/demonstrations": "ask",
    "GET /v1/demonstrations": "ask",
    "GET /v1/demonstrations/{demonstration_id}": "ask",
    "DELETE /v1/demonstrations/{demonstration_id}": "ask",
    "POST /v1/demonstrations/{demonstration_id}/actions": "ask",
    "POST /v1/demonstrations/{demonstration_id}/submission": "ask",
    "GET /v1/demonstrations/{demonstration_id}/episode": "ask",
    "GET /v1/demonstrations/{demonstration_id}/recording": "ask",
    "GET /v1/export/demonstrations": "export",
    "POST /v1/answers/{answer_id}/feedback": "feedback",
    "POST /v1/answers/{answer_id}/ratings": "feedback",
    "POST /v1/retrieve": "ask",
    "POST /v1/rerank": "ask",
    "POST /v1/embeddings": "ask",
    "POST /v1/comparisons": "feedback",
    "POST /v1/rankings": "feedback",
    "POST /v1/studies": "admin",
    "GET /v1/studies": "feedback",
    "DELETE /v1/studies/{study_id}": "admin",
    "GET /v1/studies/{study_id}/next": "feedback",
    "POST /v1/studies/{study_id}/judgments": "feedback",
    "GET /v1/studies/{study_id}/results": "export",
    "GET /v1/export/rankings": "export",
    "GET /v1/export/ratings": "export",
    "GET /v1/export/feedback": "export",
    "GET /v1/export/comparisons": "export",
    "GET /v1/collections": "ask",
    "POST /v1/collections": "admin",
    "GET /v1/collections/{name}": "ask",
    "DELETE /v1/collections/{name}": "admin",
    "POST /v1/collections/{name}/refresh": "admin",
    "GET /v1/collections/{name}/readers": "admin",
    "PUT /v1/collections/{name}/readers": "admin",
    "GET /v1/collections/{name}/documents": "ask",
    "POST /v1/collections/{name}/documents": "admin",
    "DELETE /v1/collections/{name}/documents": "admin",
    "GET /v1/jobs": "admin",
    "GET /v1/jobs/{job_id}": "admin",
    "DELETE /v1/jobs/{job_id}": "admin",
    "POST /v1/chat/completions": "ask",
    "GET /v1/models": "ask",
    "GET /v1/models/{model}": "ask",
}
"""The scope that each address asks for: whoever adds an address decides here who may use it."""


def test_every_address_of_the_application_is_in_the_table() -> None:
    served = {
        f"{method} {re.sub(r':[a-z]+}', '}', route.path)}"
        for route in create_app(load_settings()).routes
        for method in route.methods
        if method != "OPTIONS"  # answered by the framework, with the methods alone
    }
    assert served == set(DOORS)


class Locked(NamedTuple):
    """A service with keys, and the headers that carry them."""

    service: Service
    keys: dict[str, str]
    refused: dict[str, str]


@pytest.fixture(scope="module")
def locked(settings: Callable[..., Settings]) -> Iterator[Locked]:
    now = datetime.now(UTC)
    good = {scope: new_key(scope, [scope]) for scope in SCOPES}
    revoked = new_key("revoked", SCOPES)
    expired = new_key("expired", SCOPES, expires=now - timedelta(seconds=1))
    unknown = new_key("never stored", SCOPES)
    other = good["ask"].secret
    with serving(settings(server__rate_per_minute=0)) as service:
        asyncio.run(_store(service, [*good.values(), revoked, expired], revoked))
        yield Locked(
            service,
            {scope: f"Bearer {made.secret}" for scope, made in good.items()},
            {
                "none": "",
                "revoked": f"Bearer {revoked.secret}",
                "expired": f"Bearer {expired.secret}",
                "never stored": f"Bearer {unknown.secret}",
                "another's secret": f"Bearer {other[:20]}{unknown.secret[20:]}",
                "cut": f"Bearer {other[:-1]}",
                "longer": f"Bearer {other}A",
                "two": f"Bearer {other}, Bearer {other}",
                "other scheme": f"Basic {other}",
                "its hash": f"Bearer {other[:20]}{good['ask'].key.hash[:43]}",
            },
        )


async def _store(service: Service, made: list[NewKey], revoked: NewKey) -> None:
    async with open_store(service.settings.server.database_url.get_secret_value()) as store:
        for each in made:
            await store.keys.add(each.key)
        assert await store.keys.revoke(revoked.key.id)


@pytest.mark.parametrize(("door", "scope"), DOORS.items(), ids=DOORS)
def test_a_door_opens_to_its_scope_alone(locked: Locked, door: str, scope: str) -> None:
    method, path = re.sub(r"{\w+}", "1", door).split(" ")

    def status(header: str) -> int:
        headers = {"Authorization": header} if header else {}
        body = {"json": {}} if method == "POST" else {}
        response = locked.service.client.request(method, path, headers=headers, **body)  # type: ignore[arg-type]
        assert not header or header[-20:] not in response.text
        return response.status_code

    for name, header in locked.refused.items():
        assert (status(header) == 401) == (scope != OPEN), name
    for held, header in locked.keys.items():
        assert (status(header) in (401, 403)) == (scope not in (OPEN, held)), held


def test_a_key_in_the_address_or_in_a_cookie_opens_nothing(locked: Locked) -> None:
    secret = locked.keys["ask"].removeprefix("Bearer ")
    client = locked.service.client
    for name in ("key", "api_key", "access_token", "authorization"):
        assert client.get("/v1/answers", params={name: secret}).status_code == 401
        assert client.get("/v1/answers", headers={"Cookie": f"{name}={secret}"}).status_code == 401
        assert client.get("/v1/answers", headers={"X-Api-Key": secret}).status_code == 401


@pytest.mark.parametrize(
    "path",
    ["/v1//answers", "/V1/answers", "/v1/answers/", "/v1/../v1/answers", "/v1/%61nswers", "//v1/answers"],
)
def test_another_spelling_of_an_address_is_no_way_round(locked: Locked, path: str) -> None:
    assert locked.service.client.get(path).status_code in (401, 404)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../site.py",
        "/static/%2e%2e/site.py",
        "/static/..%2fsite.py",
        "/static/%2e%2e%2f%2e%2e%2fapp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/schema/../v1/answers",
    ],
)
def test_no_file_beside_the_static_ones_is_served(locked: Locked, path: str) -> None:
    # httpx tidies addresses: this one goes out as it is.
    connection = http.client.HTTPConnection("127.0.0.1", locked.service.client.base_url.port, timeout=60)
    connection.request("GET", path)
    response = connection.getresponse()
    assert response.status in (400, 401, 404)
    assert b"import" not in response.read()
    connection.close()
