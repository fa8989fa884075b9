"""The service of the API's tests, and a collector of traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.server.api.conftest import collection_data, search, settings, slow, start
from tests.server.api.test_serve import run
from tests.server.local import ReplyHandler, answering

__all__ = ["collection_data", "run", "search", "settings", "slow", "start"]


@dataclass
class Collector:
    """An OpenTelemetry collector: all that it was sent."""

    url: str
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def traces(self) -> list[dict[str, Span]]:
        """The spans of each trace by their names, in the order in which the questions were asked."""
        traces: dict[bytes, dict[str, Span]] = {}
        for request in self.requests:
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        traces.setdefault(span.trace_id, {})[span.name] = span
        return sorted(traces.values(), key=lambda spans: spans["question"].start_time_unix_nano)


@pytest.fixture
def collector() -> Iterator[Collector]:
    class Handler(ReplyHandler):
        def do_POST(self) -> None:  # noqa: N802 - http.server calls it
            found.paths.append(self.path)
            assert self.headers["Content-Type"] == "application/x-protobuf"
            found.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(ExportTraceServiceResponse().SerializeToString(), "application/x-protobuf")

    with answering(Handler) as url:
        found = Collector(url)
        yield found
