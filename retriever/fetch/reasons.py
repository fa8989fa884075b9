"""The failures of aiohttp in plain words."""

from __future__ import annotations

import errno
import socket

import aiohttp

from core.errors import FetchError
from retriever.fetch.download import FetchLimits

_UNREACHABLE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL})


def explain(error: aiohttp.ClientError, limits: FetchLimits) -> FetchError:
    """Return the `FetchError` that says what `error` means to a person.

    A refusal of the address guard that aiohttp has wrapped is returned as it was raised.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        detail = getattr(error.certificate_error, "verify_message", "") or "it does not match"
        return FetchError(f"the TLS certificate of {error.host} is not valid: {detail}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unconnected(error)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return FetchError(f"no connection within {limits.connect_seconds:g} s")
    if isinstance(error, aiohttp.ServerTimeoutError):
        return FetchError(f"the server sent nothing for {limits.silence_seconds:g} s")
    if isinstance(error, aiohttp.InvalidURL):
        return FetchError(f"{error.url} {error.description or 'is not a valid URL'}")
    if isinstance(error, aiohttp.ClientPayloadError):
        return FetchError("the body broke off or could not be decompressed")
    if isinstance(error, aiohttp.ClientResponseError):
        return FetchError("the answer is not valid HTTP")
    if isinstance(error, aiohttp.ClientConnectionError):
        return FetchError("the server closed the connection before its answer was complete")
    return FetchError("the request could not be sent")


def _unconnected(error: aiohttp.ClientConnectorError) -> FetchError:
    cause = error.os_error
    if isinstance(cause, FetchError):
        return cause
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        if cause.errno == socket.EAI_NONAME or cause.errno is None:
            return FetchError(f"no host is named {error.host}")
        return FetchError(f"the name {error.host} could not be looked up: no name server answered")
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return FetchError(f"no secure connection to {error.host} could be made")
    if error.errno == errno.ECONNREFUSED:
        return FetchError(f"{error.host} refused the connection on port {error.port}")
    if error.errno in _UNREACHABLE:
        return FetchError(f"{error.host} cannot be reached from this network")
    return FetchError(f"no connection to {error.host} could be made")
