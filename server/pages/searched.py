"""What a question searches, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from citewell.core.settings import SearchSettings, Settings
from citewell.pipeline.chosen_providers import (
    OF_COLLECTION,
    chosen_providers,
    is_about_citewell,
    is_collection,
    searched_collections,
    searches_the_world,
)
from citewell.pipeline.collections import HANDBOOK
from citewell.server.access.authenticator import Caller
from citewell.server.services import Services
from citewell.server.store.errors import StoreError
from citewell.server.work.errors import NotReadyError
from citewell.server.work.options import listed
from citewell.server.work.places import TITLES, named_providers

_OF_CITEWELL = (
    "How does Citewell check a citation?",
    "How do I ask about my own documents?",
    "Can several people use Citewell?",
)
_OF_THE_WORLD = ("Why is the sky blue?", "Who was Ada Lovelace?", "How does Citewell check a citation?")


def set_up(settings: Settings, hidden: AbstractSet[str] = frozenset()) -> str:
    """Return the words for what is searched if a question does not say; `hidden` collections are left out."""
    providers = [
        name
        for name in chosen_providers(settings.search)
        if hidden.isdisjoint(searched_collections([name], settings.search))
    ]
    words = _joined(providers, settings) or "what is set up"
    return f"{words}; the handbook about Citewell" if searches_the_world(settings.search) else words


async def set_up_for(services: Services, caller: Caller | None = None) -> str:
    """Return the words of `set_up` for a caller, or without one for somebody unknown."""
    settings = services.settings
    own = frozenset(searched_collections(chosen_providers(settings.search), settings.search))
    try:
        hidden = await services.shared.hidden(caller) if own else own
    except (NotReadyError, StoreError):  # the page of a question stands without the database
        hidden = own - {HANDBOOK}
    return set_up(settings, hidden)


def examples(settings: Settings) -> tuple[str, ...]:
    """Return questions that what is set up can answer; none for a collection of the owner's."""
    own = searched_collections(chosen_providers(settings.search), settings.search)
    if not own:
        return _OF_THE_WORLD
    return _OF_CITEWELL if HANDBOOK in own else ()


def searched(settings: Settings, options: Mapping[str, Any], question: str) -> str:
    """Return the words for what a question with these options searched."""
    return _joined(_providers(settings, options, question), settings)


def needed_network(settings: Settings, options: Mapping[str, Any], question: str) -> bool:
    """Return whether a question with these options searched more than collections."""
    return not all(map(is_collection, _providers(settings, options, question)))


def _providers(settings: Settings, options: Mapping[str, Any], question: str) -> tuple[str, ...]:
    collection, search = listed(options.get("collection")), listed(options.get("search"))
    if not collection and not search:
        is_own = searches_the_world(settings.search) and is_about_citewell(question)
        return ("collection",) if is_own else chosen_providers(settings.search)
    return named_providers(collection, search, settings.search)


def chosen(options: Mapping[str, Any]) -> str:
    """Return the values of the picker, with spaces between, that stand for the options of a question."""
    named = (f"{OF_COLLECTION}{name}" for name in listed(options.get("collection")))
    return " ".join([*named, *listed(options.get("search"))])


def _joined(providers: Iterable[str], settings: Settings) -> str:
    return ", ".join(_words(name, settings.search) for name in providers)


def _words(provider: str, wanted: SearchSettings) -> str:
    names = searched_collections([provider], wanted)
    if not names:
        return TITLES.get(provider, provider)
    return "Citewell's handbook" if names[0] == HANDBOOK else f"the collection {names[0]}"
