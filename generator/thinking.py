"""The thinking with which some services begin an answer: `<think>…</think>`, which is not a part of it."""

from __future__ import annotations

_BEGIN, _END = "<think>", "</think>"


class ThinkingCut:
    """Takes the thinking out of a text that comes in pieces; thinking that is cut off leaves nothing."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking: bool | None = None  # None before it is known

    def take(self, piece: str) -> str:
        """Return what is surely a part of the answer, now that a piece has come."""
        if self._is_thinking is False:
            return piece
        self._held += piece
        begun = self._held.lstrip()
        if self._is_thinking is None and not _BEGIN.startswith(begun[: len(_BEGIN)]):
            self._is_thinking = False
            return self._held
        if begun.startswith(_BEGIN):
            self._is_thinking = True
            _, end, answer = begun.partition(_END)
            if end and answer.strip():
                self._is_thinking = False
                return answer.lstrip()
        return ""

    def end(self) -> str:
        """Return what was held back at the end of the text, and is a part of the answer."""
        return "" if self._is_thinking is not None else self._held


def without_thinking(text: str) -> str:
    """Return a whole text without the thinking with which it begins."""
    cut = ThinkingCut()
    return cut.take(text) + cut.end()
