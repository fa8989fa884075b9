"""`citewell doctor`: what is installed, what is missing, and how to fix it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from citewell.cli.commands.options import profile_option
from citewell.core import running
from citewell.core.errors import CitewellError, WeightsMissingError
from citewell.core.packages import install_command, is_installed, pip_command
from citewell.core.paths import is_open_to_others

if TYPE_CHECKING:
    from citewell.core.settings import Settings

_LIBRARIES = ("openvino-genai", "tokenizers", "tantivy", "lxml", "aiohttp")
_OPTIONAL = ("torch", "transformers")
# The extra that brings them, and the packages that a setting needs
_OPENAI = ("openai", ("openai",))
_SCORER = ("train", ("torch", "transformers"))
_PAPER = ("paper", ("html2text",))
_BROWSER = ("browser", ("html2text", "readability"))
_SPACE_BYTES = 500_000_000


class Check(NamedTuple):
    """The result of one check. `fix` says what to do if it failed."""

    name: str
    state: Literal["ok", "warning", "missing"]
    found: str
    fix: str = ""


@click.command("doctor")
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def command(profile: str | None, as_json: bool) -> None:
    """Check the installation, model weights, folders and search providers."""
    from citewell.core.settings import load_settings

    is_missing = False
    for check in _checks(load_settings({"profile": profile})):
        is_missing = is_missing or check.state == "missing"
        if as_json:
            click.echo(json.dumps(check._asdict() | {"fix": check.fix or None}, ensure_ascii=False))
        else:
            sign = {"ok": "✓", "warning": "!", "missing": "✗"}[check.state]
            click.echo(f"{sign} {check.name}: {check.found}")
            if check.fix:
                click.echo(f"    {check.fix}")
    if is_missing:
        raise click.exceptions.Exit(1)


def _checks(settings: Settings) -> Iterator[Check]:
    yield Check("Python", "ok", platform.python_version())
    if settings.profile:
        yield Check("profile", "ok", settings.profile)
    yield from _libraries()
    yield _faiss()
    yield from _packages(settings)
    yield _generator(settings)
    yield from _weights(settings)
    yield from _trained(settings)
    yield _converted(settings)
    yield from _folders(settings)
    yield _cache(settings)
    yield _renderer(settings)
    yield from _collections(settings)
    yield from _keys(settings)
    yield from _search(settings)


def _libraries() -> Iterator[Check]:
    for library in _LIBRARIES:
        try:
            yield Check(library, "ok", importlib.metadata.version(library))
        except importlib.metadata.PackageNotFoundError:
            yield Check(library, "missing", "not installed", f"{pip_command()} install {library}")
    for library in _OPTIONAL:
        try:
            yield Check(library, "ok", importlib.metadata.version(library))
        except importlib.metadata.PackageNotFoundError:
            yield Check(library, "ok", "not installed (optional): needed to train, or to compute on a GPU")


def _packages(settings: Settings) -> Iterator[Check]:
    """Which packages are missing that only these settings need."""
    from citewell.generator.auto import OPENAI
    from citewell.scorer.scorer import SUPPORT

    for setting, value, is_needed, extra, packages in (
        ("generator.name", settings.generator.name, settings.generator.name.startswith(OPENAI), *_OPENAI),
        ("scorer.name", settings.scorer.name, settings.scorer.name != SUPPORT, *_SCORER),
        ("extract.extractor", settings.extract.extractor, settings.extract.extractor == "paper", *_PAPER),
        ("browser.always", "true", settings.browser.always, *_BROWSER),
    ):
        if is_needed and not all(map(is_installed, packages)):
            yield Check(f"packages for {setting}", "missing", f"{value} needs them", install_command(extra))


def _faiss() -> Check:
    # A partly removed distribution has no name.
    names = (distribution.metadata["Name"] or "" for distribution in importlib.metadata.distributions())
    installed = [name for name in names if name.lower().startswith("faiss-")]
    if len(installed) > 1:
        fix = "They share a module name: pip uninstall one of them."
        return Check("FAISS", "warning", ", ".join(sorted(installed)), fix)
    return Check("FAISS", "ok", installed[0] if installed else "not installed (optional)")


def _weights(settings: Settings) -> Iterator[Check]:
    from citewell.core.models.catalog import catalog
    from citewell.core.models.installed import installed_path, package_file
    from citewell.core.weights import locate, verify
    from citewell.generator import resolve
    from citewell.generator.auto import EXTRACTIVE, OPENAI, resolve_auto
    from citewell.retriever.encoder.resolve import packaged_base

    models = catalog()
    wanted = [model.name for model in models.values() if model.automatic]
    wanted += [model.name for model in models.values() if not model.base and installed_path(model.name)]
    wanted.append(packaged_base(settings.retriever.encoder))
    with suppress(CitewellError):  # which the check of the generator tells
        generator = resolve_auto(settings.generator).settings.name
        if generator != EXTRACTIVE and not generator.startswith(OPENAI):
            wanted.append(resolve.packaged_base(generator))
    trained = (settings.scorer.name, settings.browser.policy, settings.retriever.reader)
    wanted += [models[name].base for name in trained if name in models]
    for name in filter(None, dict.fromkeys(wanted)):
        try:
            weights = locate(name)
            verify(name, remembered=True)
        except WeightsMissingError as error:
            if models[name].archive_sha256 and package_file(models[name]):
                yield Check(f"weights of {name}", "ok", "installed, unpacked at their first use")
                continue
            at_once = "They are downloaded at their first use. " if models[name].automatic else ""
            yield Check(f"weights of {name}", "warning", error.message, f"{at_once}{error.hint}")
        except CitewellError as error:
            yield Check(f"weights of {name}", "missing", error.message, error.hint)
        else:
            place = "installed, SHA-256 verified" if name in models else str(weights.path or "on the hub")
            yield Check(f"weights of {name}", "ok", place)


def _trained(settings: Settings) -> Iterator[Check]:
    """Which of the trained models that settings name by a folder or a hub id are not there."""
    from citewell.browser.policies.opening import RANDOM, SCRIPTED, policy_folder
    from citewell.cli.commands.browse import HUMAN
    from citewell.core.models.catalog import catalog
    from citewell.core.weights import locate
    from citewell.generator.auto import OPENAI
    from citewell.generator.resolve import resolve
    from citewell.scorer.load import scorer_folder
    from citewell.scorer.scorer import SUPPORT

    def find_policy(name: str) -> object:
        return policy_folder(name) or name.startswith(OPENAI) or resolve(name)

    def find_reranker(name: str) -> object:
        return locate(name, role="reranker")

    untrained = {"none", SUPPORT, SCRIPTED, RANDOM, HUMAN, *catalog()}
    for setting, name, find in (
        ("retriever.reader", settings.retriever.reader, find_reranker),
        ("retriever.reranker", settings.retriever.reranker, find_reranker),
        ("scorer.name", settings.scorer.name, scorer_folder),
        ("browser.policy", settings.browser.policy, find_policy),
    ):
        if name not in untrained:
            try:
                find(name)
            except CitewellError as error:
                yield Check(setting, "missing", error.message, error.hint)


def _converted(settings: Settings) -> Check:
    """Whether the converted weights are those that were built."""
    from citewell.core.build_cache import changed_files

    places = settings.cache_dir.expanduser() / "models"
    passing = {".partial", ".compiled", ".read"}
    folders = [one for one in places.glob("*") if one.is_dir() and one.suffix not in passing]
    changed = [f"{one.name}/{file}" for one in folders for file in changed_files(one)]
    if changed:
        fix = "They are built again when they are next used."
        return Check("converted weights", "warning", f"changed: {', '.join(changed[:5])}", fix)
    return Check("converted weights", "ok", f"{len(folders)} in {places}, SHA-256 verified")


def _generator(settings: Settings) -> Check:
    """Which generator writes, which `auto` decides."""
    from citewell.generator.auto import AUTO, resolve_auto

    try:
        chosen, advice = resolve_auto(settings.generator)
    except CitewellError as error:
        return Check("generator", "missing", error.message, error.hint)
    is_auto = settings.generator.name == AUTO
    return Check("generator", "ok", f"{chosen.name}, chosen by auto" if is_auto else chosen.name, advice)


def _folders(settings: Settings) -> Iterator[Check]:
    for name, folder in (("collections", settings.data_dir), ("cache", settings.cache_dir)):
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        free = shutil.disk_usage(existing).free
        found = f"{folder}, {free / 1e9:.1f} GB free"
        if not (existing.is_dir() and os.access(existing, os.W_OK)):
            variable = "DATA_DIR" if name == "collections" else "CACHE_DIR"
            fix = f"Set CITEWELL_{variable} to a writable folder."
            yield Check(f"folder of {name}", "missing", f"{folder} is not writable", fix)
        elif free < _SPACE_BYTES:
            yield Check(f"folder of {name}", "warning", found, "Free some space: 0.5 GB is needed.")
        elif name == "collections" and existing == folder and is_open_to_others(folder):
            found += "; other users of this computer have rights on it"
            yield Check(f"folder of {name}", "warning", found, f"chmod 700 {shlex.quote(str(folder))}")
        else:
            yield Check(f"folder of {name}", "ok", found)


def _cache(settings: Settings) -> Check:
    """Size and location of the cache of web pages."""
    from citewell.pipeline.cache import page_store
    from citewell.retriever.fetch.cache.store import CacheUsage

    if not settings.fetch.cache:
        return Check("cache of web pages", "ok", "turned off by fetch.cache")

    async def usage() -> CacheUsage:
        store = page_store(settings)
        try:
            return await store.usage()
        finally:
            await store.close()

    try:
        held = running.run(usage())
    except CitewellError as error:
        # Only a warning: Citewell answers without a cache.
        return Check("cache of web pages", "warning", error.message, error.hint)
    found = (
        f"{held.place}, {held.entries:,} entries in "
        f"{held.bytes / 1e6:,.1f} of {held.most_bytes / 1e6:,.0f} MB"
    )
    return Check("cache of web pages", "ok", found)


def _renderer(settings: Settings) -> Check:
    """Whether pages can be rendered; an error only if the settings ask for it."""
    from citewell.retriever.fetch.render import find_chromium

    try:
        chromium = find_chromium(settings.fetch.chromium)
    except CitewellError as error:
        if settings.fetch.render == "never":
            return Check("rendering", "ok", f"not available (optional): {error.message}")
        return Check("rendering", "missing", error.message, error.hint)
    return Check("rendering", "ok", f"{chromium}, Playwright {importlib.metadata.version('playwright')}")


def _collections(settings: Settings) -> Iterator[Check]:
    from citewell.pipeline.collections import catalog_of, collection_names

    try:
        names = collection_names(settings)
    except CitewellError as error:
        yield Check("collections", "missing", error.message, error.hint)
        return
    for name in names:
        try:
            pages = catalog_of(settings, name).open(name).count()
        except CitewellError as error:
            yield Check(f"collection {name}", "missing", error.message, error.hint)
        else:
            yield Check(f"collection {name}", "ok", f"{pages:,} pages")


def _keys(settings: Settings) -> Iterator[Check]:
    """Which search providers have an API key. The keys themselves are never shown."""
    from citewell.pipeline.chosen_providers import keys_of
    from citewell.retriever.search.keys import KEYS

    for name, keys in KEYS.items():
        values = keys_of(name, settings.search)
        absent = [key.variables[0] for key, value in zip(keys.needed, values, strict=True) if not value]
        missing = f"not set (optional): {' and '.join(absent)}"
        yield Check(f"key of {name}", "ok", missing if absent else "set")


def _search(settings: Settings) -> Iterator[Check]:
    """Send a test query to each of the configured providers."""
    from citewell.pipeline.chosen_providers import chosen_providers, searches_the_world

    try:
        names = chosen_providers(settings.search)
    except CitewellError as error:
        yield Check("search", "missing", error.message, error.hint)
        return
    for name in names:
        search = settings.search.model_copy(update={"providers": (name,)})
        named = settings.model_copy(update={"search": search})
        yield running.run(_answers(name, named, optional=searches_the_world(settings.search)))


async def _answers(name: str, settings: Settings, *, optional: bool) -> Check:
    from citewell.pipeline.providers import OFFLINE, open_search
    from citewell.retriever.search.query import Query

    try:
        async with open_search(settings) as search:
            found = await search.metasearch.search(Query("test", 1))
    except CitewellError as error:
        if optional:
            return Check(f"search with {name}", "warning", error.message, OFFLINE)
        return Check(f"search with {name}", "missing", error.message, error.hint)
    return Check(f"search with {name}", "ok", f"reachable, {len(found.hits)} hit(s) for a test query")
