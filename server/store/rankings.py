"""Stored rankings of several answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from citewell.server.store.opinions import Opinions, UserOpinions
from citewell.server.store.raters import Pseudonyms
from citewell.server.store.tables import RANKINGS


@dataclass(frozen=True, kw_only=True)
class StoredRanking(UserOpinions):
    """One user's ranking of K answers, as in InstructGPT (§3.4, https://arxiv.org/abs/2203.02155).

    `ranks` is in the order of the answers: 1 is best, and equal ranks are ties.
    """

    ranks: Sequence[int]

    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return the row that `citewell train scorer` reads as a ranking.

        Such a row has one list with the references of all answers, each once. `sources` lists the references
        of each answer.
        """
        references = dict.fromkeys(text for answer in self.answers for text in answer["references"])
        return {
            "id": self.id,
            "question": self.question,
            "answers": [answer["text"] for answer in self.answers],
            "ranks": list(self.ranks),
            "references": list(references),
            "sources": [
                {"references": list(answer["references"])}
                | {name: answer.get(name) for name in ("answer_id", "system")}
                for answer in self.answers
            ],
            **self.origin(pseudonyms),
        }


class Rankings(Opinions[StoredRanking]):
    """The stored rankings."""

    table = RANKINGS
    kind = StoredRanking
