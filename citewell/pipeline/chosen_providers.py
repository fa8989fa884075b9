"""The names of the search providers that the settings choose."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from citewell.core.errors import InputError
from citewell.core.settings import SearchSettings
from citewell.retriever.search.keys import BING_ENDPOINT_VARIABLE, KEYS

AUTO = "auto"
PROVIDERS = (
    "collection",
    "searxng",
    "wikipedia",
    "ddgs",
    "brave",
    "tavily",
    "serpapi",
    "google",
    "bing",
)

OF_COLLECTION = "collection:"
"""What the provider of a named collection begins with."""

_CITEWELL = re.compile(r"\bcitewell\b", re.IGNORECASE)


def searches_the_world(wanted: SearchSettings) -> bool:
    """Return whether neither a collection nor only providers are named.

    Wikipedia and the web are searched then, and the handbook for questions about Citewell.
    """
    return "collection" not in wanted.model_fields_set and (not wanted.providers or AUTO in wanted.providers)


def is_about_citewell(question: str) -> bool:
    """Return whether a question names Citewell."""
    return bool(_CITEWELL.search(question))


def chosen_providers(wanted: SearchSettings, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the providers of the settings, with `auto` replaced by its meaning.

    `collection:NAME` is a collection, and `collection` that of `search.collection`.

    `auto` is the collection where one is named; else Wikipedia, and before it the first provider of `KEYS`
    that has its keys, or the Bing-compatible endpoint or the SearXNG instance whose address is set.
    """
    known = (*PROVIDERS, AUTO)
    if unknown := [n for n in wanted.providers if n not in known and not n.startswith(OF_COLLECTION)]:
        raise InputError(
            f"Unknown search provider {unknown[0]!r}.",
            f"Use one or more of {', '.join(PROVIDERS)}, {OF_COLLECTION}NAME, or auto.",
        )
    names = [
        meant.removesuffix(f":{wanted.collection}") if meant.startswith(OF_COLLECTION) else meant
        for name in wanted.providers or (AUTO,)
        for meant in (_auto(wanted, environment) if name == AUTO else (name,))
    ]
    return tuple(dict.fromkeys(names))


def searched_collections(providers: Iterable[str], wanted: SearchSettings) -> tuple[str, ...]:
    """Return the names of the collections that some of the chosen providers search."""
    return tuple(
        wanted.collection if name == "collection" else name.removeprefix(OF_COLLECTION)
        for name in providers
        if is_collection(name)
    )


def web_providers(providers: Iterable[str]) -> tuple[str, ...]:
    """Return those of the chosen providers that search the web."""
    return tuple(name for name in providers if name != "wikipedia" and not is_collection(name))


def is_collection(provider: str) -> bool:
    """Return whether the name of a provider is that of the collection, or `collection:NAME`."""
    return provider == "collection" or provider.startswith(OF_COLLECTION)


def _auto(wanted: SearchSettings, environment: Mapping[str, str]) -> tuple[str, ...]:
    if "collection" in wanted.model_fields_set:
        return ("collection",)
    for name in KEYS:
        if all(keys_of(name, wanted, environment)):
            return (name, "wikipedia")
    if bing_endpoint(wanted, environment):
        return ("bing", "wikipedia")
    return ("searxng", "wikipedia") if wanted.searxng_url else ("wikipedia",)


def keys_of(
    name: str, wanted: SearchSettings, environment: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return the keys of a provider of `KEYS`, empty if they are not set."""
    return tuple(key.found_in(text_of(wanted, key.setting), environment) for key in KEYS[name].needed)


def bing_endpoint(wanted: SearchSettings, environment: Mapping[str, str]) -> str:
    """Return the address of the Bing-compatible endpoint, empty if it is not set."""
    return wanted.bing_endpoint or environment.get(BING_ENDPOINT_VARIABLE, "").strip()


def text_of(wanted: SearchSettings, name: str) -> str:
    """Return the setting `name` as text, also where it is secret."""
    value = getattr(wanted, name)
    return value if isinstance(value, str) else str(value.get_secret_value())
