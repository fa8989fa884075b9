"""The page of settings: looks and how questions begin, which the browser keeps, and what is set up."""

from __future__ import annotations

from litestar import get
from litestar.di import NamedDependency
from litestar.response import Template

from citewell.server.access.authenticator import Caller
from citewell.server.pages.modes import modes
from citewell.server.pages.replies import html
from citewell.server.pages.searched import set_up_for
from citewell.server.services import Services
from citewell.server.work.errors import NotReadyError


@get("/settings", opt={"scope": "ask"})
async def settings_page(services: NamedDependency[Services], caller: NamedDependency[Caller]) -> Template:
    """The settings of a reader, and what questions are answered with."""
    return html(
        "settings.html",
        here="settings",
        title="Settings",
        account=caller.account,
        where="",
        mode="",
        modes=modes(services),
        writer=_writer(services),
        set_up=await set_up_for(services, caller),
        collections=await services.shared.names(caller),
    )


def _writer(services: Services) -> str | None:
    """Return the name of the model that writes, empty without one; None while it loads."""
    try:
        pipelines = services.pipelines.get()
    except NotReadyError:
        return None
    return pipelines.generator if pipelines.writes else ""
