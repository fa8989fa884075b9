"""Names that no language model has, with the errors of opening them."""

from __future__ import annotations

from citewell.core.errors import CitewellError, ModelError
from citewell.core.weights import WeightsMissingError

UNKNOWN_NAMES: list[tuple[str, type[CitewellError], str, str]] = [
    ("openai:", ModelError, "names no model", "openai:gpt"),
    ("nowhere.gguf", ModelError, "file nowhere.gguf does not exist", "path"),
    ("qwen2.5-coder-1.5b-instruct", ModelError, "Unknown model", "Did you mean qwen2.5-coder-1.5b?"),
    ("qwen3-1.7b", WeightsMissingError, "are not installed", "citewell models get qwen3-1.7b"),
]
"""The name, the error, and parts of its message and of its hint."""
