"""Replies of pages: templates, error pages, and the content security policy."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, NotFoundException
from litestar.response import Template

from citewell.core.errors import CitewellError
from citewell.server.access.errors import NoKeyError, WrongKeyError
from citewell.server.api.problems import reply_to_error, reply_to_fault, reply_to_http_error
from citewell.server.problems import ProblemKind

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' blob:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The content security policy (https://www.w3.org/TR/CSP3/): a page may only load its own files.

Scripts make a `blob:` of an image that was loaded with the key.
"""


def html(
    template: str, *, status: int = 200, headers: dict[str, str] | None = None, **context: Any
) -> Template:
    """Return a page from a template, with all values escaped."""
    policy = {"Content-Security-Policy": POLICY}
    return Template(
        template,
        context=context,
        status_code=status,
        headers=policy | (headers or {}),
        media_type="text/html",
    )


def page_of_error(request: Request[Any, Any, Any], error: CitewellError) -> Template:
    """Return the page for an error of Citewell; where a key is missing, it says what a person does."""
    reply = reply_to_error(request, error)
    if isinstance(error, NoKeyError | WrongKeyError):
        reply.content |= {"title": "This page needs a key", "detail": error.message}
    return _page(reply)


def page_of_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Template:
    """Return the page for a request that Litestar refuses."""
    return _page(reply_to_http_error(request, error))


def page_of_fault(request: Request[Any, Any, Any], error: Exception) -> Template:
    """Return the page for a bug in the service, which only the log describes."""
    return _page(reply_to_fault(request, error))


def problem_page(type_: str, kind: ProblemKind) -> Template:
    """Return the page that describes a type of problem."""
    phrase = next((each.phrase for each in HTTPStatus if each == kind.status), "")
    answered = f"{kind.status} {phrase}".rstrip()
    return html("problem_type.html", here="", title=kind.title, type=type_, answered=answered)


def is_opened(request: Request[Any, Any, Any]) -> bool:
    """Return whether a browser opens an address, rather than a program."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def page_or_problem(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """Return a page to a browser that opens an address that does not exist, else a problem."""
    if (
        is_opened(request)
        and isinstance(error, NotFoundException)
        and not request.url.path.startswith("/v1/")
    ):
        problem = {"status": 404, "detail": "The address is misspelled, or what it led to was deleted."}
        return html("problem.html", status=404, here="", title="This page does not exist", problem=problem)
    return reply_to_http_error(request, error)


def _page(reply: Any) -> Template:
    """Return the page of a problem of the API, with its status and headers."""
    problem = reply.content
    return html(
        "problem.html",
        status=problem["status"],
        headers=dict(reply.headers),
        here="",
        title=problem["title"],
        problem=problem,
    )
