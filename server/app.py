"""The ASGI application."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from litestar import Litestar, Request, Router
from litestar.config.cors import CORSConfig
from litestar.di import Provide
from litestar.exceptions import HTTPException

from citewell.core.errors import CitewellError
from citewell.core.packages import is_installed
from citewell.core.settings import Settings
from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_export import export_answer
from citewell.server.api.answers import (
    ask_question,
    cancel_question,
    delete_answer,
    follow_question,
    get_answer,
    list_answers,
)
from citewell.server.api.authorize import authorize
from citewell.server.api.bodies import BodyReader
from citewell.server.api.chat import create_chat_completion
from citewell.server.api.collections import (
    cancel_job,
    get_job,
    index_source,
    list_collections,
    list_jobs,
)
from citewell.server.api.comparisons import create_comparison
from citewell.server.api.demonstrations import (
    begin_demonstration,
    delete_demonstration,
    get_answer_episode,
    get_demonstration,
    get_demonstration_episode,
    get_demonstration_recording,
    give_command,
    list_demonstrations,
    submit_demonstration,
)
from citewell.server.api.demonstrations_export import export_demonstrations
from citewell.server.api.description import described
from citewell.server.api.documents import DOCUMENTS
from citewell.server.api.exports import EXPORTS
from citewell.server.api.feedback import create_feedback
from citewell.server.api.headers import secure, tell_limits
from citewell.server.api.health import (
    get_health,
    get_problem_type,
    get_readiness,
    head_health,
    head_readiness,
)
from citewell.server.api.metrics import get_metrics
from citewell.server.api.models import get_model, list_models
from citewell.server.api.one_collection import delete_collection, get_collection, refresh_collection
from citewell.server.api.problems import reply_to_depth, reply_to_error, reply_to_fault
from citewell.server.api.rankings import create_ranking
from citewell.server.api.ratings import create_rating
from citewell.server.api.readers import get_readers, put_readers
from citewell.server.api.related import list_related
from citewell.server.api.repeating import keep_reply, repeat
from citewell.server.api.retrieve import find_references
from citewell.server.api.studies import STUDIES
from citewell.server.api.texts import create_embeddings, rank_texts
from citewell.server.api.threads import THREADS
from citewell.server.pages.replies import page_or_problem
from citewell.server.pages.site import pages, templates
from citewell.server.services import Services, open_services
from citewell.server.telemetry.metrics import Metrics
from citewell.server.telemetry.shared import shared_folder

if TYPE_CHECKING:
    from citewell.server.mcp.mounted import MountedTools

_HANDLERS = (
    get_health,
    head_health,
    get_readiness,
    head_readiness,
    get_metrics,
    get_problem_type,
    ask_question,
    export_answer,
    get_answer,
    cancel_question,
    follow_question,
    list_related,
    get_answer_episode,
    list_answers,
    delete_answer,
    *THREADS,
    create_feedback,
    find_references,
    rank_texts,
    create_comparison,
    create_ranking,
    create_rating,
    *STUDIES,
    *EXPORTS,
    begin_demonstration,
    give_command,
    submit_demonstration,
    get_demonstration,
    list_demonstrations,
    delete_demonstration,
    get_demonstration_episode,
    get_demonstration_recording,
    export_demonstrations,
    list_collections,
    index_source,
    get_collection,
    delete_collection,
    refresh_collection,
    get_readers,
    put_readers,
    list_jobs,
    get_job,
    cancel_job,
    create_chat_completion,
    create_embeddings,
    list_models,
    get_model,
)


def create_app(settings: Settings, on_startup: Sequence[Callable[[], None]] = ()) -> Litestar:
    """Return the service as an ASGI application.

    Its parts are opened at startup; see `open_services` for parts that may be unavailable then. The
    functions `on_startup` are called after that.
    """
    wanted = settings.server
    counted = Metrics(shared_folder())
    tools = _tools(settings)

    @asynccontextmanager
    async def opened(app: Litestar) -> AsyncGenerator[None, None]:
        async with (
            open_services(settings, counted) as services,
            nullcontext() if tools is None else tools.open(),
        ):
            app.state.services = services
            yield

    uploads = Router("/", route_handlers=DOCUMENTS, request_max_body_size=wanted.max_upload)
    return Litestar(
        (*_HANDLERS, uploads, pages(), *(() if tools is None else (tools.handler(),))),
        lifespan=[opened],
        on_startup=on_startup,
        guards=[authorize],
        dependencies={
            "services": Provide(_services, sync_to_thread=False),
            "caller": Provide(_caller, sync_to_thread=False),
        },
        exception_handlers={
            CitewellError: reply_to_error,
            HTTPException: page_or_problem,
            RecursionError: reply_to_depth,
            Exception: reply_to_fault,
        },
        middleware=[BodyReader],
        before_request=repeat,
        before_send=[secure, tell_limits, keep_reply, counted.sent],
        request_max_body_size=wanted.max_body,
        cors_config=_cors(wanted.cors_origins),
        openapi_config=described(),
        template_config=templates(),
        logging_config=None,  # left to the program that runs the application
    )


def _tools(settings: Settings) -> MountedTools | None:
    """Return the tools of the Model Context Protocol; None where the extra `mcp` is not installed."""
    if not is_installed("mcp"):
        return None
    from citewell.server.mcp.mounted import MountedTools

    return MountedTools(settings)


def _services(request: Request[Any, Any, Any]) -> Services:
    services: Services = request.app.state.services
    return services


def _caller(request: Request[Any, Any, Any]) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _cors(origins: tuple[str, ...]) -> CORSConfig | None:
    if not origins:
        return None
    return CORSConfig(
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
        expose_headers=["Idempotency-Replayed", "Location", "RateLimit", "RateLimit-Policy", "Retry-After"],
    )
