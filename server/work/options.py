"""A question with its options, and the digest by which equal questions are recognized."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from citewell.core.text import squeeze
from citewell.core.types import Turn
from citewell.retriever.search.query import Recency
from citewell.server.work.places import Place


def listed(given: str | list[str] | None) -> tuple[str, ...]:
    """Return the names that a caller or a stored question gives as one name, as a list, or not at all."""
    return tuple(dict.fromkeys([given] if isinstance(given, str) else given)) if given else ()


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """A question and how to answer it; None stands for the value of the settings.

    Several places are searched at once: each `collection`, and with `search` Wikipedia, the web providers of
    the settings, or some of them; without either, what is set up. With the mode `retrieve`, no answer is
    written; with `browse`, a policy finds the references with the text browser, in at most `actions` actions.
    `sites` are the only domains that pages may come from. With a `generator`, that one writes the answer, or
    quotes. `turns` are those of the conversation before the question.
    """

    question: str
    mode: Literal["answer", "retrieve", "browse"] = "answer"
    k: int | None = None
    best_of: int | None = None
    collection: tuple[str, ...] = ()
    search: tuple[Place, ...] = ()
    sites: tuple[str, ...] = ()
    language: str = ""
    recency: Recency | None = None
    generator: str = ""
    actions: int | None = None
    turns: tuple[Turn, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The options that were given, ready for JSON; a single place is not in a list."""
        values = asdict(self)
        for places in ("collection", "search"):
            values[places] = values[places][0] if len(values[places]) == 1 else values[places]
        del values["question"], values["mode"], values["turns"]
        if self.mode != "browse":
            del values["actions"]  # which would not change the answer
        return {name: value for name, value in values.items() if value}

    def digest(self, version: str, key_id: str | None) -> str:
        """Return a digest that is the same for questions of a key that have the same answer.

        `version` identifies the settings and the version of the collection. Keys share no work, since the
        time of an answer would tell one what another asks.
        """
        turns = [asdict(turn) for turn in self.turns]
        parts = [squeeze(self.question), self.mode, self.options, version, key_id, *turns]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
