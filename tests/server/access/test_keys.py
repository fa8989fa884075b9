"""Keys are shown once, and what is stored of them opens nothing."""

from __future__ import annotations

import re
import timeit
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from citewell.core.errors import InputError
from citewell.server.access.keys import SCOPES, Presented, matches, new_key, read_key

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def test_a_key_matches_its_own_secret_alone() -> None:
    made, other = new_key("laptop", ["ask"]), new_key("laptop", ["ask"])
    presented = read_key(made.secret)
    assert presented is not None
    assert presented.id == made.key.id
    assert matches(made.key, presented)
    assert not matches(other.key, presented)
    assert not matches(None, presented)
    swapped = read_key(f"cw_{made.key.id}_{other.secret.split('_', 2)[2]}")
    assert swapped is not None
    assert not matches(made.key, swapped)


def test_a_secret_has_256_random_bits_and_is_in_no_repr() -> None:
    made = new_key("laptop", ["ask"])
    match = re.fullmatch(r"cw_[0-9a-f]{16}_([A-Za-z0-9_-]{43})", made.secret)
    assert match is not None
    for shown in (
        repr(made),
        str(made),
        f"{made}",
        repr(made.key),
        str(vars(made.key)),
        repr(tuple(made)[1]),
    ):
        assert match[1] not in shown
    assert made.key.hash not in repr(made)


@pytest.mark.parametrize(
    "text",
    ["", "cw_", "cw_0123456789abcdef_", "sk-abc", "cw_0123456789ABCDEF_" + "a" * 43, "cw_" + "a" * 60]
    + ["cw_0123456789abcdef_" + "a" * 44, "cw_0123456789abcdef_" + "ä" * 43, " cw_" + "a" * 100_000],
)
def test_what_has_not_the_form_of_a_key(text: str) -> None:
    assert read_key(text) is None


@pytest.mark.alone
def test_a_wrong_secret_takes_as_long_as_no_key_at_all() -> None:
    """Neither whether a key exists nor how much of its hash is right can be told from the time."""
    key = new_key("laptop", ["ask"]).key
    nearly = key.hash[:-1] + ("0" if key.hash[-1] != "0" else "1")
    other = "".join("0" if digit != "0" else "1" for digit in key.hash)
    cases = [(None, key.hash), (key, nearly), (key, other)]
    for _ in range(20):  # the machine may have other work, which lasts
        times = [
            min(timeit.repeat(partial(matches, kept, Presented(key.id, hash_)), number=2_000, repeat=5))
            for kept, hash_ in cases
        ]
        if max(times) < 1.3 * min(times):
            return
    raise AssertionError(f"the times differ: {times}")


def test_keys_expire_and_are_revoked() -> None:
    key = new_key("laptop", SCOPES, expires=NOW).key
    assert key.is_active(NOW - timedelta(microseconds=1))
    assert not key.is_active(NOW)


@pytest.mark.parametrize(
    ("scopes", "limit"), [([], None), (["all"], None), (["ask"], 0), (["ask", "Admin"], 5)]
)
def test_keys_that_are_not_made(scopes: list[str], limit: int | None) -> None:
    with pytest.raises(InputError):
        new_key("laptop", scopes, daily=limit)
