"""The names of collections."""

from __future__ import annotations

import re
from collections.abc import Iterable

from citewell.core.errors import CollectionError, InputError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_name(name: str) -> None:
    """Raise `InputError` if `name` is not valid for a collection."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is not a valid collection name.",
            "Use 1 to 64 letters, digits, dots, dashes and underscores; start with a letter or digit.",
        )


class UnknownCollectionError(CollectionError):
    """No collection has that name."""

    exit_code = InputError.exit_code


def missing_collection(name: str, known: Iterable[str]) -> UnknownCollectionError:
    """Return the error for a collection that does not exist; `known` are those that do."""
    return UnknownCollectionError(
        f"There is no collection {name!r} (there are: {', '.join(known) or 'none yet'}).",
        f"Create it: citewell index SOURCE --collection {name}",
    )
