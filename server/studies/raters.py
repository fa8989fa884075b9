"""Who rates."""

from __future__ import annotations

from citewell.core.errors import InputError
from citewell.server.access.authenticator import Caller

_SCRIPT = "name scripted"


def rater_of(caller: Caller, name: str) -> str:
    """Return the rater: the key, or the given name if the service has no keys."""
    return f"key {caller.key_id}" if caller.key_id is not None else f"name {' '.join(name.split())}"


def named_rater(caller: Caller, name: str | None) -> str:
    """Return the rater; raises `InputError` if there is neither a key nor a name."""
    if caller.key_id is None and not (name or "").strip():
        raise InputError("There is no `rater`.", "Give any name, the same each time.")
    return rater_of(caller, name or "")


def is_script(rater: str) -> bool:
    """Return whether a rater is a program: its name begins with the word scripted."""
    return rater.casefold().startswith(_SCRIPT)
