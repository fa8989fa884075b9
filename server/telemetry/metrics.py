"""What Prometheus reads at `/metrics` (https://prometheus.io/docs/practices/naming/)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPMethod

from litestar.types import Message, Scope
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from citewell.core.errors import CitewellError
from citewell.core.events import Done, Event, Failed, Fetched, Searched, Token
from citewell.pipeline.providers import PROVIDERS
from citewell.server.problems import name_of
from citewell.server.work.history import NANOSECONDS, QuestionHistory
from citewell.server.work.queue import QuestionQueue
from citewell.server.work.recorder import EndRecorder

STAGES = ("browse", "search", "fetch", "rank", "generate", "check", "score")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_BYTES_A_TOKEN = 3  # as in citewell.generator.estimate
_MOST_REASONS = 50
_PAUSE = 1.0  # seconds between two looks at the queue, where other processes read its length
_METHODS = frozenset(method.value for method in HTTPMethod)


class Metrics:
    """The numbers of one application, in a registry of its own. No label has values that clients choose.

    Processes that share them are one application: each adds its own, and gives those of all.
    """

    def __init__(self, shared: str = "") -> None:
        """Count for this process, or for all that share the folder `shared` (see `sharing_metrics`)."""
        self._registry = registry = CollectorRegistry()
        self._shared = shared
        self._reasons: set[str] = set()
        self._gauges: list[tuple[Gauge, Callable[[], float]]] = []
        if not shared:  # memory and open files cannot be told for processes that are not this one
            ProcessCollector(registry=registry)
        self._requests = Counter(
            "citewell_http_requests",
            "Requests that were answered, by the pattern of their address.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._questions = Counter(
            "citewell_questions",
            "Questions by how they ended; `cached` ones were known already, `refused` ones not taken.",
            ["mode", "result"],
            registry=registry,
        )
        self._problems = Counter(
            "citewell_question_problems",
            "Questions that failed or were refused, by the type of the problem.",
            ["problem"],
            registry=registry,
        )
        self._took = Histogram(
            "citewell_question_seconds",
            "Seconds from a question to its answer, its waiting included; known answers are left out.",
            ["mode"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._waited = Histogram(
            "citewell_queue_seconds",
            "Seconds that a question waited for its turn.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._stages = Histogram(
            "citewell_stage_seconds",
            "Seconds of a stage of the pipeline, of questions that were worked out.",
            ["stage"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._first_token = Histogram(
            "citewell_first_token_seconds",
            "Seconds from the begin of the work to the first piece of text.",
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
            "Searches for which a provider found pages that were among the best.",
            ["provider"],
            registry=registry,
        )
        self._providers = Counter(
            "citewell_provider_failures",
            "Searches of a provider that failed while others answered, by the reason.",
            ["provider", "reason"],
            registry=registry,
        )
        self._tokens = Counter(
            "citewell_tokens_written",
            "Tokens that the generator wrote, in all candidates; estimated, one for three bytes.",
            registry=registry,
        )
        for stage in STAGES:
            self._stages.labels(stage)

    def watch(self, queue: QuestionQueue, recorder: EndRecorder) -> None:
        """Have the length of the queue, and of what waits for the database, among the numbers."""
        for name, help_, read in (
            ("questions_running", "Questions that are worked on.", lambda: queue.running),
            ("questions_waiting", "Questions that wait for their turn.", lambda: queue.waiting),
            ("answers_unstored", "Ends of questions that wait for the database.", lambda: recorder.pending),
        ):
            gauge = Gauge(f"citewell_{name}", help_, registry=self._registry, multiprocess_mode="livesum")
            self._gauges.append((gauge, read))

    async def keep_shared(self) -> None:
        """Tell the other processes how long the queue is, again and again, until cancelled.

        Where the numbers are not shared, nobody has to be told, and this returns at once.
        """
        while self._shared:
            self._look()
            await asyncio.sleep(_PAUSE)

    def text(self) -> bytes:
        """All numbers in Prometheus's text format."""
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
        """Count a reply as it begins; this is a hook of Litestar, called before each message is sent."""
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
                self._tokens.inc(len(event.text.encode()) / _BYTES_A_TOKEN)
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

    def _reason(self, kind: str) -> str:
        """The kind of a failure; `other` where it has none, or where there are too many kinds."""
        if kind and (kind in self._reasons or len(self._reasons) < _MOST_REASONS):
            self._reasons.add(kind)
            return kind
        return "other"


def _provider(name: str) -> str:
    kind = name.partition(":")[0]
    return kind if kind in PROVIDERS else "other"


def _problem(error: CitewellError) -> str:
    return name_of(type(error))
