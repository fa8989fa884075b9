"""Reasons why the service did not answer a question. `status` is the HTTP status of the reply."""

from __future__ import annotations

import errno

from citewell.core.errors import CitewellError


class QueueFullError(CitewellError):
    """The queue of questions is full."""

    status = 429

    def __init__(self, waiting: int, retry_after: float) -> None:
        """`waiting` requests are ahead; try again after `retry_after` seconds."""
        super().__init__(
            f"{waiting:,} requests are already running or waiting.", "Try again after Retry-After seconds."
        )
        self.retry_after = retry_after


class QueueShareError(CitewellError):
    """The key has its share of the queue."""

    status = 429

    def __init__(self, waiting: int, retry_after: float) -> None:
        """`waiting` requests of the key are there; try again after `retry_after` seconds."""
        super().__init__(
            f"{waiting:,} requests of this key are already running or waiting, and the other places are for "
            "other keys.",
            "Try again after Retry-After seconds.",
        )
        self.retry_after = retry_after


class QueueLateError(CitewellError):
    """The question waited too long for its turn."""

    status = 503

    def __init__(self, seconds: float, retry_after: float) -> None:
        """The question waited `seconds`; try again after `retry_after` seconds."""
        super().__init__(
            f"The question was not started within {seconds:g} s.",
            "Try again later, or raise server.queue_seconds or server.concurrency.",
        )
        self.retry_after = retry_after


class AnswerLateError(CitewellError):
    """Answering took too long."""

    status = 504

    def __init__(self, seconds: float) -> None:
        """The question ran for `seconds`."""
        super().__init__(
            f"The question was not answered within {seconds:g} s.",
            "Use a smaller k or best_of, or raise server.answer_seconds.",
        )


class NotReadyError(CitewellError):
    """A part of the service, such as its database, is not ready."""

    status = 503
    retry_after = 2.0


class StoppingError(NotReadyError):
    """The service is stopping and accepts no more questions."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The service is stopping.", "Try again once it is running.")


class CancelledError(CitewellError):
    """The question was cancelled."""

    status = 499

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The question was cancelled.", "Ask it again.")


class BrowsingError(CitewellError):
    """The demonstration is still browsing and cannot be submitted yet."""

    status = 409

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__("Browsing has not ended.", "End it with a command that begins with `End:`.")


class BrowsingOverError(CitewellError):
    """The demonstration has ended."""

    status = 409

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The demonstration has ended.", "Reload it to see its state.")


class BrowsedElsewhereError(CitewellError):
    """The demonstration was continued elsewhere, and is not in the state that the client has seen."""

    status = 409

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__("The demonstration was continued in another window.", "Reload it to continue.")


class DiskFullError(CitewellError):
    """The disk of the service is full."""

    status = 503
    retry_after = 30.0

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The disk of the service is full.", "Free some space on it.")


def explained(error: BaseException) -> CitewellError | None:
    """Return the error to report to clients, or None for a bug, which only the log describes."""
    if isinstance(error, CitewellError):
        return error
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return DiskFullError() if is_full else None


class InternalError(CitewellError):
    """Internal error of the service."""

    status = 500

    def __init__(self) -> None:
        """Details stay in the log, since they may be confidential."""
        super().__init__("Internal error.", "See the log of the service at the time of this reply.")
