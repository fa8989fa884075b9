"""What a question searches, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.core.settings import Settings
from citewell.pipeline.collections import HANDBOOK
from citewell.pipeline.providers import chosen_providers, is_about_citewell, searches_the_world

_OF_CITEWELL = (
    "How does Citewell check a citation?",
    "How do I ask about my own documents?",
    "Can several people use Citewell?",
)
_OF_THE_WORLD = ("Why is the sky blue?", "Who was Ada Lovelace?", "How does Citewell check a citation?")
_NAMES = {
    "searxng": "SearXNG",
    "wikipedia": "Wikipedia",
    "ddgs": "DuckDuckGo",
    "brave": "Brave",
    "tavily": "Tavily",
    "serpapi": "SerpApi",
    "google": "Google",
    "bing": "Bing",
}


def set_up(settings: Settings) -> str:
    """Return the words for what is searched if a question does not say."""
    words = _joined(chosen_providers(settings.search), settings.search.collection)
    return f"{words}; the handbook about Citewell" if searches_the_world(settings.search) else words


def examples(settings: Settings) -> tuple[str, ...]:
    """Return questions that what is set up can answer; none for a collection of the owner's."""
    if "collection" not in chosen_providers(settings.search):
        return _OF_THE_WORLD
    return _OF_CITEWELL if settings.search.collection == HANDBOOK else ()


def searched(settings: Settings, options: Mapping[str, Any], question: str) -> str:
    """Return the words for what a question with these options searched."""
    collection, search = options.get("collection"), options.get("search")
    if not collection and not search:
        is_own = searches_the_world(settings.search) and is_about_citewell(question)
        meant = ("collection",) if is_own else chosen_providers(settings.search)
        return _joined(meant, settings.search.collection)
    providers = ["collection"] if collection else []
    if search == "wikipedia":
        providers.append(search)
    elif search:
        chosen = chosen_providers(settings.search)
        providers += [name for name in chosen if name not in ("collection", "wikipedia")]
    return _joined(providers, str(collection))


def chosen(options: Mapping[str, Any]) -> str:
    """Return the value of the picker that stands for the options of a question."""
    collection = options.get("collection")
    return f"collection:{collection}" if collection else str(options.get("search") or "")


def _joined(providers: Any, collection: str) -> str:
    own = "Citewell's handbook" if collection == HANDBOOK else f"the collection {collection}"
    return ", ".join(own if name == "collection" else _NAMES.get(name, name) for name in providers)
