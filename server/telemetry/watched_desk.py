"""The desk, with somebody who writes down what becomes of each question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from citewell.core.errors import CitewellError
from citewell.core.events import Event
from citewell.server.store.answers import StoredAnswer
from citewell.server.telemetry.history import History, Result
from citewell.server.work.desk import Desk, DeskLimits, Keep, Outcome, Ticket, Work


class WatchedDesk(Desk):
    """A desk that tells of every event of the work, and of the end of every question.

    Work that several people share is told of once, and each of their questions ends by itself.
    """

    def __init__(
        self,
        limits: DeskLimits,
        on_event: Callable[[Event], None],
        on_end: Sequence[Callable[[History], None]],
    ) -> None:
        """`on_event` and `on_end` are called between two steps of the event loop, and must be quick."""
        super().__init__(limits)
        self._on_event = on_event
        self._on_end = on_end

    def join(self, about: StoredAnswer, work: Work, keep: Keep) -> Ticket:
        """Ask a question, as `Desk.join` does."""
        history = History(about.id, about.mode)
        try:
            return super().join(
                about, partial(history.follow, work, self._on_event), partial(self._kept, history, keep)
            )
        except CitewellError as error:
            self._ended(history, "refused", error)
            raise

    def finished(self, about: StoredAnswer, *, hold: bool = True) -> Ticket:
        """A ticket for a question that has ended, as `Desk.finished` gives it; held, it was asked again."""
        if hold:
            self._ended(History(about.id, about.mode), "cached")
        return super().finished(about, hold=hold)

    async def _kept(self, history: History, keep: Keep, outcome: Outcome) -> None:
        result: Result = "cancelled" if outcome.state == "cancelled" else "failed"
        history.end(result if outcome.answer is None else outcome.answer["status"], outcome.error)
        try:
            await keep(outcome)
        finally:
            self._tell_end(history)

    def _ended(self, history: History, result: Result, error: CitewellError | None = None) -> None:
        history.end(result, error)
        self._tell_end(history)

    def _tell_end(self, history: History) -> None:
        for told in self._on_end:
            told(history)
