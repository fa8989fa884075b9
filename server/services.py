"""What the handlers of the API work with, opened when the service starts and closed when it stops."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from citewell.core.server_settings import ServerSettings
from citewell.core.settings import Settings
from citewell.server.access.authenticator import Authenticator
from citewell.server.access.limits import Limiter, open_limiter
from citewell.server.api.keyring import RememberedKeys
from citewell.server.api.problems import problem_of
from citewell.server.store.address import store_url
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.telemetry.metrics import Metrics
from citewell.server.telemetry.tracing import open_tracing
from citewell.server.telemetry.watched_queue import WatchedQueue
from citewell.server.work.demonstrating import DemonstrationService
from citewell.server.work.indexing import Indexings
from citewell.server.work.options import QuestionOptions
from citewell.server.work.pipelines import Pipelines, open_pipelines
from citewell.server.work.queue import QuestionQueue, QueueLimits
from citewell.server.work.reconnecting import Reconnecting
from citewell.server.work.recorder import EndRecorder
from citewell.server.work.service import QuestionService

_LOG = logging.getLogger("citewell.service")


@dataclass(frozen=True)
class Services:
    """The parts of a running service."""

    settings: Settings
    store: Reconnecting[ServiceStore]
    pipelines: Reconnecting[Pipelines]
    limiter: Limiter
    desk: QuestionQueue
    recorder: EndRecorder
    answering: QuestionService
    indexings: Indexings
    demonstrating: DemonstrationService

    doorman: Authenticator
    metrics: Metrics


@asynccontextmanager
async def open_services(settings: Settings, metrics: Metrics) -> AsyncGenerator[Services, None]:
    """Open all parts. The store and the models may be missing: they are then opened as soon as they can be.

    At the end, running questions are cancelled, and how they ended is stored before the store is closed.
    Raises `SettingsError` where a setting cannot be used.
    """
    wanted = settings.server
    url = store_url(wanted.database_url.get_secret_value(), settings.data_dir)
    store = Reconnecting("database", lambda: open_store(url, patient=True))
    pipelines = Reconnecting("pipeline", lambda: open_pipelines(settings))
    async with (
        open_limiter(wanted.redis_url.get_secret_value(), _LOG.warning) as limiter,
        open_tracing(wanted.otlp_endpoint) as tracing,
    ):
        desk = WatchedQueue(
            QueueLimits(
                wanted.concurrency,
                wanted.queue,
                wanted.queue_seconds,
                wanted.answer_seconds,
                wanted.resume_seconds,
            ),
            metrics.happened,
            [metrics.ended] if tracing is None else [metrics.ended, tracing.ended],
        )
        recorder = EndRecorder(store)
        metrics.watch(desk, recorder)
        sharing = asyncio.create_task(metrics.keep_shared())
        answering = QuestionService(
            desk, store, pipelines, recorder, cache_seconds=wanted.cache_seconds, describe=problem_of
        )
        indexings = Indexings(settings, store)
        demonstrating = DemonstrationService(
            store, lambda collection: pipelines.get().web(QuestionOptions("", collection=collection))
        )
        try:
            await store.start()
            await pipelines.start()
            doorman = Authenticator(
                RememberedKeys(lambda: store.get().keys), loopback=is_loopback(wanted.host)
            )
            yield Services(
                settings,
                store,
                pipelines,
                limiter,
                desk,
                recorder,
                answering,
                indexings,
                demonstrating,
                doorman,
                metrics,
            )
        finally:
            sharing.cancel()
            await desk.close()
            await indexings.close()
            await recorder.close()
            await pipelines.close()
            await store.close()


def is_loopback(host: str) -> bool:
    """Whether only this computer can connect to an address that the service listens on."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_names(wanted: ServerSettings) -> frozenset[str]:
    """The names by which the service may be called in the header `Host`; empty where any will do.

    On loopback, a name that somebody else's DNS leads here must not be answered: the page that uses it would
    act with the rights of whoever sits at this computer (DNS rebinding).
    """
    if wanted.hosts:
        return frozenset(name.lower() for name in wanted.hosts)
    if is_loopback(wanted.host):
        return frozenset({"localhost", "127.0.0.1", "[::1]", wanted.host.lower()})
    return frozenset()
