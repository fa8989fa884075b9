"""Base class of the sections of settings and recipes."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A group of related values. Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def shown(self) -> str:
        """Return the section with all defaults, as JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False)
