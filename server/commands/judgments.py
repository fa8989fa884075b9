"""What users judged, written to files for training."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from citewell.core import running
from citewell.reinforcement.feedback.judgments import EXPORTED
from citewell.server.commands.database import database_url


def export_judgments(database: str | None, folder: Path) -> None:
    """Write the thumbs, comparisons and rankings of a service's database into a folder, one file each.

    `database` is a URL, by default that of the settings. Raises `StoreError` if the database cannot be used.
    """
    running.run(_export(database_url(database), folder))


async def _export(url: str, folder: Path) -> None:
    from citewell.server.store.database import open_store

    async with open_store(url) as store:
        pseudonyms = await store.pseudonyms()
        kinds: tuple[AsyncGenerator[Any], ...] = (
            store.feedback.each(),
            store.comparisons.each(),
            store.rankings.each(),
        )
        for name, rows in zip(EXPORTED, kinds, strict=True):
            with (folder / name).open("w", encoding="utf-8") as file:
                async for row in rows:
                    file.write(json.dumps(row.exported(pseudonyms), ensure_ascii=False) + "\n")
