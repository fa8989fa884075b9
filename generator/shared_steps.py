"""Calls of several threads that share the steps of one decoder (continuous batching).

https://www.usenix.org/conference/osdi22/presentation/yu: a text joins the others at any step, and leaves them
when it has ended. A step costs little more with eight texts than with one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from citewell.generator.block_pool import in_common
from citewell.generator.decoder import CachedText, PagedDecoder, Read

T = TypeVar("T")
Logits = NDArray[np.float32]
Steps = Generator[Sequence[Read], list[Logits], T]
"""Yields what to read in the next step, is sent the logits of each of these, and returns a result."""

# Tokens of prompts that are read in one step, while texts are being written and while none is.
_PIECE, _LONG_PIECE = 128, 512
_LEAST_PIECE = 16
# Tokens that two prompts have in common, of which the second waits until they are read.
_WORTH_WAITING = 16


class StoppedError(Exception):
    """A call was cancelled."""


class SharedSteps:
    """A decoder for the calls of any threads.

    The thread of one of the calls makes the steps for all, and leaves this to another when its own is done.
    """

    def __init__(self, decoder: PagedDecoder, *, texts: int) -> None:
        """Decode at most `texts` texts at a time; a call that has more waits until it is alone."""
        self._decoder = decoder
        self._most = texts
        self._waiting: deque[_Call] = deque()
        self._calls: list[_Call] = []  # of the thread that leads
        self._leading = False
        self._changed = threading.Condition()

    def run(
        self,
        prompt: Sequence[int],
        go_on: Callable[[CachedText, Logits], Steps[T]],
        *,
        cancelled: threading.Event,
        texts: int = 1,
        most: int = 0,
        adapted: bool = False,
    ) -> T:
        """Read a prompt, and go on with its row and its logits, of shape (1, vocabulary); return the result.

        Several prompts are read together, and what they have in common at their beginning only once. `texts`
        are the rows that `go_on` reads in a step, and `most` the tokens that it adds to each; the adapter
        reads them if they are `adapted`. Its errors are raised here and leave other calls alone. Raises
        `StoppedError` at the next step after `cancelled` is set.
        """
        call = _Call(prompt, go_on, cancelled, texts, len(prompt) + texts * most, adapted=adapted)
        with self._changed:
            self._waiting.append(call)
            while self._leading and not call.done:
                self._changed.wait()
            leads = not call.done
            self._leading |= leads
        if leads:
            self._lead_until(call)
        result: T = call.outcome()
        return result

    def alone(self, work: Callable[[PagedDecoder], T]) -> T:
        """Work with the decoder while no call makes steps; return the result."""
        with self._changed:
            self._changed.wait_for(lambda: not self._leading)
            self._leading = True
        try:
            return work(self._decoder)
        finally:
            self._stop_leading()

    @property
    def texts(self) -> int:
        """The number of texts that are decoded now, for the calls among them."""
        return sum(call.texts for call in self._calls)

    def _lead_until(self, call: _Call) -> None:
        """Make the steps of all calls until this one is done."""
        try:
            while not call.done:
                self._step()
        finally:
            call.stop()
            self._stop_leading()

    def _stop_leading(self) -> None:
        with self._changed:
            self._leading = False
            self._changed.notify_all()

    def _step(self) -> None:
        self._admit(self._decoder.most_tokens)
        going = [call for call in self._calls if call.reads]
        pieces = self._pieces(_PIECE if going else _LONG_PIECE)
        reads = [read for call in going for read in call.reads] + list(pieces.values())
        if reads:
            try:
                found = iter(self._decoder.read(reads))
            except BaseException as error:
                # What their rows hold is not known.
                for call in (*going, *pieces):
                    call.fail(error)
                if not isinstance(error, Exception):
                    raise
            else:
                for call in going:
                    call.advance(list(islice(found, len(call.reads))))
                for call in pieces:
                    call.has_read(self._decoder, next(found))
        self._drop([call for call in self._calls if call.done])

    def _pieces(self, most: int) -> dict[_Call, Read]:
        """Return the next pieces of the prompts that are being read, of at most `most` tokens together."""
        reading = [call for call in self._calls if not call.reads]
        pieces: dict[_Call, Read] = {}
        for place, call in enumerate(reading):
            if most < _LEAST_PIECE:
                break
            if not any(call.waits_for(other, self._decoder) for other in reading[:place]):
                pieces[call] = call.piece(self._decoder, most)
                most -= len(pieces[call].tokens)
        return pieces

    def _admit(self, most_tokens: int) -> None:
        """Let waiting calls begin, in their order, and stop those that were cancelled."""
        with self._changed:
            calls = (*self._calls, *self._waiting)
            stopped = [call for call in calls if call.done or call.cancelled.is_set()]
            for call in stopped:
                call.stop()
            while self._waiting:
                call = self._waiting[0]
                texts = self.texts + call.texts
                tokens = sum(each.tokens for each in self._calls) + call.tokens
                if self._calls and not call.done and (texts > self._most or tokens > most_tokens):
                    break
                self._calls.append(self._waiting.popleft())
        self._drop(stopped)

    def _drop(self, done: Sequence[_Call]) -> None:
        if done:
            for call in done:
                self._decoder.free(call.row)
            with self._changed:
                self._calls = [call for call in self._calls if not call.done]
                self._waiting = deque(call for call in self._waiting if not call.done)
                self._changed.notify_all()


class _Call:
    """A call, of which nothing is read yet."""

    def __init__(
        self,
        prompt: Sequence[int],
        go_on: Callable[[CachedText, Logits], Steps[Any]],
        cancelled: threading.Event,
        texts: int,
        tokens: int,
        *,
        adapted: bool,
    ) -> None:
        self.cancelled = cancelled
        self.tokens = tokens  # that it may need in the cache, at most
        self.row = CachedText(adapted=adapted)
        self.reads: Sequence[Read] = ()
        self.done = False
        self._prompt = prompt
        self._go_on = go_on
        self._texts = texts
        self._steps: Any = None  # of `go_on`, once the prompt is read
        self._result: Any = None
        self._error: BaseException | None = None

    @property
    def texts(self) -> int:
        return len(self.reads) or self._texts

    def outcome(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._result

    def waits_for(self, other: _Call, decoder: PagedDecoder) -> bool:
        """Return whether this call, once `other` has read its prompt, has much less to read."""
        if self.row.tokens or self.row.adapted != other.row.adapted:
            return False
        shared = in_common(self._prompt, other._prompt)
        return shared - decoder.known(self._prompt, adapted=self.row.adapted) >= _WORTH_WAITING

    def piece(self, decoder: PagedDecoder, most: int) -> Read:
        """Return the next piece of the prompt, whose beginning may be known when it is the first one."""
        if not self.row.tokens:
            self.row = decoder.begun(self._prompt, adapted=self.row.adapted)
        left = len(self._prompt) - self.row.tokens
        # Never a last token alone (see `PagedDecoder.read`).
        number = left if left <= most else min(most, left - 2)
        piece = self._prompt[self.row.tokens : self.row.tokens + number]
        return Read(self.row, piece, int(number == left))

    def has_read(self, decoder: PagedDecoder, logits: Logits) -> None:
        if self.row.tokens == len(self._prompt):
            decoder.remember(self.row, self._prompt)
            self._steps = self._go_on(self.row, logits)
            self.advance(None)

    def advance(self, logits: list[Logits] | None) -> None:
        try:
            self.reads = self._steps.send(logits)
        except StopIteration as end:
            self._result, self.done = end.value, True
        except BaseException as error:  # noqa: BLE001 - raised again where the call was made
            self.fail(error)

    def stop(self) -> None:
        if not self.done:
            self.fail(StoppedError())

    def fail(self, error: BaseException) -> None:
        self._error, self.done = error, True
        if self._steps is not None:
            self._steps.close()
