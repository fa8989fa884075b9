"""The failures of aiohttp in plain words."""

from __future__ import annotations

import errno
import socket

import aiohttp

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import FetchLimits

_UNREACHABLE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL})


def explain(error: aiohttp.ClientError, limits: FetchLimits) -> FetchError:
    """Return the `FetchError` that explains `error` in plain words.

    A refusal of the address guard that aiohttp wrapped is returned unwrapped.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        detail = getattr(error.certificate_error, "verify_message", "") or "it does not match"
        return FetchError(f"the TLS certificate of {error.host} is not valid: {detail}", kind="tls")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return FetchError(f"the proxy answered {error.status} instead of connecting", kind="proxy")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return FetchError("no connection to the proxy could be made", "See the setting fetch.proxy.", "proxy")
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unconnected(error)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return FetchError(f"no connection within {limits.connect_seconds:g} s", kind="timeout")
    if isinstance(error, aiohttp.InvalidURL):
        return FetchError(f"{error.url} {error.description or 'is not a valid URL'}", kind="url")
    if isinstance(error, aiohttp.ClientPayloadError):
        return FetchError("the body broke off before its end", kind="malformed")
    if isinstance(error, aiohttp.ClientResponseError):
        return FetchError("the answer is not valid HTTP, or its header is too large", kind="malformed")
    if isinstance(error, aiohttp.ClientConnectionError):
        return FetchError("the server closed the connection before its answer was complete", kind="connect")
    return FetchError("the request could not be sent")


def _unconnected(error: aiohttp.ClientConnectorError) -> FetchError:
    cause = error.os_error
    if isinstance(cause, FetchError):
        return cause
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        if cause.errno == socket.EAI_NONAME or cause.errno is None:
            return FetchError(f"no host is named {error.host}, or this computer is offline", kind="dns")
        reason = f"offline? The name {error.host} cannot be resolved: no name server answered"
        return FetchError(reason, kind="dns")
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return FetchError(f"no secure connection to {error.host} could be made", kind="tls")
    if error.errno == errno.ECONNREFUSED:
        reason = f"{error.host} refused the connection on port {error.port}"
    elif error.errno in _UNREACHABLE:
        reason = f"{error.host} cannot be reached from this network"
    else:
        reason = f"no connection to {error.host} could be made"
    return FetchError(reason, kind="connect")
