"""What is left out of users' data before training, as InstructGPT did (§3.2 and appendix A.3,
https://arxiv.org/abs/2203.02155).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Literal

from citewell.core.text import squeeze
from citewell.scorer.data.config import HygieneConfig
from citewell.scorer.data.personal import kind_of_personal_data

Fault = Literal["rows with personal data", "near-duplicate prompts", "rows beyond the cap of a rater"]


class Hygiene:
    """Goes through the rows of users in order, and says which to leave out.

    A question that begins like an earlier one is left out, not the same question again: several raters judge
    it. Only questions and comments are searched for personal data: answers come from public pages.
    """

    def __init__(self, config: HygieneConfig) -> None:
        self._config = config
        self._prompts: dict[str, set[str]] = defaultdict(set)  # by their first characters
        self._of_rater: dict[str, set[str]] = defaultdict(set)

    def fault(self, row: Mapping[str, Any]) -> Fault | None:
        """Return why to leave a row out, or None; rows that name no `rater` are not from users."""
        if "rater" not in row:
            return None
        prompt = squeeze(str(row.get("question") or "")).casefold()
        if self._config.personal and self._is_personal(row):
            return "rows with personal data"
        if self._repeats(prompt):
            return "near-duplicate prompts"
        own = self._of_rater[str(row["rater"])]
        if row["rater"] is not None and prompt not in own and len(own) >= self._config.per_rater:
            return "rows beyond the cap of a rater"
        own.add(prompt)
        return None

    def _is_personal(self, row: Mapping[str, Any]) -> bool:
        texts = (row.get("question"), row.get("comment"))
        return any(isinstance(text, str) and kind_of_personal_data(text) for text in texts)

    def _repeats(self, prompt: str) -> bool:
        start = prompt[: self._config.prefix]
        if len(start) < self._config.prefix:
            return False
        known = self._prompts[start]
        if prompt in known:
            return False
        if any(self._is_near(prompt, each) for each in known):
            return True
        known.add(prompt)
        return False

    def _is_near(self, prompt: str, other: str) -> bool:
        differing = (place for place, (one, two) in enumerate(zip(prompt, other, strict=False)) if one != two)
        shared = next(differing, min(len(prompt), len(other)))
        return shared > self._config.share * max(len(prompt), len(other))
