"""The page that replays an episode, step by step."""

from __future__ import annotations

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.api.demonstrations import NoDemonstrationError, visible_demonstration
from citewell.server.api.visibility import visible_answer
from citewell.server.pages.replies import html
from citewell.server.services import Services


@get("/trace")
async def trace_page() -> Template:
    """The viewer for a file of episodes, which never leaves the viewer's computer."""
    return html("trace.html", here="training", title="Trace", address="", question="")


@get("/trace/{id_:str}", opt={"scope": "ask"})
async def episode_page(
    services: NamedDependency[Services], caller: NamedDependency[Caller], id_: FromPath[str]
) -> Template:
    """The episode of a submitted demonstration, or of an answer that was found by browsing."""
    try:
        question = (await visible_demonstration(services, caller, id_)).question
        address = f"/v1/demonstrations/{id_}/episode"
    except NoDemonstrationError:
        question = (await visible_answer(services, caller, id_)).question
        address = f"/v1/answers/{id_}/episode"
    return html("trace.html", here="training", title="Trace", address=address, question=question)
