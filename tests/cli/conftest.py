"""The command line in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from citewell.retriever.search.keys import KEYS
from tests.notes import notes, settings, shared_data
from tests.nursery import PIPE, Forked, Nursery, open_nursery

__all__ = ["notes", "settings", "shared_data"]


class Result(NamedTuple):
    """What a process left behind."""

    code: int
    out: str
    err: str

    def objects(self) -> list[Any]:
        """The JSON objects of standard output, one a line."""
        return [json.loads(line) for line in self.out.split("\n") if line]


@dataclass(frozen=True)
class Cli:
    """The `citewell` command with a data folder, run in a folder without settings of its own."""

    data_dir: Path
    folder: Path
    environment: Mapping[str, str]
    nursery: Nursery
    command: str = str(Path(sys.executable).with_name("citewell"))

    @property
    def env(self) -> dict[str, str]:
        return {**self.environment, "CITEWELL_DATA_DIR": str(self.data_dir)}

    def run(
        self,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        input: str | None = None,  # noqa: A002 - as in subprocess
        **options: Any,
    ) -> Result:
        """Run with `input` to the end; what is not UTF-8 in the output is an error.

        With `options` of `subprocess.run` or variables for Python, it is a process of its own from the start.
        """
        environment = self.env | dict(env or {})
        if options or any(name.startswith("PYTHON") for name in env or {}):
            done = subprocess.run(
                [self.command, *map(str, arguments)],
                env=environment,
                cwd=self.folder,
                input=input,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=120,
                **options,
            )
        else:
            done = self.nursery.run(
                "citewell.cli.main:main", *arguments, env=environment, cwd=self.folder, input=input
            )
        return Result(done.returncode, done.stdout, done.stderr)

    def begin(self, *arguments: str | Path) -> Forked:
        """Start in a process group of its own, with a pipe from standard error."""
        command = ("citewell.cli.main:main", *arguments)
        return self.nursery.start(*command, env=self.env, cwd=self.folder, stdout=None, stderr=PIPE)

    def start(self, *arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
        """Start in a process group of its own, as a shell does."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        return subprocess.Popen(
            [self.command, *map(str, arguments)],
            env=self.env,
            cwd=self.folder,
            start_new_session=True,
            **pipes,
        )


@pytest.fixture
def cli(shared_data: Path, minilm_folder: Path, cache: Path, tmp_path: Path, nursery: Nursery) -> Cli:
    """The command line with the collection `notes`, and the encoder's weights already converted."""
    keys = {variable for keys in KEYS.values() for key in keys.needed for variable in key.variables}
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CITEWELL_", "BING_")) and name not in keys
    }
    environment |= {"CITEWELL_CACHE_DIR": str(cache), "COLUMNS": "100", "LINES": "50"}
    environment["CITEWELL_FETCH__CACHE"] = "false"  # ports of test servers come back
    environment["CITEWELL_GENERATOR__NAME"] = os.environ["CITEWELL_GENERATOR__NAME"]
    return Cli(shared_data, tmp_path, environment, nursery)


@pytest.fixture(scope="session")
def training_nursery() -> Iterator[Nursery]:
    """Starts processes that have imported what training needs."""
    libraries = ("torch", "transformers", "peft", "trl", "sentence_transformers", "accelerate")
    for library in libraries:
        pytest.importorskip(library, reason="the extra `train` is not installed")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_nursery(Path(folder), ["citewell.cli.main", *libraries]) as nursery,
    ):
        yield nursery


@pytest.fixture
def trainer(cli: Cli, training_nursery: Nursery) -> Cli:
    """The command line for training."""
    return replace(cli, nursery=training_nursery)


@pytest.fixture
def fresh(cli: Cli, tmp_path: Path) -> Cli:
    """The command line with no collections yet."""
    return replace(cli, data_dir=tmp_path / "data")
