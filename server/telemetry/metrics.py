"""Metrics for Prometheus (https://prometheus.io/docs/practices/naming/)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPMethod

from litestar.types import Message, Scope
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from citewell.core.errors import CitewellError
from citewell.core.events import Done, Event, Failed, Fetched, Searched, Token
from citewell.pipeline.chosen_providers import PROVIDERS
from citewell.server.problems import name_of
from citewell.server.telemetry.shared import reserve
from citewell.server.work.history import NANOSECONDS, QuestionHistory
from citewell.server.work.queue import QuestionQueue
from citewell.server.work.recorder import EndRecorder

STAGES = ("browse", "search", "fetch", "rank", "generate", "check", "score")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_BYTES_PER_TOKEN = 3  # as in citewell.generator.estimate
_MAX_REASONS = 50
_PAUSE = 1.0  # seconds between two readings of the queue for other processes
_METHODS = frozenset(method.value for method in HTTPMethod)


class Metrics:
    """The metrics of one application, in its own registry. No label takes values that clients choose.

    Processes that share their metrics act as one application: each reports the sum of all.
    """

    def __init__(self, shared: str = "") -> None:
        """Count for this process, or for all that share the folder `shared` (see `sharing_metrics`)."""
        self._registry = registry = CollectorRegistry()
        self._shared = shared
        self._reasons: set[str] = set()
        self._gauges: list[tuple[Gauge, Callable[[], float]]] = []
        if shared:
            reserve(shared)
        else:  # memory and open files of other processes are unknown
            ProcessCollector(registry=registry)
        self._requests = Counter(
            "citewell_http_requests",
            "HTTP requests, by the pattern of their path.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._questions = Counter(
            "citewell_questions",
            "Questions by result; `cached` were answered from the cache, `refused` were not accepted.",
            ["mode", "result"],
            registry=registry,
        )
        self._problems = Counter(
            "citewell_question_problems",
            "Questions that failed or were refused, by type of problem.",
            ["problem"],
            registry=registry,
        )
        self._took = Histogram(
            "citewell_question_seconds",
            "Seconds from a question to its answer, including waiting; cached answers are not counted.",
            ["mode"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._waited = Histogram(
            "citewell_queue_seconds",
            "Seconds that a question waited in the queue.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._stages = Histogram(
            "citewell_stage_seconds",
            "Seconds per stage of the pipeline, for answered questions.",
            ["stage"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._first_token = Histogram(
            "citewell_first_token_seconds",
            "Seconds from the start of a question to the first token of its answer.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._fetched = Counter(
            "citewell_pages_fetched", "Pages that were fetched and read.", registry=registry
        )
        self._failed = Counter(
            "citewell_pages_failed", "Pages that gave nothing, by the reason.", ["reason"], registry=registry
        )
        self._found = Counter(
            "citewell_provider_answers",
            "Searches for which a provider contributed pages.",
            ["provider"],
            registry=registry,
        )
        self._providers = Counter(
            "citewell_provider_failures",
            "Searches of a provider that failed while others succeeded, by reason.",
            ["provider", "reason"],
            registry=registry,
        )
        self._tokens = Counter(
            "citewell_tokens_written",
            "Tokens that the generator wrote, in all candidates; estimated as one per three bytes.",
            registry=registry,
        )
        for stage in STAGES:
            self._stages.labels(stage)

    def watch(self, queue: QuestionQueue, recorder: EndRecorder) -> None:
        """Report the length of the queue, and the number of answers that wait for the database."""
        for name, help_, read in (
            ("questions_running", "Questions that are being answered.", lambda: queue.running),
            ("questions_waiting", "Questions that wait in the queue.", lambda: queue.waiting),
            ("answers_unstored", "Answers that wait for the database.", lambda: recorder.pending),
        ):
            gauge = Gauge(f"citewell_{name}", help_, registry=self._registry, multiprocess_mode="livesum")
            self._gauges.append((gauge, read))

    async def keep_shared(self) -> None:
        """Publish the length of the queue to the other processes until cancelled.

        Returns at once if metrics are not shared.
        """
        while self._shared:
            self._look()
            await asyncio.sleep(_PAUSE)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        self._look()
        if not self._shared:
            return generate_latest(self._registry)
        merged = CollectorRegistry()
        MultiProcessCollector(merged, self._shared)  # type: ignore[no-untyped-call]
        return generate_latest(merged)

    def _look(self) -> None:
        for gauge, read in self._gauges:
            gauge.set(read())

    async def sent(self, message: Message, scope: Scope) -> None:
        """Count a reply as it begins: a hook that Litestar calls before it sends each message."""
        if message["type"] == "http.response.start":
            method = str(scope.get("method"))
            method = method if method in _METHODS else "other"
            route = scope.get("path_template") or "none"
            self._requests.labels(method, route, str(message["status"])).inc()

    def on_event(self, event: Event) -> None:
        """Count an event of the work on a question."""
        match event:
            case Searched(hits, failures):
                for provider in {_provider(name) for hit in hits for name in hit.provider.split(", ")}:
                    self._found.labels(provider).inc()
                for failure in failures:
                    self._providers.labels(_provider(failure.url), self._reason(failure.kind)).inc()
            case Fetched():
                self._fetched.inc()
            case Failed(failure):
                self._failed.labels(self._reason(failure.kind)).inc()
            case Token():
                self._tokens.inc(len(event.text.encode()) / _BYTES_PER_TOKEN)
            case Done(answer):
                for stage in STAGES:
                    if stage in answer.timings:
                        self._stages.labels(stage).observe(answer.timings[stage])
                if "first_token" in answer.timings:
                    self._first_token.observe(answer.timings["first_token"])

    def on_end(self, history: QuestionHistory) -> None:
        """Count a question that has ended."""
        self._questions.labels(history.mode, history.result).inc()
        if history.result in ("failed", "refused") and history.error is not None:
            self._problems.labels(_problem(history.error)).inc()
        if history.begun is not None:
            self._waited.observe((history.begun - history.asked) / NANOSECONDS)
        if history.result in ("answered", "retrieved", "no_evidence") and history.ended is not None:
            self._took.labels(history.mode).observe((history.ended - history.asked) / NANOSECONDS)

    def _reason(self, kind: str | None) -> str:
        """Return the kind of a failure; `other` if it has none, or if there are too many kinds."""
        if kind and (kind in self._reasons or len(self._reasons) < _MAX_REASONS):
            self._reasons.add(kind)
            return kind
        return "other"


def _provider(name: str) -> str:
    kind = name.partition(":")[0]
    return kind if kind in PROVIDERS else "other"


def _problem(error: CitewellError) -> str:
    return name_of(type(error))
