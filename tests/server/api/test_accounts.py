"""Accounts that a proxy has signed in: who is believed, what an account may, and what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from benchmarks.small_service import BATS
from citewell.core.errors import SettingsError
from citewell.core.settings import Settings
from citewell.server.access.owner import owner_token
from tests.server.api.conftest import Service, make_key, serving

HEADER = "X-Forwarded-Email"
PROXY = "127.0.0.2"
ADA, BOB = {HEADER: "ada@example.org"}, {HEADER: "bob@example.org"}
ACCOUNTS = {"ada@example.org": ["ask", "feedback"], "bob@example.org": ["ask"], "eve": ["ask", "admin"]}


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    wanted = settings(server__trusted_proxies=PROXY, server__account_header=HEADER, server__accounts=ACCOUNTS)
    with serving(wanted) as service:
        yield service


@contextmanager
def connected(service: Service, address: str = PROXY) -> Iterator[httpx.Client]:
    """A client whose connections come from an address of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=service.url, transport=transport, timeout=60) as client:
        yield client


def ask(client: httpx.Client, account: dict[str, str], **headers: str) -> httpx.Response:
    return client.post("/v1/answers", json={"question": BATS}, headers=account | headers)


def test_an_account_from_anybody_but_the_proxy_gives_no_rights(service: Service) -> None:
    with connected(service, "127.0.0.1") as other:
        for more in ({}, {"X-Forwarded-For": PROXY}, {"Forwarded": f"for={PROXY}"}, {"X-Real-IP": PROXY}):
            for path in ("/v1/answers", "/metrics"):
                refused = other.get(path, headers=ADA | more)
                assert (refused.status_code, refused.json()["type"]) == (401, "/problems/no-key")
        assert ask(other, {HEADER: "eve"}).status_code == 401
    with connected(service) as proxy:
        # What the proxy says of its own clients does not change who it is.
        assert proxy.get("/v1/answers", headers=ADA | {"X-Forwarded-For": "203.0.113.7"}).status_code == 200
        assert proxy.get("/v1/answers").status_code == 401, "nobody is signed in, and nobody is the owner"
        assert proxy.get("/v1/answers", headers={HEADER: ""}).status_code == 401


@pytest.mark.parametrize("name", ["Ada@example.org", "ada@example.org ada", "ada@example.org,eve", "mallory"])
def test_an_account_that_is_not_on_the_list_is_told_so(service: Service, name: str) -> None:
    with connected(service) as proxy:
        refused = proxy.get("/v1/answers", headers={HEADER: name})
        page = proxy.get("/history", headers={HEADER: name, "Accept": "text/html"})
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/unknown-account")
    assert "server.accounts" in refused.json()["detail"]
    assert page.status_code == 403
    assert "may not use this service" in page.text


def test_a_second_account_in_a_request_is_refused(service: Service) -> None:
    with connected(service) as proxy:
        headers = [(HEADER, "ada@example.org"), (HEADER.lower(), "eve")]
        refused = proxy.get("/v1/answers", headers=headers)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/repeated-account")


def test_accounts_see_their_own_answers_alone(service: Service) -> None:
    with connected(service) as proxy:
        first, second = ask(proxy, ADA).json(), ask(proxy, BOB).json()
        assert first["id"] != second["id"]
        assert not second["cached"], "the time of an answer would tell what another asks"
        for account, own, other in ((ADA, first, second), (BOB, second, first)):
            assert proxy.get(f"/v1/answers/{own['id']}", headers=account).status_code == 200
            assert proxy.get(f"/v1/answers/{other['id']}", headers=account).status_code == 404
            assert proxy.delete(f"/v1/threads/{other['thread']}", headers=account).status_code == 404
            for path in ("/v1/answers", "/v1/threads"):
                found = proxy.get(path, headers=account).json()[path.rpartition("/")[2]]
                assert [each["id"] for each in found] == [own["id"]]
        seen = proxy.get("/v1/answers", headers={HEADER: "eve"}).json()["answers"]
        assert {first["id"], second["id"]} <= {each["id"] for each in seen}
        thumb = f"/v1/answers/{second['id']}/feedback"
        refused = proxy.post(thumb, json={"thumb": 1}, headers=BOB)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/wrong-scope")
        assert "Signed in as</span> <bdi>ada@example.org" in proxy.get("/settings", headers=ADA).text


def test_keys_and_the_owner_s_token_still_count(service: Service) -> None:
    key = make_key(service, "ask")
    owner = {"Authorization": f"Bearer {owner_token(service.settings.data_dir)}"}
    with connected(service) as proxy:
        assert proxy.get("/v1/answers", headers=key | ADA).json()["answers"] == []
        assert proxy.get("/v1/jobs", headers=owner).status_code == 200
        # Some proxies send a password or a token of their own.
        for sent in ("Basic YWRhOg==", "Bearer eyJhbGciOiJSUzI1NiJ9"):
            assert proxy.get("/v1/answers", headers=ADA | {"Authorization": sent}).status_code == 200


def test_pages_of_other_sites_cannot_act_for_an_account(service: Service) -> None:
    host = service.url.removeprefix("http://")
    with connected(service) as proxy:
        own = ask(proxy, ADA).json()["id"]
        for site in ("cross-site", "same-site"):
            for refused in (
                ask(proxy, ADA, **{"Sec-Fetch-Site": site, "Origin": f"https://{host}"}),
                proxy.delete(f"/v1/answers/{own}", headers=ADA | {"Sec-Fetch-Site": site}),
            ):
                assert (refused.status_code, refused.json()["type"]) == (403, "/problems/other-origin")
        for origin in ("https://evil.example", "null", f"https://{host}.evil.example", ""):
            assert ask(proxy, ADA, Origin=origin).status_code == 403
        assert ask(proxy, ADA, Origin=f"https://{host}").status_code == 201
        assert ask(proxy, ADA, **{"Sec-Fetch-Site": "same-origin"}).status_code == 201
        read = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
        assert proxy.get(f"/v1/answers/{own}", headers=ADA | read).status_code == 200
        # A key is sent by whoever has it, not by a browser of itself.
        assert ask(proxy, make_key(service, "ask"), **read).status_code == 201


def test_accounts_have_limits_of_their_own(settings: Callable[..., Settings]) -> None:
    wanted = settings(
        server__trusted_proxies="127.0.0.2/32",
        server__account_header=HEADER,
        server__accounts=ACCOUNTS,
        server__daily=1,
    )
    with serving(wanted) as service, connected(service) as proxy:
        assert [ask(proxy, ADA).status_code for _ in range(2)] == [201, 429]
        assert ask(proxy, BOB).status_code == 201


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"server__trusted_proxies": ""}, "needs trusted_proxies"),
        ({"server__accounts": {}}, "need each other"),
        ({"server__account_header": ""}, "need each other"),
        ({"server__trusted_proxies": "*"}, "does not appear to be"),
        ({"server__trusted_proxies": "10.0.0.1 0.0.0.0/0"}, "lets everybody name an account"),
        ({"server__accounts": {"ada": []}}, "accounts"),
        ({"server__accounts": {"ada": ["root"]}}, "accounts"),
    ],
)
def test_settings_that_would_believe_everybody_are_refused(
    settings: Callable[..., Settings], changed: dict[str, object], why: str
) -> None:
    given = {"server__trusted_proxies": PROXY, "server__account_header": HEADER, "server__accounts": ACCOUNTS}
    with pytest.raises(SettingsError, match=why):
        settings(**(given | changed))
