"""Why a question was not answered by the service; `status` is that of the HTTP reply."""

from __future__ import annotations

from citewell.core.errors import CitewellError


class QueueFullError(CitewellError):
    """More questions are waiting than the service lets wait."""

    status = 429

    def __init__(self, waiting: int, retry_after: float) -> None:
        """`waiting` questions are before this one; `retry_after` is when to ask again, in seconds."""
        super().__init__(
            f"{waiting:,} questions are running or waiting already.", "Ask again after Retry-After seconds."
        )
        self.retry_after = retry_after


class QueueLateError(CitewellError):
    """The question waited longer for its turn than the service lets one wait."""

    status = 503

    def __init__(self, seconds: float, retry_after: float) -> None:
        """The question waited `seconds`; `retry_after` is when to ask again, in seconds."""
        super().__init__(
            f"The question was not begun within {seconds:g} s.",
            "Ask again later, or raise server.queue_seconds or server.concurrency.",
        )
        self.retry_after = retry_after


class AnswerLateError(CitewellError):
    """Answering took longer than the service lets it take."""

    status = 504

    def __init__(self, seconds: float) -> None:
        """The question ran for `seconds`."""
        super().__init__(
            f"The question was not answered within {seconds:g} s.",
            "Ask for less, with a smaller k or best_of, or raise server.answer_seconds.",
        )


class NotReadyError(CitewellError):
    """The service has started, and a part that it needs has not, or has failed."""

    status = 503
    retry_after = 2.0


class StoppingError(NotReadyError):
    """The service is being stopped and takes no more questions."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The service is being stopped.", "Ask again once it has been started.")


class CancelledError(CitewellError):
    """The question was given up: everyone who waited for its answer has left."""

    status = 499

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The question was given up, since nobody waited for its answer.", "Ask it again.")


class BrowsingError(CitewellError):
    """The demonstration is still browsing, and has no answer yet."""

    status = 409

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__("Browsing has not ended.", "End it with one of the commands that begin with `End:`.")


class BrowsingOverError(CitewellError):
    """The demonstration takes no more actions, or no other answer."""

    status = 409

    def __init__(self) -> None:
        """Say so."""
        super().__init__(
            "This is over: nothing more can be done here.", "Look at it again to see how it stands."
        )


class BrowsedElsewhereError(CitewellError):
    """The demonstration went on in another window or process, and is not as the client saw it."""

    status = 409

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__(
            "The demonstration has gone on in another window.", "Load it again, and go on there."
        )


class InternalError(CitewellError):
    """The service has a fault, which its log describes."""

    status = 500

    def __init__(self) -> None:
        """Say no more than that: what the fault is may be nobody's business."""
        super().__init__("The service has a fault.", "Its log says which, at the time of this reply.")
