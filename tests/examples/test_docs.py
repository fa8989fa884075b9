"""The documentation names what is there: commands, options, settings, models, extras and folders."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import click
import pytest

from citewell.bootstrap.recipe import Recipe
from citewell.cli.main import citewell as program
from citewell.core import errors
from citewell.core.settings import setting_names

ROOT = Path(__file__).parents[2]
PAGES = {
    page.name: page.read_text(encoding="utf-8") for page in (*ROOT.glob("docs/*.md"), *ROOT.glob("*.md"))
}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETTINGS = set(setting_names())
RECIPE = {f"{name}.{key}" for name, part in Recipe() for key in type(part).model_fields}
# Read from the environment, and not settings.
VARIABLES = {"CITEWELL_CONFIG", "CITEWELL_PORT"}
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    for name, text in PAGES.items():
        if name != "CHANGELOG.md":
            yield from ((name, code) for language, code in FENCE.findall(text) if language in languages)


def spans(text: str) -> list[str]:
    return [" ".join(span.split()) for span in SPAN.findall(FENCE.sub("", text))]


def calls() -> Iterator[tuple[str, list[str]]]:
    """Each call of the command line in the documentation, as a page and its arguments."""
    shell = [
        (name, line) for name, code in blocks("sh", "bash") for line in code.replace("\\\n", " ").splitlines()
    ]
    shell += [(name, span) for name, text in PAGES.items() if name != "CHANGELOG.md" for span in spans(text)]
    for name, line in shell:
        for part in re.split(r"[|;>]|&&", line):
            found = re.search(r"(?:^|[/ ])citewell ((?!\*)[a-z-].*)", part)
            if found and part.strip()[0] not in "#$":
                yield name, shlex.split(found[1].replace("…", "x"), comments=True)


CALLS = list(calls())


def test_there_are_calls() -> None:
    assert len(CALLS) > 100


@pytest.mark.parametrize(
    ("page", "words"), CALLS, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_call_names_a_command_and_its_options(page: str, words: list[str]) -> None:
    command: click.Command | None = program
    context = click.Context(program)
    if words[0] == "--config":
        words = words[2:] or ["--help"]
    while isinstance(command, click.Group) and words and (inner := command.get_command(context, words[0])):
        command, words = inner, words[1:]
    assert command is not program or words[0].startswith("-"), f"{page}: there is no command {words}"
    assert command is not None
    command.make_context("citewell", list(words), resilient_parsing=True)
    for name in (after for before, after in pairwise(words) if before == "--set"):
        assert name.partition("=")[0] in SETTINGS | RECIPE | {"NAME"}, page


@pytest.mark.parametrize("name", PAGES)
def test_settings_variables_and_modules_exist(name: str) -> None:
    if name == "CHANGELOG.md":
        return
    sections = {setting.partition(".")[0] for setting in SETTINGS if "." in setting}
    keys = {
        found
        for found in spans(PAGES[name])
        if re.fullmatch(rf"({'|'.join(sections)})\.(?!json|md|py)[a-z_]+( = .*)?", found)
    }
    assert {key.partition(" ")[0] for key in keys} <= SETTINGS | RECIPE
    known = VARIABLES | {f"CITEWELL_{setting.replace('.', '__').upper()}" for setting in SETTINGS}
    assert set(re.findall(r"(?<!_)CITEWELL_[A-Z_]*[A-Z]", PAGES[name])) <= known
    assert [
        module for module in re.findall(r"-m (benchmarks\.\w+)", PAGES[name]) if not find_spec(module)
    ] == []
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {span.split()[1] for span in spans(PAGES[name]) if span.startswith("make ")} <= targets


def test_python_blocks_compile() -> None:
    for name, code in blocks("python", "py"):
        if code.startswith(">>>"):
            examples = doctest.DocTestParser().get_examples(code, name)
            code = "\n".join(example.source for example in examples)
        compile(code, name, "exec")


def test_toml_and_json_blocks_can_be_read() -> None:
    for name, code in blocks("toml"):
        for key, value in tomllib.loads(code).items():
            keys = [f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key]
            assert set(keys) <= SETTINGS | RECIPE, name
    for _, code in blocks("json"):
        decoder = json.JSONDecoder()
        while code := code.strip():
            code = code[decoder.raw_decode(code)[1] :]


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Sphinx checks every link and anchor, and that each page is in the navigation."""
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    build = ["-m", "sphinx", "-W", "--keep-going", "-q", "-n", "-c", "deploy/handbook", "docs", str(tmp_path)]
    done = subprocess.run([sys.executable, *build], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "faq.html").is_file()


def test_every_shipped_model_is_named() -> None:
    folders = (
        "generator/adapters",
        "retriever/encoder/adapters",
        "retriever/cross_encoder/models",
        "scorer/models",
        "citewell/browser/adapters",
    )
    models = [model.name for folder in folders for model in (ROOT / folder).iterdir() if model.is_dir()]
    assert len(models) >= 4
    number = NUMBERS[len(models) + 1]  # and the extractor
    for page in ("models.md", "license.md"):
        assert [model for model in models if model not in PAGES[page]] == []
        assert f"ships {number} " in PAGES[page]
        assert "extractor" in PAGES[page] or "classifier of main text" in PAGES[page]


def test_every_extra_is_named() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert [extra for extra in extras if f"`{extra}`" not in PAGES["quickstart.md"]] == []
    named = {extra for text in PAGES.values() for extra in re.findall(r"the extra\s+`(\w+)`", text)}
    assert named <= set(extras)


def test_every_folder_at_the_top_is_named() -> None:
    passing = {"build", "dist", "shared"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    folders = {name for name in folders - passing if not name.endswith(".egg-info")}
    listed = set(re.findall(r"^    (\w+)/", PAGES["CONTRIBUTING.md"], re.MULTILINE))
    assert listed == folders
    inside = {path.name for path in (ROOT / "citewell").iterdir() if (path / "__init__.py").is_file()}
    assert [name for name in inside if name not in PAGES["CONTRIBUTING.md"]] == []


def test_the_tree_of_errors_is_that_of_the_code() -> None:
    def tree(kind: type, depth: int) -> Iterator[str]:
        yield "    " * depth + kind.__name__
        for inner in kind.__subclasses__():
            if inner.__module__ == errors.__name__:
                yield from tree(inner, depth + 1)

    assert "\n".join(tree(errors.CitewellError, 1)) in PAGES["CONTRIBUTING.md"]
