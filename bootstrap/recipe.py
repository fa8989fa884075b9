"""The recipe of a run: the keys that decide outcomes, and those that do not."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from citewell.bootstrap.config import BootstrapConfig, DatasetConfig
from citewell.bootstrap.ray_engine import RayConfig
from citewell.core.errors import SettingsError
from citewell.core.recipe import load_recipe
from citewell.core.settings import Settings

HANDBOOK = "docs/recipes.md"

# Keys that change the speed of a run, but not its outcomes.
_OPERATION: Mapping[str, Any] = {
    "teacher": {"concurrency", "requests_a_minute", "tokens_a_minute"},
    "run": True,
    "dataset": True,
    "ray": True,
}


class Recipe(BootstrapConfig):
    """A bootstrap, its engine and its data set."""

    dataset: DatasetConfig = DatasetConfig()
    ray: RayConfig = RayConfig()

    def decisive(self) -> dict[str, Any]:
        """Return the keys on which outcomes depend, as plain values; a resumed run must have the same."""
        return self.model_dump(mode="json", exclude=dict(_OPERATION))

    def for_each_worker(self) -> Recipe:
        """Return the recipe of one of several workers, which share the limits of a service."""
        limits = ("requests_a_minute", "tokens_a_minute")
        most = {name: getattr(self.teacher, name) for name in limits}
        shares = {name: limit and limit / self.ray.workers for name, limit in most.items()}
        return self.model_copy(update={"teacher": self.teacher.model_copy(update=shares)})


class Divided(NamedTuple):
    """Values by dotted name: those of the recipe and those of the settings."""

    recipe: dict[str, Any]
    settings: dict[str, Any]


def read_recipe(file: Path | None, assignments: Mapping[str, Any]) -> Recipe:
    """Return the recipe of a TOML file, or the default one, with overrides by dotted name.

    Raises `InputError` for an unknown key or a wrong value in the file, `SettingsError` in an override.
    """
    return with_values(Recipe() if file is None else load_recipe(Recipe, file, HANDBOOK), assignments)


def with_values(recipe: Recipe, assignments: Mapping[str, Any]) -> Recipe:
    """Return the recipe with overrides by dotted name; raises `SettingsError` for a bad one."""
    values = recipe.model_dump()
    for name, value in assignments.items():
        section, _, key = name.partition(".")
        if key not in values[section]:
            close = difflib.get_close_matches(key, values[section], n=1, cutoff=0.0)
            raise SettingsError(
                f"There is no key {name}.", f"Did you mean {section}.{close[0]}? {HANDBOOK} lists all keys."
            )
        is_none = value == "" and _may_be_none(type(getattr(recipe, section)), key)
        values[section][key] = None if is_none else value
    try:
        return Recipe(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        problem = f"{place}: {message[0].lower()}{message[1:]}." if place else f"{message}."
        raise SettingsError(problem, f"{HANDBOOK} lists all keys.") from error


def _may_be_none(section: type[BaseModel], key: str) -> bool:
    return type(None) in get_args(section.model_fields[key].annotation)


def divide(values: Mapping[str, Any]) -> Divided:
    """Separate values of the recipe, such as `filters.cited`, from those of Citewell's settings.

    Raises `SettingsError` for an unknown section that resembles one of the recipe.
    """
    divided = Divided({}, {})
    for name, value in values.items():
        section, dot, key = name.partition(".")
        if section in Recipe.model_fields:
            divided.recipe[name] = value
            continue
        known = [*Recipe.model_fields, *Settings.model_fields]
        close = difflib.get_close_matches(section, known, n=1)
        if section not in known and close and close[0] in Recipe.model_fields:
            raise SettingsError(
                f"There is no key {name}.", f"Did you mean {close[0]}{dot}{key}? {HANDBOOK} lists all keys."
            )
        divided.settings[name] = value
    return divided
