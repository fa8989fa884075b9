"""Adds feedback from many tasks at once, and prints the id of each as soon as it is accepted.

python writer.py URL TASKS FEEDBACK_A_TASK [JOB_ID]
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.feedback import StoredFeedback
from citewell.server.store.ids import new_id
from citewell.server.store.jobs import StoredJob


async def add(store: ServiceStore, count: int) -> None:
    for _ in range(count):
        now = datetime.now(UTC)
        feedback = StoredFeedback(new_id(), "answer", None, 1, "good", None, now, "Why?", "So.", ["Because."])
        await store.feedback.add(feedback)
        print(feedback.id, flush=True)  # noqa: T201


async def main(url: str, tasks: int, count: int, work: str = "") -> None:
    async with open_store(url) as store:
        if work:
            now = datetime.now(UTC)
            await store.jobs.add(StoredJob(work, "index", "running", 3, 9, "", now, now, {}))
            await store.answers.add(
                StoredAnswer(work, None, "Why?", "answer", "running", now, None, None, None, {})
            )
        await asyncio.gather(*(add(store, count) for _ in range(tasks)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]))
