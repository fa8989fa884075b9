"""How the command line starts: at once, and with the settings of file, environment and flags."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.cli.main import COMMANDS

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

HEAVY = ("aiohttp", "numpy", "openvino", "pydantic", "tantivy", "tokenizers", "torch", "transformers")


@pytest.mark.alone
def test_help_names_every_command_and_is_there_at_once(cli: Cli) -> None:
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        code, out, err = cli.run("--help")
        seconds.append(time.perf_counter() - started)
        assert (code, err) == (0, "")
    assert min(seconds) <= 0.5
    for name, meaning in COMMANDS.items():
        assert f"  {name}" in out
        assert meaning in out
    assert cli.run("-h").out == out


def test_version_is_the_installed_one(cli: Cli) -> None:
    from importlib.metadata import version

    assert cli.run("--version") == (0, f"citewell {version('citewell')}\n", "")


def test_starting_imports_no_heavy_library() -> None:
    program = f"import citewell.cli.main, sys; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_imports_no_heavy_library(command: str) -> None:
    program = (
        "import sys\nfrom citewell.cli.main import main\n"
        f"try: main(['{command}', '--help'])\n"
        f"finally: sys.stderr.write(str([n for n in {HEAVY} if n in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]"


def test_flag_wins_over_environment_over_file(cli: Cli, tmp_path: Path) -> None:
    def searched(*flags: str, **env: str) -> str:
        code, _, err = cli.run(*config, "retrieve", "What?", *flags, env=env)
        assert code == 2
        return err.split("'")[1]

    config: tuple[str, ...] = ()
    (tmp_path / "citewell.toml").write_text('[search]\ncollection = "from-file"\n')
    assert searched() == "from-file"
    variable = {"CITEWELL_SEARCH__COLLECTION": "from-environment"}
    assert searched(**variable) == "from-environment"
    assert searched("--collection", "from-flag", **variable) == "from-flag"
    assert searched("--set", "search.collection=from-set", **variable) == "from-set"
    (tmp_path / "other.toml").write_text('[search]\ncollection = "from-other"\n')
    assert searched(CITEWELL_CONFIG="other.toml") == "from-other"
    config = ("--config", "other.toml")
    assert searched() == "from-other"


@pytest.mark.parametrize("place", ["file", "environment", "flag"])
def test_unknown_setting_is_named_with_the_nearest_one(cli: Cli, tmp_path: Path, place: str) -> None:
    if place == "file":
        (tmp_path / "citewell.toml").write_text("[retriever]\nkk = 3\n")
    code, out, err = cli.run(
        *("retrieve", "What?", "--collection", "notes"),
        *(("--set", "retriever.kk=3") if place == "flag" else ()),
        env={"CITEWELL_RETRIEVER__KK": "3"} if place == "environment" else {},
    )
    assert (code, out) == (2, "")
    nearest = "CITEWELL_RETRIEVER__K" if place == "environment" else "retriever.k"
    assert "CITEWELL_RETRIEVER__KK" in err if place == "environment" else "'retriever.kk'" in err
    assert f"Did you mean {nearest}?" in err
    assert "Traceback" not in err


def test_the_shell_completes_commands_options_and_values(cli: Cli) -> None:
    """By the line that the handbook gives, in a real bash."""
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^eval .*_CITEWELL_COMPLETE.*$", page, re.M)
    script = (
        line
        + """
for words in "citewell retr" "citewell ask --rec" "citewell ask --recency w"; do
    COMP_WORDS=($words) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _citewell_completion citewell "${COMP_WORDS[-1]}"
    echo "${COMPREPLY[@]}"
done
"""
    )
    env = cli.env | {"PATH": f"{Path(cli.command).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["retrieve", "--recency", "week"]
