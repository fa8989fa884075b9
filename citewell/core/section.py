"""What the sections of settings and of recipes have in common."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Values that belong together; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def shown(self) -> str:
        """The section with all defaults, as JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False)
