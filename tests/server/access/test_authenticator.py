"""Who is let in, and what they are told who are not."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from citewell.server.access.authenticator import ANONYMOUS, OWNER, Authenticator, Caller
from citewell.server.access.errors import AccessError, NoKeyError, WrongKeyError, WrongScopeError
from citewell.server.access.keys import SCOPES, ApiKey, NewKey, new_key
from citewell.server.access.owner import opening_page, owner_token

NOW = datetime(2026, 3, 4, tzinfo=UTC)


@dataclass
class Ring:
    """Keys in memory; `asked` has the ids that were looked up."""

    keys: dict[str, ApiKey] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def get(self, id_: str) -> ApiKey | None:
        self.asked.append(id_)
        return self.keys.get(id_)

    async def count(self) -> int:
        return len(self.keys)


@pytest.fixture
def made() -> NewKey:
    return new_key("laptop", ["ask", "feedback"], rate_per_minute=30, daily=500, expires=NOW)


@pytest.fixture
def ring(made: NewKey) -> Ring:
    return Ring({made.key.id: made.key})


@pytest.fixture
def authenticator(ring: Ring) -> Authenticator:
    return Authenticator(ring, now=lambda: NOW - timedelta(seconds=1))


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer   ", " BEARER "])
async def test_a_key_lets_in(authenticator: Authenticator, made: NewKey, scheme: str) -> None:
    caller = await authenticator.admit(scheme + made.secret, "ask")
    assert caller == Caller(made.key.id, frozenset({"ask", "feedback"}), 30, 500, name=made.key.name)


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer\tx"])
async def test_no_key(authenticator: Authenticator, header: str | None) -> None:
    with pytest.raises(NoKeyError) as refused:
        await authenticator.admit(header, "ask")
    assert refused.value.status == 401


async def test_an_unknown_id_and_a_wrong_secret_take_the_same_path(
    authenticator: Authenticator, ring: Ring, made: NewKey
) -> None:
    other = new_key("other", SCOPES)
    errors = []
    for secret in (other.secret, f"cw_{made.key.id}_{other.secret[-43:]}"):
        with pytest.raises(WrongKeyError) as refused:
            await authenticator.admit(f"Bearer {secret}", "ask")
        errors.append((refused.value.status, str(refused.value), refused.value.hint))
    assert errors[0] == errors[1]
    assert errors[0][0] == 401
    assert ring.asked == [other.key.id, made.key.id]


@pytest.mark.parametrize("scope", ["export", "admin"])
async def test_a_scope_that_the_key_has_not(authenticator: Authenticator, made: NewKey, scope: str) -> None:
    with pytest.raises(WrongScopeError, match=scope) as refused:
        await authenticator.admit(f"Bearer {made.secret}", scope)
    assert refused.value.status == 403


async def test_an_admin_key_is_for_administration_alone(ring: Ring, authenticator: Authenticator) -> None:
    admin = new_key("admin", ["admin"])
    ring.keys[admin.key.id] = admin.key
    assert (await authenticator.admit(f"Bearer {admin.secret}", "admin")).key_id == admin.key.id
    with pytest.raises(WrongScopeError):
        await authenticator.admit(f"Bearer {admin.secret}", "ask")


async def test_revoked_and_expired_keys_are_refused(ring: Ring, made: NewKey) -> None:
    with pytest.raises(WrongKeyError, match="expired"):
        await Authenticator(ring, now=lambda: NOW).admit(f"Bearer {made.secret}", "ask")
    ring.keys[made.key.id] = replace(made.key, revoked=NOW - timedelta(days=1))
    with pytest.raises(WrongKeyError, match="revoked"):
        await Authenticator(ring, now=lambda: NOW - timedelta(seconds=1)).admit(
            f"Bearer {made.secret}", "ask"
        )


async def test_without_any_key_this_computer_is_open_but_for_administration() -> None:
    authenticator = Authenticator(Ring())
    for header in (None, "Bearer none-needed"):
        for scope in ("ask", "feedback", "export"):
            assert await authenticator.admit(header, scope) == ANONYMOUS
        with pytest.raises(WrongScopeError):
            await authenticator.admit(header, "admin")


async def test_without_any_key_all_others_stay_outside() -> None:
    authenticator = Authenticator(Ring(), loopback=False)
    with pytest.raises(NoKeyError):
        await authenticator.admit(None, "ask")
    with pytest.raises(WrongKeyError):
        await authenticator.admit(f"Bearer {new_key('a', SCOPES).secret}", "ask")


async def test_the_first_key_closes_the_door_at_once(made: NewKey) -> None:
    ring = Ring()
    authenticator = Authenticator(ring, now=lambda: NOW - timedelta(seconds=1))
    assert await authenticator.admit(None, "ask") == ANONYMOUS
    ring.keys[made.key.id] = replace(made.key, revoked=NOW)
    with pytest.raises(NoKeyError):
        await authenticator.admit(None, "ask")


async def test_no_secret_is_logged_or_told(
    authenticator: Authenticator, made: NewKey, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = new_key("other", ["ask"])
    await authenticator.admit(f"Bearer {made.secret}", "ask")
    for secret, scope in ((made.secret, "admin"), (wrong.secret, "ask"), (wrong.secret + "x", "ask")):
        with pytest.raises(AccessError) as refused:
            await authenticator.admit(f"Bearer {secret}", scope)
        assert secret.split("_", 2)[2] not in str(refused.value)
    for secret in (made.secret, wrong.secret):
        assert secret.split("_", 2)[2] not in caplog.text


async def test_the_owner_has_all_rights_with_the_token_in_the_data_folder(
    made: NewKey, tmp_path: Path
) -> None:
    token = owner_token(tmp_path / "data")
    assert owner_token(tmp_path / "data") == token
    assert (tmp_path / "data" / "owner-token").stat().st_mode & 0o777 == 0o600
    ring = Ring({made.key.id: made.key})
    authenticator = Authenticator(ring, owner=token)
    for scope in SCOPES:
        assert await authenticator.admit(f"Bearer {token}", scope) == OWNER
    with pytest.raises(WrongKeyError):
        await authenticator.admit(f"Bearer {token[:-1]}!", "ask")
    with pytest.raises(WrongKeyError):  # where other computers can connect, nobody has the token
        await Authenticator(ring, loopback=False).admit(f"Bearer {token}", "ask")


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_token_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    token = owner_token(tmp_path)
    (tmp_path / "owner-token").chmod(0o644)
    assert owner_token(tmp_path) != token
    assert (tmp_path / "owner-token").stat().st_mode & 0o777 == 0o600


def test_the_page_that_opens_the_browser_is_for_its_user_alone(tmp_path: Path) -> None:
    page = opening_page(tmp_path, "http://127.0.0.1:1/#token=secret")
    assert "0;http://127.0.0.1:1/#token=secret" in page.read_text()
    assert page.stat().st_mode & 0o077 == 0
