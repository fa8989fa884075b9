"""Recipes: TOML files that describe a run, checked before anything is read or computed."""

from __future__ import annotations

import difflib
import tomllib
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from citewell.core.errors import InputError
from citewell.core.section import Section

Part = int | str


Recipe = TypeVar("Recipe", bound=Section)


def load_recipe(kind: type[Recipe], file: Path, handbook: str) -> Recipe:
    """Read a recipe; raises `InputError` for what is missing, unknown or wrong in it.

    The error names the line of an unknown key, and the nearest known one. `handbook` is the page that lists
    all keys, for hints.
    """
    try:
        text = file.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"The recipe {file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not valid TOML: {error}.") from error
    try:
        return kind(**values)
    except ValidationError as error:
        first: Any = error.errors()[0]
        path = _without_tags(kind, first["loc"])
        where = f"{file}{_line(text, path)}"
        raise InputError(f"{where}: {_problem(first, path)}", _hint(kind, first, path, handbook)) from error


def _problem(first: Any, path: Sequence[Part]) -> str:
    place = _place(path)
    if first["type"] == "extra_forbidden":
        return f"there is no key {place}."
    if first["type"] == "missing":
        return f"the key {place} is missing."
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message[0].lower()}{message[1:]}." if place else f"{message}."


def _hint(kind: type[Section], first: Any, path: Sequence[Part], handbook: str) -> str:
    if first["type"] != "extra_forbidden":
        return f"{handbook} lists all keys."
    known = _keys(kind, first["loc"][:-1])
    close = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.0)
    return f"Did you mean {close[0]}? {handbook} lists all keys."


def _place(path: Sequence[Part]) -> str:
    """`data.0.files` as people count: `data[1].files`."""
    place = ""
    for part in path:
        if isinstance(part, int):
            place += f"[{part + 1}]"
        else:
            place += f".{part}" if place else part
    return place


def _line(text: str, path: Sequence[Part]) -> str:
    """`, line 7` where the last key of `path` stands in a TOML file, or nothing where it is not plain."""
    *outer, last = path if path and isinstance(path[-1], str) else [*path, ""]
    names = [part for part in outer if isinstance(part, str)]
    number = next((part for part in outer if isinstance(part, int)), 0)
    wanted, seen, current = ".".join(names), -1, ""
    for count, line in enumerate(text.splitlines(), 1):
        bare = line.split("#")[0].strip()
        if bare.startswith("["):
            current = bare.strip("[] \t")
            seen += current == wanted
            if current == f"{wanted}.{last}".strip("."):
                return f", line {count}"
        elif current == wanted and max(seen, 0) == number and bare.split("=")[0].strip(" \"'") == last:
            return f", line {count}"
    return ""


def _without_tags(kind: type[Section], path: Sequence[Part]) -> list[Part]:
    """`path` as the file has it: after the number in a list of several kinds, pydantic adds a kind's name."""
    kept: list[Part] = []
    section: Any = kind
    for part in path:
        union = _members(section)
        if isinstance(part, str) and len(union) > 1:
            section = next((model for model in union if _is_named(model, part)), section)
            continue
        kept.append(part)
        section = _inner(section, part)
    return kept


def _keys(kind: type[Section], path: Sequence[Part]) -> list[str]:
    """Return the keys that the section at pydantic's `path` has."""
    section: Any = kind
    for part in path:
        union = _members(section)
        if isinstance(part, str) and len(union) > 1:
            section = next(model for model in union if _is_named(model, part))
        else:
            section = _inner(section, part)
    return list(section.model_fields)


def _inner(section: Any, part: Part) -> Any:
    if isinstance(part, int):
        return get_args(section)[0] if get_args(section) else section
    fields = getattr(section, "model_fields", {})
    return fields[part].annotation if part in fields else None


def _is_named(model: Any, name: str) -> bool:
    fields = getattr(model, "model_fields", {})
    return "name" in fields and fields["name"].default == name


def _members(union: Any) -> tuple[Any, ...]:
    while get_origin(union) is Annotated:
        union = get_args(union)[0]
    return get_args(union) if get_origin(union) in (Union, types.UnionType) else (union,)
