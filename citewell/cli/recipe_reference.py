"""The keys of all recipes, written from the code: one table per section, in which equal keys stand once."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from citewell.bootstrap.recipe import Recipe as BootstrapRecipe
from citewell.browser.training.config import PolicyRecipe
from citewell.core.section import Section
from citewell.generator.training.config import GeneratorRecipe
from citewell.generator.training.judge.config import JudgeRecipe
from citewell.reinforcement.browsing.config import BrowsingRecipe
from citewell.reinforcement.config import AnswersRecipe
from citewell.retriever.cross_encoder.training.config import RerankerRecipe
from citewell.retriever.training.config import EncoderRecipe
from citewell.scorer.training.config import ScorerRecipe

TRAINING: Mapping[str, type[Section]] = {
    "retriever": EncoderRecipe,
    "reranker": RerankerRecipe,
    "generator": GeneratorRecipe,
    "judge": JudgeRecipe,
    "scorer": ScorerRecipe,
    "policy": PolicyRecipe,
    "answers": AnswersRecipe,
    "browsing": BrowsingRecipe,
}
"""What each training command reads."""


def recipes_reference() -> str:
    """Render every key of every recipe with its default and its meaning, and who has it where not all do."""
    return "\n\n".join([*_tables(TRAINING, "Training"), f"## Bootstrap\n\n{_dotted(BootstrapRecipe)}"])


class _Key(NamedTuple):
    section: str
    owner: str
    name: str
    default: str
    meaning: str


class _KeyRow(NamedTuple):
    name: str
    default: str
    owners: tuple[str, ...]
    meaning: str


def _tables(recipes: Mapping[str, type[Section]], title: str) -> Iterator[str]:
    sections: dict[str, dict[_Key, None]] = {}
    for key in (key for recipe, model in recipes.items() for key in _keys(model, "", "", recipe)):
        sections.setdefault(key.section, {})[key] = None
    for section, keys in sections.items():
        training = re.sub(r"(?<=\[)dev\b", "data", section)
        known = (
            {key._replace(section=section) for key in sections[training]} if training != section else set()
        )
        own = [key for key in keys if key not in known]
        if not own:
            continue  # the heading of the equal section of the training data names it
        rows = _rows(own)
        owners = list(dict.fromkeys(key.owner for key in own))
        shared = all(set(row.owners) == set(owners) for row in rows)  # then the heading names them
        whose = f" the {' and the '.join(owners)}" if shared and len(owners) < len(recipes) else ""
        twin = re.sub(r"(?<=\[)data\b", "dev", section)
        equal = twin != section and {key._replace(section=twin) for key in keys} == set(sections[twin])
        note = f"The keys {_named(keys, known)} are those of `{training}`.\n\n" if known else ""
        name = f"`{section}`{f' and `{twin}`' if equal else ''}" if section else "outside the sections"
        yield f"## {title}{whose}: {name}\n\n{note}{_table(rows, None if shared else len(owners))}"


def _dotted(recipe: type[Section]) -> str:
    """Return all keys of a recipe in one table, named as `--set` names them."""
    found = _keys(recipe, "", "", "")
    names = [key._replace(name=f"{key.section.strip('[]')}.{key.name}".strip(".")) for key in found]
    return _table((_KeyRow(key.name, key.default, (), key.meaning) for key in names), None)


def _named(keys: Iterable[_Key], known: Container[_Key]) -> str:
    return ", ".join(dict.fromkeys(f"`{key.name}`" for key in keys if key in known))


def _rows(keys: Iterable[_Key]) -> list[_KeyRow]:
    """Return the rows of a table: equal keys of several recipes together, keys of one name side by side."""
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for key in keys:
        defaults = rows.setdefault((key.name, key.meaning), {})
        defaults.setdefault(key.default, []).append(key.owner)
    names = list(dict.fromkeys(name for name, _ in rows))
    found = []
    for (name, meaning), defaults in sorted(rows.items(), key=lambda row: names.index(row[0][0])):
        owners = tuple(dict.fromkeys(owner for each in defaults.values() for owner in each))
        default = next(iter(defaults))
        if len(defaults) > 1:
            default = "; ".join(f"{value} ({', '.join(each)})" for value, each in defaults.items())
        found.append(_KeyRow(name, default, owners, meaning))
    return found


def _table(rows: Iterable[_KeyRow], owners: int | None) -> str:
    """Return a Markdown table; `owners` is how many recipes have keys in it, None if all have each."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    if owners:
        lines = ["| key | default | of | meaning |", "|---|---|---|---|"]
    for row in rows:
        of = f" {'all' if len(row.owners) == owners else ', '.join(row.owners)} |" if owners else ""
        lines.append(f"| `{row.name}` | {row.default} |{of} {row.meaning} |")
    return "\n".join(lines)


def _keys(model: type[BaseModel], path: str, section: str, owner: str) -> Iterator[_Key]:
    """Each key with its section as TOML writes it; in a list of several kinds, the kind owns the key."""
    for name, field in model.model_fields.items():
        inner = list(models_of(field.annotation))
        below = f"{path}.{name}".strip(".")
        listed = f"[[{below}]]" if "tuple" in str(field.annotation) else f"[{below}]"
        for each in inner:
            kind = str(each.model_fields["name"].default) if len(inner) > 1 else owner
            yield from _keys(each, below, listed, kind)
        if not inner and field.description:
            yield _Key(section, owner, name, _default(field), field.description)


def models_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """The sections that an annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_of(part)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value in (None, (), "", {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{', '.join(map(str, value)) if isinstance(value, tuple) else value}`"
