"""A store with the comparisons of people who like answers that are kind."""

from __future__ import annotations

import asyncio
from pathlib import Path

from citewell.server.store.database import open_store
from tests.scorer.training.made_up import choices
from tests.server.store.samples import comparison


def write_store(file: Path, count: int) -> str:
    """A service's store with `count` comparisons by people who like answers that are kind."""
    url = f"sqlite:///{file}"

    async def fill() -> None:
        async with open_store(url) as store:
            for row in choices(count, start=1000):
                answers = tuple(
                    {"text": text, "references": ["amber is red", "birch is old"], "answer_id": None}
                    for text in row["answers"]
                )
                overall = 2 if row["preferred"] else -2
                await store.comparisons.add(
                    comparison(question=row["question"], answers=answers, ratings={"overall": overall})
                )

    asyncio.run(fill())
    return url
