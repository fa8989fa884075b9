"""Page delays: a heavy-tailed law fitted to WebGLM's two figures, with pages that hang or fail.

A page's delay is log-normal. Its two parameters follow from WebGLM's two figures: 98% of pages load within 5
s (§3.1.1), and the fetch stage takes 2.38 s on average (appendix B), which is the slowest of ten pages with a
cut-off of 5 s. In addition, `HANG` of the pages never answer, and `ERRORS` answer with an error.

A second request to a slow page is not independent of the first. `request_share` is the share of the
log-variance that belongs to the request; the rest belongs to the page and is the same for both requests. A
page that hangs or fails temporarily does so again with the probability `1 - request_share`, or by a new draw.
This share has not been measured: .5 is an assumption, 0 and 1 are the extremes.
"""

from __future__ import annotations

import math
import random
from statistics import NormalDist
from typing import Literal, NamedTuple

FETCH_MEAN, CUT_OFF, PAGES, WITHIN = 2.38, 5.0, 10, 0.98
HANG = 0.03
ERRORS = 0.05
# The errors in equal parts; the last two may be gone at the second request.
LASTING, PASSING = (404, 500), (503, 0)

Kind = Literal["page", "hang", "error"]


class DelayedReply(NamedTuple):
    """The reply to one request: after `seconds`, a page or the error `status` (0: connection reset)."""

    kind: Kind
    seconds: float = math.inf
    status: int = 200


class Fate(NamedTuple):
    """The replies to the first and the second request for a page."""

    first: DelayedReply
    second: DelayedReply


class DelayLaw(NamedTuple):
    """Log-normal delays: `exp(mu + sigma · z)` seconds with a standard normal `z`."""

    mu: float
    sigma: float
    request_share: float = 0.5

    def draw(self, rng: random.Random) -> Fate:
        """Draw the replies to the first two requests for one page."""
        share = self.request_share
        mine = rng.gauss()
        delays = [
            math.exp(self.mu + self.sigma * (math.sqrt(1 - share) * mine + math.sqrt(share) * rng.gauss()))
            for _ in range(2)
        ]
        dice, again = rng.random(), [rng.random(), rng.random()]
        status = rng.choice(LASTING + PASSING)
        first = _reply(delays[0], dice, status)
        if first.kind == "page":
            return Fate(first, _reply(delays[1], again[1], status))
        lasts = status in LASTING if first.kind == "error" else False
        if lasts or again[0] < 1 - share:
            return Fate(
                first, DelayedReply(first.kind, delays[1] if first.kind == "error" else math.inf, status)
            )
        return Fate(first, _reply(delays[1], again[1], status))


def _reply(delay: float, dice: float, status: int) -> DelayedReply:
    if dice < HANG:
        return DelayedReply("hang")
    return DelayedReply("error", delay, status) if dice < HANG + ERRORS else DelayedReply("page", delay)


def fitted(request_share: float = 0.5) -> DelayLaw:
    """Return the law that has both figures of WebGLM, found by bisection over sigma."""
    low, high = 0.5, 4.0
    while high - low > 1e-6:
        sigma = (low + high) / 2
        low, high = (sigma, high) if stage_mean(_law(sigma)) > FETCH_MEAN else (low, sigma)
    return _law(low)._replace(request_share=request_share)


def stage_mean(law: DelayLaw, steps: int = 4000) -> float:
    """Return the mean seconds of a stage that waits for the slowest of `PAGES` pages, up to `CUT_OFF`."""
    normal, width = NormalDist(law.mu, law.sigma), CUT_OFF / steps
    return sum((1 - normal.cdf(math.log((step + 0.5) * width)) ** PAGES) * width for step in range(steps))


def _law(sigma: float) -> DelayLaw:
    return DelayLaw(math.log(CUT_OFF) - NormalDist().inv_cdf(WITHIN) * sigma, sigma)
