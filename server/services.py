"""The parts of the service, opened when it starts and closed when it stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from citewell.core.server_settings import ServerSettings
from citewell.core.settings import Settings
from citewell.server.access.accounts import accounts_of
from citewell.server.access.authenticator import Authenticator
from citewell.server.access.limiter import Limiter, open_limiter
from citewell.server.access.owner import owner_token
from citewell.server.api.keyring import RememberedKeys
from citewell.server.sockets import is_loopback
from citewell.server.store.address import store_url
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.telemetry.metrics import Metrics
from citewell.server.telemetry.tracing import open_tracing
from citewell.server.work.demonstrating import DemonstrationService
from citewell.server.work.indexing import IndexingService
from citewell.server.work.options import QuestionOptions, listed
from citewell.server.work.pipelines import Pipelines, open_pipelines
from citewell.server.work.queue import QuestionQueue, QueueLimits
from citewell.server.work.reconnecting import Reconnecting
from citewell.server.work.recorder import EndRecorder
from citewell.server.work.related import RelatedService
from citewell.server.work.service import QuestionService
from citewell.server.work.sharing import SharedCollections
from citewell.server.work.texts import TextService

_LOG = logging.getLogger("citewell.service")


@dataclass(frozen=True, kw_only=True)
class Services:
    """The parts of a running service."""

    settings: Settings
    store: Reconnecting[ServiceStore]
    pipelines: Reconnecting[Pipelines]
    limiter: Limiter
    queue: QuestionQueue
    recorder: EndRecorder
    questions: QuestionService
    shared: SharedCollections
    texts: TextService
    related: RelatedService
    indexing: IndexingService
    demonstrations: DemonstrationService
    authenticator: Authenticator
    metrics: Metrics


@asynccontextmanager
async def open_services(settings: Settings, metrics: Metrics) -> AsyncGenerator[Services, None]:
    """Open all parts. If the store or the models are unavailable, opening them is retried in the background.

    At the end, running questions are cancelled and stored before the store is closed. Raises `SettingsError`
    for an invalid setting.
    """
    wanted = settings.server
    url = store_url(wanted.database_url.get_secret_value(), settings.data_dir)
    store = Reconnecting("database", lambda: open_store(url, patient=True))
    pipelines = Reconnecting("pipeline", lambda: open_pipelines(settings))
    async with (
        open_limiter(wanted.redis_url.get_secret_value(), _LOG.warning) as limiter,
        open_tracing(wanted.otlp_endpoint) as tracing,
    ):
        limits = QueueLimits(
            concurrency=wanted.concurrency,
            queue=wanted.queue,
            queue_seconds=wanted.queue_seconds,
            answer_seconds=wanted.answer_seconds,
        )
        queue = QuestionQueue(limits, [metrics] if tracing is None else [metrics, tracing])
        recorder = EndRecorder(store)
        metrics.watch(queue, recorder)
        sharing = asyncio.create_task(metrics.keep_shared())
        shared = SharedCollections(settings, lambda: store.get().readers)
        questions = QuestionService(
            queue, store, pipelines, recorder, shared, cache_seconds=wanted.cache_seconds
        )
        indexing = IndexingService(settings, store)
        demonstrations = DemonstrationService(
            store, lambda collection: pipelines.get().web(QuestionOptions("", collection=listed(collection)))
        )
        own = is_loopback(wanted.host)
        token = owner_token(settings.data_dir) if own else None
        keys = RememberedKeys(lambda: store.get().keys)
        try:
            await store.start()
            await pipelines.start()
            yield Services(
                settings=settings,
                store=store,
                pipelines=pipelines,
                limiter=limiter,
                queue=queue,
                recorder=recorder,
                questions=questions,
                shared=shared,
                texts=TextService(limits),
                related=RelatedService(),
                indexing=indexing,
                demonstrations=demonstrations,
                authenticator=Authenticator(keys, loopback=own, owner=token, accounts=accounts_of(wanted)),
                metrics=metrics,
            )
        finally:
            sharing.cancel()
            await queue.close()
            await indexing.close()
            await recorder.close()
            await pipelines.close()
            await store.close()


def own_names(wanted: ServerSettings) -> frozenset[str]:
    """Return the names that the header `Host` may contain; empty if every name is accepted.

    On loopback, other names must be refused: with DNS rebinding, a web page would act with the rights of the
    person at this computer.
    """
    if wanted.hosts:
        return frozenset(name.lower() for name in wanted.hosts)
    if is_loopback(wanted.host):
        return frozenset({"localhost", "127.0.0.1", "[::1]", wanted.host.lower()})
    return frozenset()
