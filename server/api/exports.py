"""Feedback, comparisons and rankings as JSON lines, which `citewell train scorer` reads."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

from litestar import get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.response import Stream

from server.api.documented import problems
from server.api.lines import one_line
from server.services import Services

MEDIA_TYPE = "application/x-ndjson"


class _Exported(Protocol):
    def exported(self) -> dict[str, Any]: ...


def _documented(what: str) -> dict[int, ResponseSpec]:
    return {
        200: ResponseSpec(
            str,
            generate_examples=False,
            description=f"One JSON object {what} and line.",
            media_type=MEDIA_TYPE,
        ),
        **problems(),
    }


@get(
    "/v1/export/feedback",
    opt={"scope": "export"},
    summary="Export the feedback",
    responses=_documented("a verdict"),
    media_type=MEDIA_TYPE,
    tags=["export"],
)
async def export_feedback(services: NamedDependency[Services]) -> Stream:
    """All feedback, oldest first, as `citewell train scorer --from FILE` reads it."""
    return _stream(services.store.get().feedback.each(), "feedback")


@get(
    "/v1/export/comparisons",
    opt={"scope": "export"},
    summary="Export the comparisons",
    responses=_documented("a comparison"),
    media_type=MEDIA_TYPE,
    tags=["export"],
)
async def export_comparisons(services: NamedDependency[Services]) -> Stream:
    """All comparisons, oldest first, as `citewell train scorer --from FILE` reads them."""
    return _stream(services.store.get().comparisons.each(), "comparisons")


@get(
    "/v1/export/rankings",
    opt={"scope": "export"},
    summary="Export the rankings",
    responses=_documented("a ranking"),
    media_type=MEDIA_TYPE,
    tags=["export"],
)
async def export_rankings(services: NamedDependency[Services]) -> Stream:
    """All rankings, oldest first, as `citewell train scorer --from FILE` reads them."""
    return _stream(services.store.get().rankings.each(), "rankings")


def _stream(rows: AsyncGenerator[_Exported, None], name: str) -> Stream:
    headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
    return Stream(_lines(rows), media_type=MEDIA_TYPE, headers=headers)


async def _lines(rows: AsyncGenerator[_Exported, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rows):
        async for row in rows:
            yield one_line(row.exported()) + b"\n"
