"""The reference parts of the handbook, written from the code: `python -m citewell.cli.reference`.

A test fails while the pages say anything else than the code does, as in simonw/llm
(https://github.com/simonw/llm, which uses cog for this).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args

import click
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from citewell.cli.main import COMMANDS, citewell
from citewell.core.errors import InputError
from citewell.core.settings import Settings

MARK = "<!-- Below this line: written by `python -m citewell.cli.reference`. -->"
"""The line of a page under which everything is written from the code."""

_WIDTH = 100  # columns of a help text
_TYPES: Mapping[Any, str] = {
    int: "integer",
    float: "number",
    str: "text",
    SecretStr: "text",
    bool: "true or false",
    tuple[str, ...]: "names",
    Path: "folder",
}
# Defaults that differ between machines, in words.
_DEPENDING = {
    "data_dir": "the user's data folder",
    "cache_dir": "the user's cache folder",
    "threads": "number of CPU cores",
    "extract.workers": "number of CPU cores, at most 8",
}


def settings_reference() -> str:
    """Render every setting with its default, its values and its meaning: one Markdown table a section."""
    parts = []
    plain: dict[str, FieldInfo] = {}
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            assert section.__doc__ is not None
            about = section.__doc__.rstrip(".")
            rows = {f"{name}.{key}": value for key, value in section.model_fields.items()}
            parts += [f"## `[{name}]`: {about[0].lower()}{about[1:]}", _table(rows)]
        else:
            plain[name] = field
    return "\n\n".join([*parts, "## Without a section", _table(plain)])


def cli_reference() -> str:
    """Render the help texts of the command line and of each of its commands."""
    group = _context(citewell, None, "citewell")
    parts = ["## citewell", _fenced(citewell.get_help(group))]
    for name, purpose in COMMANDS.items():
        command = citewell.get_command(group, name)
        assert command is not None
        context = _context(command, group, name)
        parts += [f"## citewell {name}", purpose, _fenced(command.get_help(context))]
        for inner, part in command.commands.items() if isinstance(command, click.Group) else ():
            parts += [f"### citewell {name} {inner}", _fenced(part.get_help(_context(part, context, inner)))]
    return "\n\n".join(parts)


REFERENCES: Mapping[str, Callable[[], str]] = {"settings.md": settings_reference, "cli.md": cli_reference}
"""What stands under `MARK`, by the page's file name."""


def renew(page: str, reference: str) -> str:
    """The Markdown of `page` with `reference` under its mark; raises `InputError` where it has none."""
    prose, mark, _ = page.partition(MARK)
    if not mark:
        raise InputError("The page has no place for its reference.", f"Add the line: {MARK}")
    return f"{prose}{mark}\n\n{reference}\n"


def main(folder: Path) -> None:
    """Renew the reference parts of the handbook in `folder`."""
    for name, render in REFERENCES.items():
        file = folder / name
        file.write_text(renew(file.read_text(encoding="utf-8"), render()), encoding="utf-8")


def _table(fields: Mapping[str, FieldInfo]) -> str:
    rows = ["| setting | default | values | meaning |", "|---|---|---|---|"]
    for name, field in fields.items():
        values = ", ".join(_values(field))
        rows.append(f"| `{name}` | {_default(name, field)} | {values} | {field.description} |")
    return "\n".join(rows)


def _default(name: str, field: FieldInfo) -> str:
    if field.default_factory is not None:
        return _DEPENDING[name]
    if field.default in (None, "", (), SecretStr("")):
        return "none"
    if isinstance(field.default, tuple):
        return f"`{' '.join(map(str, field.default))}`"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def _values(field: FieldInfo) -> Iterator[str]:
    kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
    annotation = kinds[0] if isinstance(field.annotation, UnionType) and len(kinds) == 1 else field.annotation
    yield _TYPES.get(annotation) or _kind(str(annotation))
    for bound in field.metadata:
        match bound:
            case Gt(limit):
                yield f"> {limit}"
            case Ge(limit):
                yield f"≥ {limit}"
            case Le(limit):
                yield f"≤ {limit}"


def _kind(annotation: str) -> str:
    if "Literal" in annotation:
        return ", ".join(f"`{value}`" for value in re.findall(r"'(\w+)'", annotation))
    if "Network" in annotation:
        return "networks"
    if "int" in annotation:
        return "integers"
    raise ValueError(f"No word for settings of the type {annotation}: give it one in _TYPES.")


def _context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    return click.Context(
        command, parent=parent, info_name=name, terminal_width=_WIDTH, help_option_names=["-h", "--help"]
    )


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


if __name__ == "__main__":
    from citewell.pipeline.handbook import handbook_folder

    found = handbook_folder()
    if found is None:
        sys.exit("There is no docs folder beside the code.")
    main(found)
