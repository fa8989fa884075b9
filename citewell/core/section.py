"""What the sections of the settings have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Settings that belong together; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
