"""Requests that a client repeats under the same `Idempotency-Key` do their work once.

They follow https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/. The `opt` of a
handler says that it `creates` something. An answer is kept as its id alone, so that nothing outlives its
deletion. The replies of other such handlers are ids and judgments, and kept whole; demonstrations show
pages, and take no key.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from litestar import Request, Response
from litestar.params import HeaderParameter
from litestar.types import Message, Scope

from citewell.core.errors import CitewellError, InputError
from citewell.server.services import Services
from citewell.server.store.errors import StoreError
from citewell.server.store.requests import request_id

HEADER = "Idempotency-Key"
REPEATED = "Idempotency-Replayed"
IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name=HEADER,
        description="A name of your own, up to 255 characters. A request that is repeated with it within a "
        "day does its work once, and gets the first reply again.",
    ),
]
_NAME = re.compile(r"[!-~]{1,255}")
_CREATED = range(200, 300)
_LOG = logging.getLogger("citewell.requests")


class KeyReusedError(CitewellError):
    """The key of a request was used for another request."""

    status = 422

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__(
            f"Another request had this {HEADER}.", "Use a new one for each request that is not a repetition."
        )


class StillAnsweredError(CitewellError):
    """The first request with this key has no reply yet."""

    status = 409
    retry_after = 2.0

    def __init__(self) -> None:
        """Say when to repeat."""
        super().__init__(f"The first request with this {HEADER} has no reply yet.", "Repeat it later.")


@dataclass
class Claim:
    """A request that claims its key; `answer_id` is the answer that an earlier one led to."""

    id: str
    services: Services
    answer_id: str = ""
    status: int = 0
    location: str = ""
    body: bytearray = field(default_factory=bytearray)
    is_kept: bool = False

    async def keep_answer(self, answer_id: str) -> None:
        """Let repetitions of the request lead to an answer."""
        self.is_kept = True
        await self.services.store.get().requests.finish(self.id, {"answer": answer_id})

    async def reopen(self) -> None:
        """Claim the key again, since its answer failed or was deleted.

        Raises `StillAnsweredError` if another repetition was faster.
        """
        if not await self.services.store.get().requests.reopen(self.id, self.answer_id):
            raise StillAnsweredError
        self.is_kept = False


def claim_of(request: Request[Any, Any, Any]) -> Claim | None:
    """Return the claim of a request, if it has a key."""
    claim: Claim | None = request.scope["state"].get("claim")
    return claim


async def repeat(request: Request[Any, Any, Any]) -> Response[bytes] | None:
    """Return the reply of the first request with the same key, or None if this is the first.

    Raises `KeyReusedError` if that had another body, and `StillAnsweredError` if it has no reply yet.
    """
    name = request.headers.get(HEADER)
    if name is None or not request.route_handler.opt.get("creates"):
        return None
    if not _NAME.fullmatch(name):
        raise InputError(f"{HEADER} has up to 255 visible characters of ASCII.")
    services: Services = request.app.state.services
    id_ = request_id(request.state.caller.key_id, name)
    digest = _digest(request, await request.body())
    known = await services.store.get().requests.claim(id_, digest)
    claim = Claim(id_, services)
    if known is not None:
        if known.digest != digest:
            raise KeyReusedError
        if known.reply is None:
            raise StillAnsweredError
        if "answer" not in known.reply:
            return _again(known.reply)
        claim.answer_id, claim.is_kept = known.reply["answer"], True
    request.scope["state"]["claim"] = claim
    return None


async def keep_reply(message: Message, scope: Scope) -> None:
    """Store the reply of a request that has a key, or release the key if the request failed."""
    claim: Claim | None = scope["state"].get("claim")
    if claim is None or claim.is_kept:
        return
    if message["type"] == "http.response.start":
        headers = {name.lower(): value for name, value in message["headers"]}
        claim.status, claim.location = message["status"], headers.get(b"location", b"").decode("latin-1")
        return
    if message["type"] != "http.response.body":
        return
    claim.body += message["body"]
    if message.get("more_body"):
        return
    claim.is_kept = True
    requests = claim.services.store.get().requests
    try:
        if claim.status in _CREATED:
            body = bytes(claim.body).decode()
            await requests.finish(
                claim.id, {"status": claim.status, "location": claim.location, "body": body}
            )
        else:
            await requests.release(claim.id)
    except StoreError as error:  # the work is done, and the client is to know
        _LOG.warning("The reply of a request with an %s was not kept: %s", HEADER, error)


def _again(reply: dict[str, Any]) -> Response[bytes]:
    headers = {REPEATED: "true"} | ({"Location": reply["location"]} if reply["location"] else {})
    body = reply["body"].encode()
    return Response(body, status_code=reply["status"], media_type="application/json", headers=headers)


def _digest(request: Request[Any, Any, Any], body: bytes) -> str:
    """Return a digest that is the same for JSON that means the same."""
    with suppress(ValueError, RecursionError):  # the handler refuses such a body
        body = json.dumps(json.loads(body), sort_keys=True).encode()
    return hashlib.sha256(f"{request.method} {request.url.path}\0".encode() + body).hexdigest()
