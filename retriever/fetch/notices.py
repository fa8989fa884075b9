"""Reports of problems besides the page itself, such as a damaged cache, to the question concerned."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Warn = Callable[[str], None]
"""A function that receives one warning; it may be called from another thread."""

_LOG = logging.getLogger("citewell.fetch")


def log_warning(text: str) -> None:
    """Log a warning that belongs to no question."""
    _LOG.error(text)


_RECEIVER: ContextVar[Warn] = ContextVar("receiver of warnings", default=log_warning)


@contextmanager
def warnings_to(warn: Warn) -> Iterator[None]:
    """Send the warnings of this block, and of the tasks that it starts, to `warn`."""
    token = _RECEIVER.set(warn)
    try:
        yield
    finally:
        _RECEIVER.reset(token)


def warn_question(text: str) -> None:
    """Report `text` to the question for which this code runs; log it where there is none."""
    _RECEIVER.get()(text)
