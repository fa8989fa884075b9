"""Where a retriever finds passages: this installation, or a service at an address."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from citewell.core.errors import InputError, ServiceAnswerError, ServiceKeyRefusedError
from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.core.types import Reference
from citewell.generator.orders.marking import evidence_of
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.choices import without_writer
from citewell.pipeline.named import named_settings
from citewell.retriever.search.api import SearchHttp, Service
from citewell.retriever.search.retry import Retry

Find = Callable[[str], Awaitable[tuple[Reference, ...]]]
"""Finds the references of a question, best first and without orders; raises `CitewellError`."""

_SECONDS = 120.0  # for two tries


def chosen_passages(
    *, url: str, key: str, k: int, collection: str | None, settings: Mapping[str, Any]
) -> Callable[[], AbstractAsyncContextManager[Find]]:
    """Return what opens the passages of the service at `url`, or of this installation if that is empty.

    Raises `InputError` for settings beside the address of a service, and `SettingsError` for a wrong one.
    """
    if not url:
        named = {"k": k} | ({} if collection is None else {"collection": collection}) | dict(settings)
        return partial(_local_passages, without_writer(named_settings(named)))
    if settings:
        raise InputError("A service has settings of its own.", "Remove `settings`, or `url`.")
    body = {"k": k} | ({} if collection is None else {"collection": collection})
    return partial(_service_passages, url, key, body)


def metadata_of(reference: Reference) -> dict[str, Any]:
    """Return what else is known of a passage, in plain values that vector stores accept."""
    known = {
        "source": reference.url,
        "title": reference.title,
        "section": reference.headings[-1] if reference.headings else "",
        "date": reference.date,
        "page_number": reference.page_number,
        "score": reference.score,
    }
    return {name: value for name, value in known.items() if value not in ("", None)}


def _given(references: Iterable[Reference]) -> tuple[Reference, ...]:
    return tuple(reference for reference in evidence_of(references) if reference.text)


@asynccontextmanager
async def _local_passages(settings: Settings) -> AsyncGenerator[Find, None]:
    async with open_pipeline(settings) as pipeline:

        async def find(question: str) -> tuple[Reference, ...]:
            return _given((await final_answer(pipeline.retrieve(question))).references)

        yield find


@asynccontextmanager
async def _service_passages(url: str, key: str, body: Mapping[str, Any]) -> AsyncGenerator[Find, None]:
    service = Service(
        "The Citewell service",
        f"{url.rstrip('/')}/v1/retrieve",
        hints={
            ServiceKeyRefusedError: "Pass a `key` made by `citewell keys create`.",
            ServiceAnswerError: "Check the arguments, and that `url` is the address of a Citewell service.",
        },
        secrets=(key,),
    )
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with SearchHttp(Retry(seconds=_SECONDS)) as http:

        async def find(question: str) -> tuple[Reference, ...]:
            reply = await http.ask(service, headers=headers, post={"question": question, **body})
            try:
                return _given(msgspec.convert(reply["references"], tuple[Reference, ...]))
            except (KeyError, msgspec.ValidationError) as error:
                message = f"The reply of {service.url} has no references."
                raise service.error(ServiceAnswerError, message) from error

        yield find
