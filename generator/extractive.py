"""The extractive generator: the sentences of the references that answer best, word for word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from core.events import Token
from core.types import Reference
from generator.evidence import Evidence, Relevance, find_evidence

# A sentence that scores this much less than the best one leads away from the question.
_DROP = 0.15


class ExtractiveGenerator:
    """Quotes instead of writing, so that every sentence is supported by construction.

    It takes the most relevant sentences of all references, leaves repetitions and fragments out, brings
    along the sentence before where one points back at it, and keeps sentences of a reference together in
    their own order, the best reference first.
    """

    name = "extractive"

    def __init__(self, relevance: Relevance, *, sentences: int) -> None:
        """Quote at most `sentences` sentences, chosen by `relevance`."""
        self._relevance = relevance
        self._most = sentences

    async def generate(
        self, question: str, references: Sequence[Reference], n: int, *, first: int = 0
    ) -> AsyncGenerator[Token, None]:
        """Stream the one answer there is, a sentence at a time; `n` plays no part."""
        if first:
            return
        chosen = await asyncio.to_thread(self._choose, question, references)
        for place, sentence in enumerate(chosen):
            mark = f"[{references[sentence.reference].number}]"
            yield Token(f"{' ' if place else ''}{sentence.text} {mark}")

    def _choose(self, question: str, references: Sequence[Reference]) -> list[Evidence]:
        pool = find_evidence(question, references, self._relevance)
        by_place = {(s.reference, s.place): s for s in pool}
        chosen: dict[tuple[int, int], Evidence] = {}
        ranked = sorted(pool, key=lambda s: -s.score)
        for sentence in ranked:
            if len(chosen) >= self._most or sentence.score < ranked[0].score - _DROP:
                break
            group = [sentence]
            while group[0].points_back:
                before = by_place.get((group[0].reference, group[0].place - 1))
                if before is None or len(group) == self._most:
                    group = []
                    break
                group.insert(0, before)
            new = [s for s in group if (s.reference, s.place) not in chosen]
            fits = len(chosen) + len(new) <= self._most
            if new and fits and not any(s.repeats(other) for s in new for other in chosen.values()):
                chosen |= {(s.reference, s.place): s for s in new}
        order = list(dict.fromkeys(s.reference for s in chosen.values()))
        return sorted(chosen.values(), key=lambda s: (order.index(s.reference), s.place))
