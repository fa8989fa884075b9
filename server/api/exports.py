"""Human judgments of answers as JSON Lines, for `citewell train scorer`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from litestar import get
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter
from litestar.response import Stream

from citewell.core.errors import InputError
from citewell.scorer.data.config import HygieneConfig
from citewell.scorer.data.hygiene import Hygiene
from citewell.scorer.data.webgpt import webgpt_row
from citewell.server.api.documented import problems
from citewell.server.api.jsonl import MEDIA_TYPE, json_lines, one_line
from citewell.server.api.studies import found_study
from citewell.server.services import Services
from citewell.server.store.database import ServiceStore
from citewell.server.store.raters import Pseudonyms

_LOG = logging.getLogger("citewell.service")

Study = Annotated[
    str | None, QueryParameter(max_length=64, description="Export only the judgments of this study.")
]
Clean = Annotated[
    bool,
    QueryParameter(
        description="Leave out personal data, near-duplicate questions, and what exceeds a rater's cap."
    ),
]
ExportFormat = Annotated[
    Literal["rows", "webgpt"],
    QueryParameter(name="format", description="`webgpt`, of comparisons: the fields of WebGPT's release."),
]


class _Exported(Protocol):
    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]: ...


@dataclass(frozen=True)
class _Wanted:
    """Which rows are exported, and how."""

    items: frozenset[str] | None
    clean: bool
    as_webgpt: bool


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
            **problems(404),
        },
        media_type=MEDIA_TYPE,
        tags=["export"],
        name=f"export_{name}",
    )
    async def export(
        services: NamedDependency[Services],
        study: Study = None,
        clean: Clean = False,
        row_format: ExportFormat = "rows",
    ) -> Stream:
        store = services.store.get()
        if row_format == "webgpt" and name != "comparisons":
            raise InputError("Only comparisons have the format webgpt.")
        items = None
        if study is not None:
            found = await found_study(store, study)
            items = frozenset(item.id for item in await store.studies.items(found.id))
        wanted = _Wanted(items, clean, row_format == "webgpt")
        lines = _lines(rows(store), await store.pseudonyms(), wanted)
        headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
        return Stream(lines, media_type=MEDIA_TYPE, headers=headers)

    return export


async def _lines(
    rows: AsyncGenerator[_Exported, None], pseudonyms: Pseudonyms, wanted: _Wanted
) -> AsyncGenerator[bytes, None]:
    hygiene, left_out = Hygiene(HygieneConfig()), Counter[str]()
    async with aclosing(rows):
        async for each in rows:
            row = each.exported(pseudonyms)
            if wanted.items is not None and row.get("study_item_id") not in wanted.items:
                continue
            if wanted.clean and (fault := hygiene.fault(row)):
                left_out[fault] += 1
                continue
            if shown := _as_webgpt(row) if wanted.as_webgpt else row:
                yield one_line(shown) + b"\n"
    for what, count in left_out.items():
        _LOG.info("Left out of an export: %d %s.", count, what)


def _as_webgpt(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a comparison in the form of WebGPT's release; None without a preference between two answers."""
    if row["preferred"] is None or len(row["answers"]) != 2:
        return None
    answers = []
    for answer in row["answers"]:
        titles = answer.get("titles") or [""] * len(answer["references"])
        answers.append((answer["text"], list(zip(titles, answer["references"], strict=True))))
    return webgpt_row(row["question"], row["id"], answers, row["overall"] / 2)


_TRAINING = ", as `citewell train scorer --from FILE` reads them"
EXPORTS = (
    _export("feedback", "verdict", _TRAINING, lambda store: store.feedback.each()),
    _export("comparisons", "comparison", _TRAINING, lambda store: store.comparisons.each()),
    _export("rankings", "ranking", _TRAINING, lambda store: store.rankings.each()),
    _export("ratings", "rating", "", lambda store: store.ratings.each()),
)
