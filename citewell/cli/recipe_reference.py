"""The keys of all recipes, written from the code: one table per section, in which equal keys stand once."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from citewell.bootstrap.recipe import Recipe as BootstrapRecipe
from citewell.browser.training.config import PolicyRecipe
from citewell.core.section import Section
from citewell.generator.training.config import GeneratorRecipe
from citewell.retriever.cross_encoder.training.config import RerankerRecipe
from citewell.retriever.training.config import EncoderRecipe
from citewell.scorer.training.config import ScorerRecipe

TRAINING: Mapping[str, type[Section]] = {
    "retriever": EncoderRecipe,
    "reranker": RerankerRecipe,
    "generator": GeneratorRecipe,
    "scorer": ScorerRecipe,
    "policy": PolicyRecipe,
}
"""What each training command reads."""


def recipes_reference() -> str:
    """Render every key of every recipe with its default and its meaning, and who has it where not all do."""
    parts = [*_tables(TRAINING, "Training"), *_tables({"bootstrap": BootstrapRecipe}, "Bootstrap")]
    return "\n\n".join(parts)


class _Key(NamedTuple):
    section: str
    owner: str
    name: str
    default: str
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
        owners = dict.fromkeys(key.owner for key in own)
        whose = f" the {next(iter(owners))}" if len(recipes) > len(owners) == 1 else ""
        twin = re.sub(r"(?<=\[)data\b", "dev", section)
        equal = twin != section and {key._replace(section=twin) for key in keys} == set(sections[twin])
        note = f"The keys {_named(keys, known)} are those of `{training}`.\n\n" if known else ""
        yield f"## {title}{whose}: `{section}`{f' and `{twin}`' if equal else ''}\n\n{note}{_table(own)}"


def _named(keys: Iterable[_Key], known: Container[_Key]) -> str:
    return ", ".join(dict.fromkeys(f"`{key.name}`" for key in keys if key in known))


def _table(keys: Sequence[_Key]) -> str:
    owners = dict.fromkeys(key.owner for key in keys)
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for key in keys:
        defaults = rows.setdefault((key.name, key.meaning), {})
        defaults.setdefault(key.default, []).append(key.owner)
    several = len(owners) > 1
    lines = [f"| key | default |{' of |' if several else ''} meaning |", "|---" * (4 if several else 3) + "|"]
    names = list(dict.fromkeys(name for name, _ in rows))
    for (name, meaning), defaults in sorted(rows.items(), key=lambda row: names.index(row[0][0])):
        whose = list(dict.fromkeys(owner for found in defaults.values() for owner in found))
        of = "all" if len(whose) == len(owners) else ", ".join(whose)
        default = next(iter(defaults))
        if len(defaults) > 1:
            default = "; ".join(f"{value} ({', '.join(found)})" for value, found in defaults.items())
        lines.append(f"| `{name}` | {default} |{f' {of} |' if several else ''} {meaning} |")
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
