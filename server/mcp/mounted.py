"""The tools at `/mcp` of the service, with its keys, limits, queue and history."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from litestar import asgi
from litestar.exceptions import MethodNotAllowedException
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from citewell.core.settings import Settings
from citewell.pipeline.reading import PagePart
from citewell.server.access.authenticator import Caller
from citewell.server.api.authorize import TooOftenError, counted
from citewell.server.api.bodies import again, whole_body
from citewell.server.mcp.asking import OnEvent
from citewell.server.mcp.tools import PATH, tool_server
from citewell.server.services import Services
from citewell.server.work.event_log import QuestionEnded, QuestionQueued, Started
from citewell.server.work.options import QuestionOptions, listed
from citewell.server.work.sharing import NothingToSearchError

_OWN = (QuestionQueued, Started, QuestionEnded)  # events of the service, not of the pipeline


@dataclass(frozen=True)
class ServiceAsking:
    """The way of a caller of the service to answers. Pages of the service's computer have public names."""

    services: Services
    caller: Caller

    async def answer(self, options: QuestionOptions, on_event: OnEvent) -> dict[str, Any]:
        """Return an answer; raises as `QuestionService.ask` does, and `TooOftenError`."""
        await self._count()
        questions = self.services.questions
        ask = questions.retrieve if options.mode == "retrieve" else questions.ask
        subscription = await ask(options, self.caller)
        try:
            async with aclosing(subscription.follow()) as events:
                async for numbered in events:
                    if numbered is None or isinstance(numbered.event, _OWN):
                        continue
                    await on_event(numbered.event)
            body = (await subscription.ended()).body
        finally:
            subscription.leave()
        assert body is not None
        return body

    async def read(self, address: str, collection: str | None, start: int) -> PagePart:
        """Return a part of a page; raises as `Pipelines.read_public` does, and `TooOftenError`."""
        await self._count()
        scheme, _, place = address.strip().partition(":")
        if scheme == "collection" and collection is None:
            collection = place.partition("/")[0]
        options = QuestionOptions("", collection=listed(collection))
        try:
            options = await self.services.shared.allowed(options, self.caller)
        except NothingToSearchError:
            options = QuestionOptions("", search=("wikipedia",))  # pages of the web can be read
        return await self.services.pipelines.get().read_public(options, address, start)

    async def _count(self) -> None:
        decision = await counted(self.services, self.caller, asks=True)
        if not decision.allowed:
            raise TooOftenError(decision.limit, decision.retry_after)


class MountedTools:
    """The handler of `/mcp`, and what must be open while it serves. Each request stands for itself."""

    def __init__(self, settings: Settings) -> None:
        """Serve bodies of the size that the service takes."""
        self._max_body = settings.server.max_body
        self._tools: MCPServer[Any] = tool_server(_asking)
        self._app = self._tools.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            max_request_body_size=self._max_body,
            # The service checks the host itself, and takes JSON only, which no other site can send here.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None, None]:
        """Serve until the end of the block."""
        async with self._tools.session_manager.run():
            yield

    def handler(self) -> ASGIRouteHandler:
        """Return the handler, whose tools count against the limits of a key, and its other requests not."""

        @asgi(PATH, opt={"scope": "ask", "counts_itself": True}, copy_scope=True)
        async def serve_tools(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] != "POST":  # type: ignore[typeddict-item]
                # Without sessions, a stream that waits for messages of the server would wait for ever.
                raise MethodNotAllowedException(headers={"Allow": "POST"})
            body = await whole_body(receive, self._max_body)
            own = {**scope, "path": PATH, "root_path": ""}  # which Litestar changes
            await self._app(own, again(body, receive), send)  # type: ignore[arg-type]

        return serve_tools


def _asking(ctx: Context[Any, Any]) -> ServiceAsking:
    request = ctx.request_context.request
    assert request is not None
    state = request.scope["state"]
    return ServiceAsking(state["services"], state["caller"])
