"""How long the service waits for a client that sends a request, or takes a reply, slowly."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_LATE = b"The headers of the request did not arrive in time."

_LOG = logging.getLogger("citewell.service")


class PatientProtocol(H11Protocol):
    """uvicorn's protocol of HTTP/1.1, which waits without end (https://www.uvicorn.org/settings/#timeouts).

    This one closes a connection, with 408 if a request has begun, when its headers do not arrive, and when
    its client does not take the reply. Bodies that are read have their own limit, in `BodyReader`.
    """

    header_seconds = 15.0
    """Seconds for the first line and the headers of a request, and for a body that nobody reads."""
    reply_seconds = 60.0
    """Seconds in which a client must take some of a reply."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._request: asyncio.TimerHandle | None = None
        self._reply: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        super().data_received(data)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_request()
        self._stop_reply()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for the client to take what was written."""
        super().pause_writing()
        self._stop_reply()
        self._reply = self.loop.call_later(self.reply_seconds, self._give_up_reply)

    def resume_writing(self) -> None:
        """Write again."""
        self._stop_reply()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; for the application, the client of a request that it breaks has left."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # in the middle of a reply
            self.transport.close()

    def _await_request(self) -> None:
        if self.transport.is_closing() or not (self.cycle is None or self.cycle.response_complete):
            self._stop_request()
        elif self._request is None:
            self._request = self.loop.call_later(self.header_seconds, self._give_up_request)

    def _stop_request(self) -> None:
        if self._request is not None:
            self._request.cancel()
            self._request = None

    def _stop_reply(self) -> None:
        if self._reply is not None:
            self._reply.cancel()
            self._reply = None

    def _give_up_request(self) -> None:
        self._request = None
        if self.transport.is_closing() or not (self.cycle is None or self.cycle.response_complete):
            return
        has_headers = self.conn.their_state is not h11.IDLE
        has_begun = has_headers or bool(self.conn.trailing_data[0])
        if has_begun:
            _LOG.info("A client did not send the whole of a request in time.")
        if has_begun and not has_headers and self.conn.our_state is h11.IDLE:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            for event in (
                h11.Response(status_code=408, headers=headers, reason=b"Request Timeout"),
                h11.Data(data=_LATE),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _give_up_reply(self) -> None:
        self._reply = None
        _LOG.info("A client did not take its reply in time.")
        self.transport.abort()
