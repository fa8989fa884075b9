"""Who may read a collection that is not for everyone: keys and accounts, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from citewell.server.access.authenticator import Caller


@dataclass(frozen=True)
class Readers:
    """The names of the keys and accounts that may read a collection; without any, everyone may who may ask.

    A key that replaces a revoked one under the same name may read what that could.
    """

    keys: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()

    def include(self, caller: Caller) -> bool:
        """Return whether a caller may read the collection: one of them, or somebody who sees everything."""
        if caller.sees_all or not (self.keys or self.accounts):
            return True
        return caller.name in (self.keys if caller.account is None else self.accounts)


def hidden_from(caller: Caller | None, readers: Mapping[str, Readers]) -> frozenset[str]:
    """Return the collections that a caller, or without one somebody unknown, may not read."""
    return frozenset(name for name, each in readers.items() if caller is None or not each.include(caller))
