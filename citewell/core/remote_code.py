"""The switch that keeps code that comes with a model from running."""

from __future__ import annotations

from typing import Any, Final

TRUST_REMOTE_CODE: Final = False
"""Passed to every function of transformers and sentence-transformers that reads a model. Without it, they ask
on the terminal whether to run the Python files of a model, and `yes |` would answer."""


def untrusted() -> dict[str, dict[str, Any]]:
    """Return the same switch as the arguments of `Transformer` of sentence-transformers."""
    names = ("config_kwargs", "model_kwargs", "processor_kwargs")
    return {name: {"trust_remote_code": TRUST_REMOTE_CODE} for name in names}
