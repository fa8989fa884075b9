"""Questions to ask next, which a language model writes for one answer after another, and are kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from citewell.core.types import Reference, Sentence
from citewell.generator.completer import Completer
from citewell.pipeline.conversation.related import write_related
from citewell.server.work.errors import QueueFullError
from citewell.server.work.turns import FairTurns

_MOST_WAITING = 16
_MOST_KEPT = 300  # answers whose questions are kept
_RETRY = 10.0  # seconds
_SECONDS = 60.0


class RelatedService:
    """Writes related questions for one answer at a time, so that questions of people do not wait long."""

    def __init__(self) -> None:
        self._turns = FairTurns(1)
        self._waiting = 0
        self._known: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    async def write(
        self,
        completer: Completer,
        answer_id: str,
        question: str,
        sentences: tuple[Sentence, ...],
        references: tuple[Reference, ...],
        key_id: str | None,
    ) -> tuple[str, ...]:
        """Return the questions for an answer, empty if the model writes none within a minute.

        Raises `QueueFullError`, and the errors of the model.
        """
        if (known := self._known.get(answer_id)) is not None:
            return known
        if self._waiting >= _MOST_WAITING:
            raise QueueFullError(self._waiting, _RETRY)
        self._waiting += 1
        try:
            async with asyncio.timeout(_SECONDS), self._turns.turn(key_id):
                written = await write_related(completer, question, sentences, references)
        except TimeoutError:
            return ()
        finally:
            self._waiting -= 1
        self._known[answer_id] = written
        if len(self._known) > _MOST_KEPT:
            self._known.popitem(last=False)
        return written
