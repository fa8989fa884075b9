"""The file of browser limits that is saved beside the weights of a trained policy."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import msgspec

from citewell.browser.limits import BrowserLimits
from citewell.core.errors import InputError, ModelError

FILE = "policy.json"


def write_limits(limits: BrowserLimits, folder: Path) -> None:
    """Write the file that `read_limits` reads."""
    (folder / FILE).write_text(json.dumps(asdict(limits), indent=2) + "\n", encoding="utf-8")


def read_limits(folder: Path) -> BrowserLimits:
    """Read the limits that a policy was trained with; raises `ModelError` if the folder has none."""
    file = folder / FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=BrowserLimits)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError, InputError) as error:
        raise ModelError(
            f"{folder} holds no policy of the text browser: {FILE} cannot be read ({error}).",
            "Train one with `citewell train policy`.",
        ) from error
