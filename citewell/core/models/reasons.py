"""Why a model cannot be loaded, from the errors of libraries."""

from __future__ import annotations

import pickle
import re

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_MOST = 300  # characters


def reason_of(error: Exception) -> str:
    """Return the first line of an error, without escape codes.

    PyTorch explains how to read a pickle that it refuses, which would run the code in it.
    """
    if isinstance(error, pickle.UnpicklingError):
        return "its weights are a pickle that may run code, which Citewell does not read."
    lines = _ESCAPES.sub("", str(error)).strip().splitlines()
    return lines[0].strip()[:_MOST] if lines else type(error).__name__
