"""Open the generator that the settings name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.build_cache import OnStep
from citewell.core.conversion import converted
from citewell.core.errors import InputError, ModelError, UnknownModelError
from citewell.core.models.obtaining import ensure_weights
from citewell.core.packages import need_packages
from citewell.core.relevance import Relevance
from citewell.core.settings import GeneratorSettings, Settings
from citewell.core.threads import in_thread
from citewell.generator.auto import EXTRACTIVE, KEY_VARIABLE, OPENAI, resolve_auto, writers
from citewell.generator.backend import GeneratorBackend
from citewell.generator.causal import CausalModel, Sampling
from citewell.generator.completer import ChatCompleter, Completer, LocalCompleter
from citewell.generator.defaults import GenerationDefaults
from citewell.generator.extractive import ExtractiveGenerator, Split
from citewell.generator.focus import focused
from citewell.generator.local import Focus, LocalGenerator, whole
from citewell.generator.openvino import CONCURRENCY, open_openvino
from citewell.generator.remote import OpenAiGenerator
from citewell.generator.resolve import ModelSource, packaged_base, resolve
from citewell.generator.transformers import open_transformers
from citewell.generator.yes import ApiYesModel, LocalYesModel, YesModel

if TYPE_CHECKING:
    from citewell.generator.chat_client import ChatClient


@asynccontextmanager
async def open_generator(
    given: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    relevance: Relevance,
    split: Split,
    on_step: OnStep = lambda name, step: None,
    environment: Mapping[str, str] = os.environ,
) -> AsyncGenerator[GeneratorBackend, None]:
    """Open the generator of the settings, which closes its connections at the end.

    `relevance` chooses the sentences that the extractive generator quotes, for each part of `split`, and
    those that a local model reads. Raises `WeightsMissingError` if packaged weights are not installed, and
    `ModelError` for an unknown name.
    """
    wanted = await in_thread(lambda: resolve_auto(given, environment).settings)
    if wanted.name == EXTRACTIVE:
        yield ExtractiveGenerator(relevance, sentences=wanted.sentences, split=split)
    elif wanted.name.startswith(OPENAI):
        async with open_client(wanted, environment) as client:
            defaults = _defaults(GenerationDefaults(), wanted)
            yield OpenAiGenerator(
                client,
                prompt_tokens=wanted.prompt_tokens,
                answer_tokens=wanted.answer_tokens,
                sampling=_sampling(defaults, wanted),
                form=defaults.form,
                together=wanted.together,
            )
    else:
        focus = partial(focused, relevance=relevance, most_words=wanted.reference_words, split=split)
        load = partial(load_local, wanted, cache_dir, threads=threads, focus=focus, on_step=on_step)
        generator = await in_thread(load)
        warming = asyncio.create_task(generator.warm())
        try:
            yield generator
        finally:
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)


@asynccontextmanager
async def open_completer(
    given: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    on_step: OnStep = lambda name, step: None,
    environment: Mapping[str, str] = os.environ,
) -> AsyncGenerator[Completer, None]:
    """Short completions by the language model of the settings, constrained by a grammar if it supports one.

    Raises `WeightsMissingError` if packaged weights are not installed, and `ModelError` for a name that is
    not a language model's and for a model that cannot be run.
    """
    wanted = await in_thread(lambda: resolve_auto(given, environment).settings)
    if wanted.name == EXTRACTIVE:
        raise ModelError(
            f"{EXTRACTIVE} is not a language model.", "Name one, such as citewell-smollm2 or openai:MODEL."
        )
    if wanted.name.startswith(OPENAI):
        async with open_client(wanted, environment) as client:
            yield ChatCompleter(client, grammar_as=wanted.grammar)
        return
    model = await _open_local(wanted, cache_dir, threads, on_step)
    yield LocalCompleter(model, wanted.name)


@asynccontextmanager
async def open_yes_model(
    given: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    on_step: OnStep = lambda name, step: None,
) -> AsyncGenerator[YesModel, None]:
    """Open the language model of the settings: a name of the catalog, a GGUF file or `openai:MODEL`.

    Raises `InputError` for the extractive generator, also where `auto` stands for it, `WeightsMissingError`
    for a model that is not installed, and `ModelError` for one that cannot be run or gives no probabilities.
    """
    wanted = await in_thread(lambda: resolve_auto(given).settings)
    if wanted.name == EXTRACTIVE:
        named = given.name == EXTRACTIVE
        raise InputError(
            "Only a language model can judge, and extractive is not one."
            if named
            else "Only a language model can judge, and there is none here.",
            "Name a model of `citewell models`, a GGUF file or openai:MODEL."
            if named
            else f"Run: citewell models get {writers()[0].name}. Or name a GGUF file or openai:MODEL.",
        )
    if wanted.name.startswith(OPENAI):
        async with open_client(wanted) as client:
            yield ApiYesModel(client)
    else:
        model = await _open_local(wanted, cache_dir, threads, on_step)
        yield LocalYesModel(model, wanted.name)


@contextmanager
def run_yes_model(
    name: str, settings: Settings, on_step: OnStep
) -> Iterator[tuple[YesModel, asyncio.Runner]]:
    """Open the language model `name`, or that of the settings if it is empty, with a loop to ask it in.

    It must not be called where an event loop runs. Raises the errors of `open_yes_model`.
    """
    wanted = settings.generator.model_copy(update={"name": name} if name else {})
    opening = open_yes_model(wanted, settings.cache_dir, threads=settings.threads, on_step=on_step)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        model = runner.run(stack.enter_async_context(opening))
        try:
            yield model, runner
        finally:
            runner.run(stack.aclose())


async def _open_local(
    wanted: GeneratorSettings, cache_dir: Path, threads: int, on_step: OnStep
) -> CausalModel:
    """Open the model of the settings in this process, in a thread; raises as `open_named_model`."""
    load = partial(
        open_named_model,
        wanted.name,
        cache_dir,
        threads=threads,
        concurrency=wanted.concurrency,
        judge_adapter=wanted.judge_adapter,
        on_step=on_step,
    )
    return await in_thread(load)


def open_client(wanted: GeneratorSettings, environment: Mapping[str, str] = os.environ) -> ChatClient:
    """Return the client of the settings' service, to be entered with `async with`.

    Raises `UnknownModelError` if `generator.name` names no model after `openai:`, and `InputError` without
    the package openai.
    """
    need_packages(f"The generator {wanted.name}", "openai", "openai")
    from citewell.generator.chat_client import ChatClient, CompletionTimeouts

    model = wanted.name.removeprefix(OPENAI).strip()
    if not model:
        raise UnknownModelError(
            "The generator openai: names no model.",
            "Write the model's name after the colon, as the service calls it: openai:gpt-4.1-mini.",
        )
    key = wanted.key.get_secret_value() or environment.get(KEY_VARIABLE, "")
    return ChatClient(
        model,
        wanted.base_url,
        key=key,
        timeouts=CompletionTimeouts(first_token=wanted.seconds / 5, total=wanted.seconds),
        concurrency=wanted.concurrency,
    )


def load_local(
    wanted: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    focus: Focus = whole,
    form: Mapping[str, Any] = {},
    on_step: OnStep = lambda name, step: None,
) -> LocalGenerator:
    """Return the language model of the settings, in this process.

    `focus` chooses the sentences of the references that it reads. `form` are changes of the model's
    `PromptForm`, by field.

    Converted at its first use if it is a GGUF file. Raises `WeightsMissingError` if packaged weights are not
    installed, and `ModelError` for an unknown name and for a model that cannot be run.
    """
    ensure_weights(packaged_base(wanted.name), on_step)
    source = resolve(wanted.name, wanted.judge_adapter)
    defaults = _defaults(source.defaults, wanted)
    return LocalGenerator(
        open_model(source, cache_dir, threads=threads, concurrency=wanted.concurrency, on_step=on_step),
        wanted.name,
        prompt_tokens=wanted.prompt_tokens,
        answer_tokens=wanted.answer_tokens,
        sampling=_sampling(defaults, wanted),
        form=replace(defaults.form, **form),
        refusal=wanted.refusal,
        focus=focus,
    )


def open_named_model(
    name: str,
    cache_dir: Path,
    *,
    threads: int,
    concurrency: int = CONCURRENCY,
    judge_adapter: str = "",
    on_step: OnStep = lambda name, step: None,
) -> CausalModel:
    """Load the language model `name`, as `open_model` does, to judge with the setting's adapter.

    Raises `WeightsMissingError` if packaged weights are not installed, and `ModelError` for an unknown name
    and for a model that cannot be run.
    """
    ensure_weights(packaged_base(name), on_step)
    source = resolve(name, judge_adapter)
    return open_model(source, cache_dir, threads=threads, concurrency=concurrency, on_step=on_step)


def open_model(
    source: ModelSource,
    cache_dir: Path,
    *,
    threads: int,
    concurrency: int = CONCURRENCY,
    on_step: OnStep = lambda name, step: None,
) -> CausalModel:
    """Load a model, which writes at most `concurrency` texts at a time if it is a GGUF file, else one.

    Raises `ModelError` if it cannot be run.
    """
    if not source.is_gguf:
        return open_transformers(source.base, source.name, threads=threads, adapter=source.adapter)
    folder = converted(source.base, cache_dir, on_step, adapter=source.adapter)
    return open_openvino(folder, source.name, threads=threads, concurrency=concurrency, judge=source.judge)


def _defaults(model: GenerationDefaults, wanted: GeneratorSettings) -> GenerationDefaults:
    """Return the model's own defaults, unless the settings override them."""
    form, penalty = model.form, wanted.frequency_penalty
    if wanted.demonstration is not None:
        form = replace(form, demonstration=wanted.demonstration)
    return GenerationDefaults(form, model.frequency_penalty if penalty is None else penalty)


def sampling_of(wanted: GeneratorSettings) -> Sampling:
    """Return how the model of the settings, which is installed or a service, chooses tokens."""
    is_remote = wanted.name.startswith(OPENAI)
    return _sampling(
        _defaults(GenerationDefaults() if is_remote else resolve(wanted.name).defaults, wanted), wanted
    )


def _sampling(defaults: GenerationDefaults, wanted: GeneratorSettings) -> Sampling:
    return Sampling(wanted.temperature, wanted.seed, defaults.frequency_penalty)
