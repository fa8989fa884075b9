"""Stored comparisons of two answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from citewell.server.store.opinions import Opinions, UserOpinions
from citewell.server.store.tables import COMPARISONS

RATINGS = ("usefulness", "coherence", "unsupported", "overall")


@dataclass(frozen=True)
class StoredComparison(UserOpinions):
    """One user's comparison of two answers, as in WebGPT (appendix C.2, https://arxiv.org/abs/2112.09332).

    The four ratings go from -2, the first answer is much better, by 0, both are equally good, to 2, the
    second is much better; in `unsupported`, better is the answer with less information that its references do
    not support. They are None if the question is flagged as `unclear`, or as `unsuitable` for any answer. An
    answer may have `trust`, by reference number, and `claims`: the support and relevance of its sentences.
    """

    usefulness: int | None
    coherence: int | None
    unsupported: int | None
    overall: int | None
    flag: Literal["unclear", "unsuitable"] | None = None

    def exported(self) -> dict[str, Any]:
        """Return the row that `citewell train scorer` reads as a choice; the overall rating decides it.

        The row of a flagged question has no choice, and training skips it.
        """
        preferred: int | str | None = "tie"
        if self.overall is None or self.flag is not None:
            preferred = None
        elif self.overall:
            preferred = int(self.overall > 0)
        return {
            "id": self.id,
            "question": self.question,
            "answers": [dict(answer) for answer in self.answers],
            "preferred": preferred,
            **{name: getattr(self, name) for name in RATINGS},
            "flag": self.flag,
            "comment": self.comment,
            "created": self.created.isoformat(),
        }


class Comparisons(Opinions[StoredComparison]):
    """The stored comparisons."""

    table = COMPARISONS
    kind = StoredComparison
