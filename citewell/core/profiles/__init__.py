"""Profiles: settings that belong together, one file each."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Literal, get_args

ProfileName = Literal["webglm", "webgpt", "fast", "quality"]
PROFILES: tuple[ProfileName, ...] = get_args(ProfileName)


def profile_settings(name: str) -> dict[str, Any]:
    """Return the settings of a profile by section; none for another name, which is invalid."""
    if name not in PROFILES:
        return {}
    return tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text("utf-8"))
