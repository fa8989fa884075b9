"""Estimating and cutting the tokens of a model whose tokenizer is not available."""

from __future__ import annotations

# English has four to five bytes per token, Chinese about three: the estimate is rarely too low.
_BYTES = 3


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too high than too low: one per three bytes of UTF-8."""
    return -(-len(text.encode()) // _BYTES)


def cut_to(text: str, tokens: int) -> str:
    """Cut a text to at most `tokens` by `estimate_tokens`, with an ellipsis if anything was cut."""
    encoded = text.encode()
    if estimate_tokens(text) <= tokens:
        return text
    length = (tokens - 1) * _BYTES  # the ellipsis has three bytes
    return encoded[:length].decode(errors="ignore") + "…" if length > 0 else ""
