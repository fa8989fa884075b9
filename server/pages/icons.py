"""The icons of the sites that an answer cites."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from citewell.core.settings import Settings
from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.schemas import AnswerResponse
from citewell.server.api.visibility import visible_answer
from citewell.server.pages.links import web_address
from citewell.server.pages.searched import needed_network
from citewell.server.services import Services
from citewell.server.work.icons import ABSENT_SECONDS

_DAY = 86_400  # seconds


def icons_of(settings: Settings, answer: AnswerResponse) -> str:
    """Return the address below which the icons are; empty for an answer that needed no network."""
    asked = needed_network(settings, answer.options, answer.rewritten or answer.question)
    return f"/answers/{answer.id}/icons" if asked else ""


@get("/answers/{answer_id:str}/icons/{number:int}", opt={"scope": "ask"})
async def icon_of_source(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    answer_id: FromPath[str],
    number: FromPath[int],
) -> Response[bytes]:
    """The icon of the site of the reference with a number; an empty reply if the site has none."""
    answer = answer_response(await visible_answer(services, caller, answer_id))
    references = answer.references if icons_of(services.settings, answer) else []
    url = next((each.url for each in references if each.number == number), "")
    if not web_address(url):
        raise NotFoundException
    icon = await services.pipelines.get().icons.get(url)
    if icon is None:
        return Response(b"", status_code=204, headers={"Cache-Control": f"private, max-age={ABSENT_SECONDS}"})
    headers = {"Cache-Control": f"private, max-age={_DAY}"}
    return Response(icon.body, media_type=icon.media_type, headers=headers)
