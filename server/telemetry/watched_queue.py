"""The desk, with somebody who writes down what becomes of each question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from citewell.core.errors import CitewellError
from citewell.core.events import Event
from citewell.server.store.answers import StoredAnswer
from citewell.server.telemetry.history import QuestionHistory, Result
from citewell.server.work.queue import Keep, QuestionOutcome, QuestionQueue, QueueLimits, Subscription, Work


class WatchedQueue(QuestionQueue):
    """A desk that tells of every event of the work, and of the end of every question.

    Work that several people share is told of once, and each of their questions ends by itself.
    """

    def __init__(
        self,
        limits: QueueLimits,
        on_event: Callable[[Event], None],
        on_end: Sequence[Callable[[QuestionHistory], None]],
    ) -> None:
        """`on_event` and `on_end` are called between two steps of the event loop, and must be quick."""
        super().__init__(limits)
        self._on_event = on_event
        self._on_end = on_end

    def join(self, about: StoredAnswer, work: Work, keep: Keep) -> Subscription:
        """Ask a question, as `QuestionQueue.join` does."""
        history = QuestionHistory(about.id, about.mode)
        try:
            return super().join(
                about, partial(history.follow, work, self._on_event), partial(self._kept, history, keep)
            )
        except CitewellError as error:
            self._ended(history, "refused", error)
            raise

    def finished(self, about: StoredAnswer, *, hold: bool = True) -> Subscription:
        """Subscribe as `QuestionQueue.finished` does; with `hold`, the question was asked again."""
        if hold:
            self._ended(QuestionHistory(about.id, about.mode), "cached")
        return super().finished(about, hold=hold)

    async def _kept(self, history: QuestionHistory, keep: Keep, outcome: QuestionOutcome) -> None:
        result: Result = "cancelled" if outcome.status == "cancelled" else "failed"
        history.end(result if outcome.answer is None else outcome.answer["outcome"], outcome.error)
        try:
            await keep(outcome)
        finally:
            self._tell_end(history)

    def _ended(self, history: QuestionHistory, result: Result, error: CitewellError | None = None) -> None:
        history.end(result, error)
        self._tell_end(history)

    def _tell_end(self, history: QuestionHistory) -> None:
        for told in self._on_end:
            told(history)
