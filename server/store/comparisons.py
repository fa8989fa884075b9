"""Stored comparisons of two answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from citewell.server.store.opinions import Opinions, UserOpinions
from citewell.server.store.raters import Pseudonyms
from citewell.server.store.tables import COMPARISONS

RATINGS = ("usefulness", "coherence", "unsupported", "overall")
"""The scales of a comparison outside of studies; forms of studies have their own."""


@dataclass(frozen=True, kw_only=True)
class StoredComparison(UserOpinions):
    """One user's comparison of two answers, as in WebGPT (appendix C.2, https://arxiv.org/abs/2112.09332).

    The ratings, by scale, go from -2, the first answer is much better, by 0, both are equally good, to 2, the
    second is much better; in `unsupported`, better is the answer with less information that its references do
    not support. There are none if the question is flagged as `unclear`, or as `unsuitable` for any answer. An
    answer may have `trust`, by reference number, and `claims`: the support and relevance of its sentences.
    """

    ratings: Mapping[str, int]
    flag: Literal["unclear", "unsuitable"] | None = None

    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return the row that `citewell train scorer` reads as a choice; the overall rating decides it.

        The row of a flagged question has no choice, and training skips it.
        """
        preferred: int | str | None = "tie"
        overall = self.ratings.get("overall")
        if overall is None or self.flag is not None:
            preferred = None
        elif overall:
            preferred = int(overall > 0)
        return {
            **dict.fromkeys(RATINGS),
            **self.ratings,
            "id": self.id,
            "question": self.question,
            "answers": [dict(answer) for answer in self.answers],
            "preferred": preferred,
            "flag": self.flag,
            **self.origin(pseudonyms),
        }


class Comparisons(Opinions[StoredComparison]):
    """The stored comparisons."""

    table = COMPARISONS
    kind = StoredComparison
