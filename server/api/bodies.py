"""Bodies of requests: how long they may take, and what is done with those that end early or are not text."""

from __future__ import annotations

import asyncio
import codecs
import logging

from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.types import ASGIApp, HTTPReceiveMessage, Receive, Scope, Send

from citewell.core.errors import CitewellError

_SECONDS = 30.0  # for a whole body, of at most server.max_body bytes
_UPLOAD_SECONDS = 900.0  # for files, of at most server.max_upload bytes

_LOG = logging.getLogger("citewell.service")


class SlowBodyError(CitewellError):
    """The body of the request did not arrive in time."""

    status = 408

    def __init__(self, seconds: float) -> None:
        """Say how long it may take."""
        super().__init__(f"The body did not arrive within {seconds:g} s.", "Send it again at once.")


class ClientLeftError(CitewellError):
    """The client left before the end of its request."""

    status = 499

    def __init__(self) -> None:
        """Say so."""
        super().__init__("The client left in the middle of the body.", "Send the whole request.")


class BodyReader:
    """Middleware that ends slow and broken bodies with an error. All are JSON, and thus UTF-8, or files."""

    def __init__(self, app: ASGIApp, seconds: float = _SECONDS) -> None:
        """Wrap `app`; a body may take `seconds`."""
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        is_http = scope["type"] == ScopeType.HTTP
        await self._app(scope, self._bounded(scope, receive) if is_http else receive, send)

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        headers = {name.lower(): value for name, value in scope.get("headers", ())}
        has_files = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        seconds = _UPLOAD_SECONDS if has_files else self._seconds
        until = asyncio.get_running_loop().time() + seconds
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_whole = False

        async def next_message() -> HTTPReceiveMessage:
            nonlocal is_whole
            if is_whole:  # the framework waits for the client to leave
                return await receive()  # type: ignore[return-value]
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise SlowBodyError(seconds) from None
            if message["type"] == "http.disconnect":
                _LOG.info("A client left in the middle of a body: %s %s", scope.get("method"), scope["path"])
                raise ClientLeftError
            if message["type"] == "http.request":
                is_whole = not message.get("more_body", False)
                if has_files:
                    return message
                try:
                    decoder.decode(message.get("body", b""), final=is_whole)
                except UnicodeDecodeError as error:
                    detail = f"The body is not valid UTF-8: {error.reason}."
                    raise HTTPException(status_code=400, detail=detail) from None
            return message  # type: ignore[return-value]

        return next_message


async def whole_body(receive: Receive, most: int) -> bytes:
    """Return the body of a request for an application that is mounted, which would take errors for faults.

    Raises as `receive` does, and `RequestEntityTooLarge` for more than `most` bytes.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message["body"]
        if len(body) > most:
            raise RequestEntityTooLarge
        if not message["more_body"]:
            return bytes(body)


def again(body: bytes, receive: Receive) -> Receive:
    """Return a function that gives a body that was read, and then what is received after it."""
    given = False

    async def next_message() -> HTTPReceiveMessage:
        nonlocal given
        if given:
            return await receive()  # type: ignore[return-value]
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message
