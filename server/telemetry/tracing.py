"""Traces of questions for OpenTelemetry (https://opentelemetry.io/docs/specs/otlp/), off by default.

One trace per question, and in it one span per stage. Traces contain counts, times and kinds of failures, but
no text of questions, pages or answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from citewell.core.events import Event
from citewell.server.packages import need_tracing_packages
from citewell.server.problems import name_of
from citewell.server.telemetry.stages import StageSpan, stages
from citewell.server.work.history import QuestionHistory

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_SECONDS = 5.0  # to send the remaining traces at the end


class Tracing:
    """The maker of the trace of each question once it has ended, from its history."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def on_event(self, event: Event) -> None:
        """Do nothing: the trace is made at the end."""

    def on_end(self, history: QuestionHistory) -> None:
        """Make the trace of a question that has ended."""
        from opentelemetry.trace import SpanKind, set_span_in_context

        root = self._tracer.start_span("question", kind=SpanKind.SERVER, start_time=history.asked)
        root.set_attributes(
            {
                "citewell.answer.id": history.id,
                "citewell.mode": history.mode,
                "citewell.result": str(history.result),
            }
        )
        for stage in stages(history):
            span = self._tracer.start_span(stage.name, set_span_in_context(root), start_time=stage.start)
            span.set_attributes(_attributes(stage, history))
            if stage.name == "fetch":
                _tell_pages(span, history)
            if not stage.is_complete:
                _fail(span, history)
            span.end(stage.end)
        if history.result in ("failed", "cancelled", "refused"):
            _fail(root, history)
        root.end(history.ended)


@asynccontextmanager
async def open_tracing(endpoint: str) -> AsyncGenerator[Tracing | None, None]:
    """Send traces to the collector at `endpoint`, such as `http://127.0.0.1:4318`; without one, None.

    OpenTelemetry's environment variables configure the rest, such as `OTEL_SERVICE_NAME`,
    `OTEL_TRACES_SAMPLER` and `OTEL_EXPORTER_OTLP_HEADERS`. An unreachable collector only loses traces. Raises
    `InputError` if the packages of the extra `otel` are not installed.
    """
    if not endpoint:
        yield None
        return
    need_tracing_packages()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    own = Resource({SERVICE_NAME: "citewell", SERVICE_VERSION: version("citewell")})
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield Tracing(provider.get_tracer("citewell"))
    finally:
        await asyncio.to_thread(provider.shutdown)


def _attributes(stage: StageSpan, history: QuestionHistory) -> dict[str, int]:
    match stage.name:
        case "browse":
            return {"citewell.actions": history.actions}
        case "search":
            return {"citewell.hits": history.hits}
        case "fetch":
            failed = sum(bool(page.kind) for page in history.pages)
            return {"citewell.pages.fetched": len(history.pages) - failed, "citewell.pages.failed": failed}
        case "rank":
            return {"citewell.references": history.references}
        case "generate":
            return {"citewell.pieces": history.pieces}
    return {}


def _tell_pages(span: Span, history: QuestionHistory) -> None:
    for time, kind in history.pages:
        span.add_event("failed" if kind else "fetched", {"error.type": kind} if kind else None, time)


def _fail(span: Span, history: QuestionHistory) -> None:
    from opentelemetry.trace import Status, StatusCode

    problem = "" if history.error is None else name_of(type(history.error))
    span.set_attribute("error.type", problem)
    span.set_status(Status(StatusCode.ERROR, problem))
