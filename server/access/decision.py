"""What a limiter says of a request, and what every limiter promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class AccessDecision:
    """Whether a request may pass.

    `retry_after` is how many seconds to wait before another one can, 0 for a request that may pass. Of the
    limit per minute and the daily budget, `limit` is the one of which less is left, and `remaining` what is
    left of it; both are None where there is neither.
    """

    allowed: bool
    retry_after: float
    remaining: int | None
    limit: int | None


class Limiter(Protocol):
    """Counts requests by name, such as a key's id or an address."""

    @property
    def trouble(self) -> str:
        """Why limits hold for this process alone although a server is configured; empty if all is well."""

    async def take(self, name: str, per_minute: int | None, daily: int | None) -> AccessDecision:
        """Count a request if it may pass; one that may not costs nothing.

        In no 60 seconds do more than `per_minute` requests of a name pass, and on no day, in UTC, more than
        `daily`. None and 0 are no limit. A clock that is set back keeps nobody from asking for more than a
        minute; days begin and end by the clock as it is then.
        """


class Share(NamedTuple):
    """What is left of one limit, this request not counted, and in how many seconds there is more."""

    limit: int
    left: int
    wait: float


def decide(shares: Sequence[Share]) -> AccessDecision:
    """The verdict on a request that needs one of each share."""
    if not shares:
        return AccessDecision(True, 0.0, None, None)
    least = min(shares, key=lambda share: share.left)
    spent = [share.wait for share in shares if share.left <= 0]
    if spent:
        return AccessDecision(False, max(spent), 0, least.limit)
    return AccessDecision(True, 0.0, least.left - 1, least.limit)
