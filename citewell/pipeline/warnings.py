"""Warnings besides the pages of one question, such as of a damaged cache, as its notices."""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Self

from citewell.retriever.fetch.notices import log_warning


class QuestionWarnings:
    """The collected warnings of one question, which may come from other threads.

    Warnings after the end of the question are logged; use it as a context manager.
    """

    def __init__(self) -> None:
        self._texts: deque[str] = deque()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over = True
        for text in self.take():
            log_warning(text)

    def add(self, text: str) -> None:
        """Add a warning."""
        if self._is_over:
            log_warning(text)
        else:
            self._texts.append(text)

    def take(self) -> list[str]:
        """Return the warnings that came since the last call."""
        taken = []
        while self._texts:
            taken.append(self._texts.popleft())
        return taken
