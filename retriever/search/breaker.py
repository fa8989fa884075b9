"""A circuit breaker: pauses a provider that keeps failing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from citewell.core.errors import (
    CitewellError,
    ServiceKeyMissingError,
    ServiceKeyRefusedError,
    ServicePausedError,
    ServiceQuotaError,
)
from citewell.retriever.search.words import spoken

State = Literal["closed", "open", "half-open"]


class Breaker:
    """Counts consecutive failures of a provider (M. Nygard, *Release It!*, 2nd ed., §5.2).

    While closed, it passes every search. After `failures` in a row, or a rejected key or used-up quota, it
    opens for `seconds`, or for as long as the provider said. Then it is half-open: it passes one search,
    whose outcome closes or opens it. `clock` is for tests.
    """

    def __init__(
        self, failures: int = 3, seconds: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold = failures
        self._seconds = seconds
        self._clock = clock
        self._failed = 0
        self._until: float | None = None
        self._trial = False
        self._last: CitewellError | None = None

    @property
    def state(self) -> State:
        """The state that the next search will find."""
        if self._until is None:
            return "closed"
        return "open" if self._trial or self._clock() < self._until else "half-open"

    @contextmanager
    def search(self, provider: str) -> Iterator[None]:
        """Run a search in the block and count its outcome. Raises `ServicePausedError` while open.

        A cancelled search counts neither as a success nor as a failure.
        """
        state = self.state
        if state == "open":
            raise self._paused(provider)
        self._trial = state == "half-open"
        try:
            yield
        except CitewellError as error:
            self._failure(error)
            raise
        else:
            self._failed, self._until, self._last = 0, None, None
        finally:
            self._trial = False

    def _failure(self, error: CitewellError) -> None:
        if isinstance(error, ServiceKeyMissingError):
            return  # no request was sent
        self._failed += 1
        self._last = error
        final = isinstance(error, ServiceKeyRefusedError | ServiceQuotaError)
        if final or self._failed >= self._threshold or self._until is not None:
            asked = getattr(error, "retry_after", None)
            self._until = self._clock() + (self._seconds if asked is None else asked)

    def _paused(self, provider: str) -> ServicePausedError:
        assert self._last is not None
        assert self._until is not None
        left = max(self._until - self._clock(), 0.0)
        wait = f"for another {left:.0f} s" if left else "while another search tests it"
        return ServicePausedError(
            f"{spoken(provider)} is paused {wait} after an error: {self._last.message}",
            self._last.hint,
            retry_after=left,
        )
