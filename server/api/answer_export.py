"""Export an answer, or its sources, as a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, QueryParameter
from litestar.serialization import encode_json

from citewell.core.answer_html import answer_page
from citewell.core.bibliography import bibtex, csl_items
from citewell.core.types import Answer, Reference
from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.documented import problems, replies_as
from citewell.server.api.schemas import AnswerResponse
from citewell.server.api.visibility import visible_answer, written
from citewell.server.pages.markdown import as_markdown
from citewell.server.services import Services


class AnswerFormat(NamedTuple):
    """A format of an exported answer: its media type, the ending of its file, and its writer."""

    media_type: str
    ending: str
    write: Callable[[AnswerResponse], bytes]


def _sources(answer: AnswerResponse) -> list[Reference]:
    cited = {number for sentence in answer.sentences for number in sentence.citations}
    return [reference for reference in answer.references if reference.number in cited]


def _html(answer: AnswerResponse) -> str:
    return answer_page(
        Answer(
            answer.question,
            answer.outcome or "no_evidence",
            answer.answer or "",
            tuple(answer.sentences),
            tuple(answer.references),
            notices=tuple(answer.notices),
            rewritten=answer.rewritten,
        )
    )


FORMATS = {
    "markdown": AnswerFormat("text/markdown", "md", lambda answer: as_markdown(answer).encode()),
    "html": AnswerFormat("text/html", "html", lambda answer: _html(answer).encode()),
    "bibtex": AnswerFormat(
        "application/x-bibtex", "bib", lambda answer: bibtex(_sources(answer), answer.created.date()).encode()
    ),
    "csl": AnswerFormat(
        "application/vnd.citationstyles.csl+json",
        "csl.json",
        lambda answer: encode_json(csl_items(_sources(answer), answer.created.date())),
    ),
    "json": AnswerFormat("application/json", "json", encode_json),
}


@get(
    "/v1/answers/{answer_id:str}/export",
    opt={"scope": "ask"},
    summary="Export an answer",
    responses={
        200: ResponseSpec(
            str, generate_examples=False, description="The answer as a file.", media_type="text/markdown"
        ),
        **problems(404, 409),
    },
    media_type="text/markdown",
    operation_class=replies_as(*(each.media_type for each in FORMATS.values())),
    tags=["answers"],
)
async def export_answer(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    answer_id: FromPath[str],
    form: Annotated[
        Literal["markdown", "html", "bibtex", "csl", "json"],
        QueryParameter(
            name="format",
            description="`json` is what reading an answer gives; `bibtex` and `csl` (CSL-JSON) have the "
            "cited sources alone.",
        ),
    ] = "markdown",
) -> Response[bytes]:
    """A finished answer as a file, or its cited sources for a reference manager."""
    stored = await visible_answer(services, caller, answer_id)
    written(stored)
    answer = answer_response(stored)
    chosen = FORMATS[form]
    headers = {"Content-Disposition": f'attachment; filename="answer-{answer.id[:13]}.{chosen.ending}"'}
    return Response(chosen.write(answer), media_type=chosen.media_type, headers=headers)
