"""What answers a question as the settings say: the pipeline, or by browsing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from citewell.core.build_cache import OnStep
from citewell.core.settings import Settings
from citewell.pipeline.browsing import Browsing, open_browsing
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.parts import silent
from citewell.pipeline.pipeline import Pipeline


@asynccontextmanager
async def open_answering(
    settings: Settings, *, on_step: OnStep = silent, question: str = ""
) -> AsyncGenerator[Pipeline | Browsing, None]:
    """Open the pipeline, as `open_pipeline` does, or with `browser.always`, as `open_browsing` does."""
    if settings.browser.always:
        async with open_browsing(settings, on_step=on_step) as browsing:
            yield browsing
    else:
        async with open_pipeline(settings, on_step=on_step, question=question) as pipeline:
            yield pipeline
