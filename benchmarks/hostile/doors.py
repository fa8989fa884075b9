"""The addresses of the service, as the application itself lists them: new ones are attacked as well."""

from __future__ import annotations

import re
from typing import NamedTuple

from citewell.core.settings import load_settings
from citewell.server.app import create_app


class Door(NamedTuple):
    """An address, the scope that it asks for, None for public ones, and whether it takes a form."""

    method: str
    path: str
    scope: str | None
    takes_form: bool

    @property
    def name(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"

    @property
    def takes_body(self) -> bool:
        """Whether requests have a body."""
        return self.method in ("POST", "PATCH", "PUT")

    def filled(self, word: str = "1") -> str:
        """Return the path with a word in place of each parameter."""
        return re.sub(r"{\w+(:\w+)?}", word, self.path)


def doors() -> list[Door]:
    """Return all of them, except for those that the framework answers with the methods alone."""
    found = []
    for route in create_app(load_settings()).routes:
        handlers = getattr(route, "route_handler_map", None)
        if handlers is None:  # an application that is mounted takes POST alone
            opt = route.route_handler.opt  # type: ignore[union-attr]
            found.append(Door("POST", route.path, opt.get("scope"), bool(opt.get("multipart"))))
            continue
        for method, handler in handlers.items():
            if method != "OPTIONS":
                opt = handler.opt if hasattr(handler, "opt") else handler[0].opt
                found.append(Door(method, route.path, opt.get("scope"), bool(opt.get("multipart"))))
    return sorted(found)
