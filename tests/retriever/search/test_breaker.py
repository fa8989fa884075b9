"""When a provider that fails is left alone, and when it is tried again."""

from __future__ import annotations

import asyncio

import pytest

from citewell.core.errors import (
    ServiceError,
    ServiceKeyMissingError,
    ServiceKeyRefusedError,
    ServicePausedError,
    ServiceQuotaError,
    ServiceUnreachableError,
)
from citewell.retriever.search.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, seconds=30.0, clock=clock)


def fail(breaker: Breaker, error: ServiceError | None = None) -> None:
    with pytest.raises(ServiceError), breaker.search("brave"):
        raise error or ServiceUnreachableError("Brave cannot be reached.", "Check the network.")


def succeed(breaker: Breaker) -> None:
    with breaker.search("brave"):
        pass


def test_opens_after_several_failures_in_a_row(breaker: Breaker, clock: Clock) -> None:
    fail(breaker)
    fail(breaker)
    succeed(breaker)
    fail(breaker)
    fail(breaker)
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "open"
    clock.now += 18
    with pytest.raises(ServicePausedError) as raised, breaker.search("brave"):
        pytest.fail("it was asked")
    assert raised.value.message == "Brave is paused for another 12 s after an error: Brave cannot be reached."
    assert raised.value.hint == "Check the network."


@pytest.mark.parametrize("kind", [ServiceKeyRefusedError, ServiceQuotaError])
def test_opens_at_once_where_waiting_is_all_that_helps(
    breaker: Breaker, clock: Clock, kind: type[ServiceError]
) -> None:
    fail(breaker, kind("no", retry_after=100.0))
    clock.now = 99.9
    assert breaker.state == "open"
    clock.now = 100
    assert breaker.state == "half-open"


def test_one_search_tries_it_and_closes_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, ServiceQuotaError("no"))
    clock.now = 30
    with breaker.search("brave"):
        assert breaker.state == "open"
        with (
            pytest.raises(ServicePausedError, match="while another search tests it"),
            breaker.search("brave"),
        ):
            pytest.fail("it was asked twice")
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "closed"


def test_a_failed_trial_opens_it_again(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, ServiceQuotaError("no"))
    clock.now = 30
    fail(breaker)
    assert breaker.state == "open"
    clock.now = 59
    assert breaker.state == "open"
    clock.now = 60
    assert breaker.state == "half-open"


def test_a_cancelled_trial_decides_nothing(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, ServiceQuotaError("no"))
    clock.now = 30
    with pytest.raises(asyncio.CancelledError), breaker.search("brave"):
        raise asyncio.CancelledError
    assert breaker.state == "half-open"


def test_a_missing_key_is_no_failure_of_the_service(breaker: Breaker) -> None:
    for _ in range(5):
        fail(breaker, ServiceKeyMissingError("no key"))
    assert breaker.state == "closed"
