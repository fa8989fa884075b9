"""The reference parts of the handbook, written from the code: `python -m citewell.cli.reference`.

A test fails while the pages say anything else than the code does, as in simonw/llm
(https://github.com/simonw/llm, which uses cog for this).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args

import click
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from citewell.cli.main import COMMANDS, citewell
from citewell.cli.recipe_reference import recipes_reference
from citewell.core.errors import InputError
from citewell.core.settings import Settings

MARK = "<!-- Below this line: written by `python -m citewell.cli.reference`. -->"
"""The line of a page under which everything is written from the code."""

_WIDTH = 100  # columns of a help text
_SHARED = 5  # commands that have an option from which on it is printed once, for all of them
_FEW = 3  # missing shared options from which on those that a command has are named
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
    """Render the help text of each command; the options that many commands share are printed once."""
    commands = list(_commands())
    seen = Counter(line for _, command, context in commands for line in _lines(command, context).values())
    shared = [line for line, times in seen.items() if times >= _SHARED]
    parts = ["## Shared options", _fenced(_definitions(shared))]
    for path, command, context in commands:
        lines = _lines(command, context)
        own = copy(command)
        own.add_help_option = command is citewell
        own.params = [option for option in command.params if lines.get(option) not in shared]
        text = own.get_help(context).partition("\n\nCommands:\n")[0]  # they follow
        parts += [f"{'###' if path.count(' ') > 1 else '##'} {path}", _fenced(text)]
        parts += _shared_of(set(lines.values()), shared)
    return "\n\n".join(parts)


def _shared_of(lines: Container[tuple[str, str]], shared: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence about the shared options that a command with the help `lines` has, if any."""
    has, lacks = [
        [f"`{line[0].split()[0]}`" for line in shared if (line in lines) is wanted]
        for wanted in (True, False)
    ]
    if has and len(lacks) < _FEW:
        yield f"All shared options except {', '.join(lacks)}." if lacks else "All shared options."
    elif has:
        yield f"Shared options: {', '.join(has)}."


REFERENCES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_reference,
    "cli.md": cli_reference,
    "recipes.md": recipes_reference,
}
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
    if field.default in (None, "", (), {}, SecretStr("")):
        return "none"
    if isinstance(field.default, tuple):
        return f"`{' '.join(map(str, field.default))}`"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def _values(field: FieldInfo) -> Iterator[str]:
    bounds = [bound for bound in field.metadata if isinstance(bound, Gt | Ge | Le)]
    if not bounds:
        kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
        only = isinstance(field.annotation, UnionType) and len(kinds) == 1
        annotation = kinds[0] if only else field.annotation
        yield _TYPES.get(annotation) or _kind(str(annotation))
    match bounds:
        case [Ge(least), Le(most)]:
            yield f"{least} to {most}"
            return
    for bound in bounds:
        match bound:
            case Gt(limit):
                yield f"> {limit}"
            case Ge(limit):
                yield f"≥ {limit}"
            case Le(limit):
                yield f"≤ {limit}"


def _kind(annotation: str) -> str:
    if annotation.startswith("dict"):
        return "table"
    if "Literal" in annotation:
        return ", ".join(f"`{value}`" for value in re.findall(r"'(\w+)'", annotation))
    if "Network" in annotation:
        return "networks"
    if "int" in annotation:
        return "integers"
    raise ValueError(f"No word for settings of the type {annotation}: give it one in _TYPES.")


def _commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    group = _context(citewell, None, "citewell")
    yield "citewell", citewell, group
    for name in COMMANDS:
        command = citewell.get_command(group, name)
        assert command is not None
        context = _context(command, group, name)
        yield f"citewell {name}", command, context
        for inner, part in command.commands.items() if isinstance(command, click.Group) else ():
            yield f"citewell {name} {inner}", part, _context(part, context, inner)


def _lines(command: click.Command, context: click.Context) -> dict[click.Parameter, tuple[str, str]]:
    """What the help says of each option: its names and its meaning."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    records = {option: option.get_help_record(context) for option in options}
    return {option: record for option, record in records.items() if record}


def _definitions(lines: Sequence[tuple[str, str]]) -> str:
    formatter = click.HelpFormatter(width=_WIDTH)
    formatter.write_dl(lines)
    return formatter.getvalue().rstrip()


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
