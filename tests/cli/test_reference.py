from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from citewell.bootstrap.recipe import Recipe as BootstrapRecipe
from citewell.cli.main import COMMANDS
from citewell.cli.recipe_reference import TRAINING, models_of, recipes_reference
from citewell.cli.reference import MARK, REFERENCES, cli_reference, main, renew, settings_reference
from citewell.core.errors import InputError
from citewell.core.settings import setting_names

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", REFERENCES)
def test_page_says_what_the_code_does(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == renew(page, REFERENCES[name]()), (
        f"{name} is out of date: run python -m citewell.cli.reference"
    )


def test_every_setting_has_a_row_with_its_meaning() -> None:
    rows = [line for line in settings_reference().splitlines() if line.startswith("| `")]
    for name, meaning in setting_names().items():
        assert any(row.startswith(f"| `{name}` |") and row.endswith(f"| {meaning} |") for row in rows), name
    assert len(rows) == len(setting_names())


@pytest.mark.parametrize(
    "row",
    [
        "| `retriever.k` | `5` | 1 to 20 |",
        "| `fetch.deadline` | `5.0` | > 0 |",
        "| `fetch.allow_networks` | none | networks |",
        "| `citations.drop_unsupported` | `false` | true or false |",
        "| `threads` | number of CPU cores | ≥ 1 |",
        "| `generator.frequency_penalty` | none | 0 to 2 |",
        "| `generator.demonstration` | none | true or false |",
        "| `data` | none | folder |",
    ],
)
def test_rows_name_defaults_and_the_values_that_are_allowed(row: str) -> None:
    assert row in settings_reference()


def test_help_is_what_the_command_line_prints() -> None:
    program = "import sys; from citewell.cli.main import main; main(sys.argv[1:])"
    page = " ".join(cli_reference().split())
    for command in COMMANDS:
        call = [sys.executable, "-c", program, command, "--help"]
        printed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
        about, _, options = printed.partition("Options:\n")
        assert " ".join(about.split()) in page
        for option in re.split(r"\n(?=  -)", options.partition("\n\n")[0]):
            assert " ".join(option.split()) in page or "--help" in option, (command, option)


def test_an_option_that_many_commands_share_is_explained_once() -> None:
    page = cli_reference()
    assert page.count("--deny-domains DOMAINS") == 1
    assert "`--deny-domains`" in page.partition("## citewell search")[2].partition("##")[0]


@pytest.mark.parametrize("recipe", [*TRAINING.values(), BootstrapRecipe])
def test_every_key_of_a_recipe_is_listed_with_its_meaning(recipe: type[BaseModel]) -> None:
    page = recipes_reference()

    def check(model: type[BaseModel]) -> None:
        for name, field in model.model_fields.items():
            for inner in models_of(field.annotation):
                check(inner)
            if field.description:
                assert re.search(rf"[`.]{name}` \|", page), name
                assert field.description in page, name

    check(recipe)
    assert "| `learning_rate` |" in page


def test_pages_do_not_depend_on_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = [render() for render in REFERENCES.values()]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("CITEWELL_RETRIEVER__K", "7")
    assert [render() for render in REFERENCES.values()] == before


def test_prose_above_the_mark_is_kept(tmp_path: Path) -> None:
    for name in REFERENCES:
        (tmp_path / name).write_text(f"# Mine\n\nProse.\n\n{MARK}\n\nOld.\n", encoding="utf-8")
    main(tmp_path)
    page = (tmp_path / "cli.md").read_text(encoding="utf-8")
    assert page == f"# Mine\n\nProse.\n\n{MARK}\n\n{cli_reference()}\n"


def test_page_without_the_mark_is_refused() -> None:
    with pytest.raises(InputError, match="no place for its reference"):
        renew("# Settings\n", settings_reference())
