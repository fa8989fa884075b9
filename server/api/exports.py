"""Human judgments of answers as JSON Lines, for `citewell train scorer`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Protocol

from litestar import get
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream

from citewell.server.api.documented import problems
from citewell.server.api.jsonl import MEDIA_TYPE, json_lines, one_line
from citewell.server.services import Services
from citewell.server.store.database import ServiceStore
from citewell.server.store.raters import Pseudonyms


class _Exported(Protocol):
    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]: ...


def _export(
    name: str, what: str, read: str, rows: Callable[[ServiceStore], AsyncGenerator[_Exported, None]]
) -> HTTPRouteHandler:
    """Return a handler that exports all rows of a kind, oldest first; `what` names one of them."""

    @get(
        f"/v1/export/{name}",
        opt={"scope": "export"},
        summary=f"Export the {name}",
        description=f"All {name}, oldest first{read}.",
        responses={
            200: json_lines(f"One JSON object per {what} (JSON Lines)."),
            **problems(),
        },
        media_type=MEDIA_TYPE,
        tags=["export"],
        name=f"export_{name}",
    )
    async def export(services: NamedDependency[Services]) -> Stream:
        headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
        store = services.store.get()
        lines = _lines(rows(store), await store.pseudonyms())
        return Stream(lines, media_type=MEDIA_TYPE, headers=headers)

    return export


async def _lines(
    rows: AsyncGenerator[_Exported, None], pseudonyms: Pseudonyms
) -> AsyncGenerator[bytes, None]:
    async with aclosing(rows):
        async for row in rows:
            yield one_line(row.exported(pseudonyms)) + b"\n"


_TRAINING = ", as `citewell train scorer --from FILE` reads them"
EXPORTS = (
    _export("feedback", "verdict", _TRAINING, lambda store: store.feedback.each()),
    _export("comparisons", "comparison", _TRAINING, lambda store: store.comparisons.each()),
    _export("rankings", "ranking", _TRAINING, lambda store: store.rankings.each()),
    _export("ratings", "rating", "", lambda store: store.ratings.each()),
)
