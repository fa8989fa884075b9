"""The choice on the page of a collection: the keys and accounts that may read it."""

from __future__ import annotations

from typing import NamedTuple

from citewell.server.services import Services
from citewell.server.work.sharing import active_names


class PossibleReader(NamedTuple):
    """A key or an account that may read a collection, or could; `kind` is the list that it belongs to."""

    kind: str
    name: str
    chosen: bool


async def possible_readers(services: Services, collection: str) -> list[PossibleReader]:
    """Return the keys and accounts that do not read every collection, and all present readers."""
    now = await services.shared.readers(collection)
    keys = [key for key in await services.store.get().keys.list() if "admin" not in key.scopes]
    given = services.settings.server.accounts
    accounts = {name for name, scopes in given.items() if "admin" not in scopes}
    return [
        *(PossibleReader("keys", name, name in now.keys) for name in sorted(active_names(keys) | now.keys)),
        *(PossibleReader("accounts", name, name in now.accounts) for name in sorted(accounts | now.accounts)),
    ]
