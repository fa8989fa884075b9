"""The pages to answer questions by hand with the text browser."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import Template

from citewell.core.text import shorten
from citewell.server.access.authenticator import Caller
from citewell.server.api import collections as collections_api
from citewell.server.api import demonstrations as api
from citewell.server.pages.replies import html
from citewell.server.services import Services

_ROWS = 25


@get("/demonstrate", opt={"scope": "ask"})
async def demonstrations_page(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Annotated[str | None, QueryParameter(max_length=64)] = None,
) -> Template:
    """The form to start a demonstration, and the existing ones, newest first."""
    found = await api.list_demonstrations.fn(services, caller, before=before, limit=_ROWS)
    collections = await collections_api.list_collections.fn(services, caller)
    return html(
        "demonstrations.html",
        here="training",
        title="Demonstrate",
        demonstrations=found.demonstrations,
        collections=[each.name for each in collections.collections if each.problem is None],
        searched=collections.searched,
        older=f"/demonstrate?{urlencode({'before': found.next})}" if found.next else None,
    )


@get("/demonstrate/{demonstration_id:str}", opt={"scope": "ask"})
async def demonstration_page(
    services: NamedDependency[Services], caller: NamedDependency[Caller], demonstration_id: FromPath[str]
) -> Template:
    """The text browser of a demonstration, which a script fills in."""
    demonstration = await api.visible_demonstration(services, caller, demonstration_id)
    return html(
        "demonstration.html",
        here="training",
        title=f"Demonstrate: {shorten(demonstration.question, 80)}",
        demonstration=demonstration,
    )
