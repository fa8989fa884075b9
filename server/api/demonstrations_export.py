"""Demonstrations as JSON Lines, for training a policy."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.response import Stream

from citewell.server.api.documented import problems
from citewell.server.api.jsonl import MEDIA_TYPE, json_lines, one_line
from citewell.server.services import Services


@get(
    "/v1/export/demonstrations",
    opt={"scope": "export"},
    summary="Export the demonstrations",
    responses={
        200: json_lines("One JSON object per demonstration (JSON Lines)."),
        **problems(),
    },
    media_type=MEDIA_TYPE,
    tags=["export"],
)
async def export_demonstrations(
    services: NamedDependency[Services],
    form: Annotated[
        Literal["episodes", "webgpt"],
        QueryParameter(
            name="format",
            description="`episodes` have every state and command, as `citewell train policy` reads them; "
            "`webgpt` has question, quotes and answer alone, as in a record of WebGPT's comparisons.",
        ),
    ] = "episodes",
) -> Stream:
    """All submitted demonstrations, oldest first."""
    headers = {"Content-Disposition": 'attachment; filename="demonstrations.jsonl"'}
    episodes = services.store.get().demonstrations.each_episode()
    return Stream(_lines(episodes, form), media_type=MEDIA_TYPE, headers=headers)


async def _lines(episodes: AsyncGenerator[dict[str, Any], None], form: str) -> AsyncGenerator[bytes, None]:
    async with aclosing(episodes):
        async for episode in episodes:
            if form == "episodes":
                yield one_line(episode) + b"\n"
            elif episode["answer"]:
                yield one_line(_record(episode)) + b"\n"


def _record(episode: dict[str, Any]) -> dict[str, Any]:
    """Return a demonstration as a record of WebGPT's comparisons (appendix K), without a score."""
    quotes = episode["quotes"]
    return {
        "question": {"dataset": "demonstrations", "id": episode["id"], "full_text": episode["question"]},
        "quotes": {
            "title": [f"{quote['title']} ({quote['domain']})" for quote in quotes],
            "extract": [quote["text"] for quote in quotes],
        },
        "answer": episode["answer"],
    }
