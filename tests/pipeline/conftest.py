"""A small collection, pages on a local server, and the command line in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from citewell.core.settings import Settings, load_settings
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source
from citewell.retriever.search.keys import KEYS
from tests.nursery import PIPE, Forked, Nursery, open_nursery

NOTES = {
    "bats": """# How bats find their way

Bats find their way in the dark by echolocation. A bat sends out short calls that are too high for human
ears, and it listens to the echoes that come back from trees and insects.

A hunting bat calls up to 200 times a second in the last moment before it catches a moth. The time between a
call and its echo tells the bat how far away the moth is.
""",
    "lighthouses": """# Lighthouses

A Fresnel lens gathers the light of a lighthouse lamp into a narrow beam. Augustin Fresnel built the first
one in 1823 for the lighthouse of Cordouan.

Lighthouse keepers wound the clockwork that turned the lens every few hours of the night.
""",
    "sourdough": """# Sourdough bread

Sourdough bread rises because wild yeast in the starter makes carbon dioxide. Lactic acid bacteria in the
same starter give the bread its sour taste.

A baker feeds the starter with flour and water once a day, so that the yeast stays active.
""",
    "tides": """# Tides

The tides are caused by the gravity of the Moon and, to a lesser degree, of the Sun. Most coasts have two
high tides and two low tides each day.

Spring tides happen at new moon and full moon, when the Sun and the Moon pull along one line.
""",
    "honey": """# Honey

Bees make honey from nectar, which they thicken by fanning it with their wings. Finished honey holds less
than 20 percent water, too little for microbes to grow.
""",
    "printing": """# Movable type

Movable type of metal was used in Korea in 1377 to print a Buddhist book called Jikji. Johannes Gutenberg
printed his Bible in Mainz around 1455.
""",
    "glass": """# Glass

Glass is made by melting sand with soda and lime at about 1500 degrees. Float glass is poured onto molten tin,
which makes both of its faces flat.
""",
    "whales": """# Whale song

Male humpback whales sing songs that last up to 30 minutes and repeat them for hours. All males of one
population sing the same song, which changes slowly from year to year.
""",
}
BATS = "How do bats find their way in the dark?"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Mapping[str, Handler]], Awaitable[str]]


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

    def run(self, *arguments: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> Result:
        """Run to the end; what is not UTF-8 in the output is an error.

        With `options` of `subprocess.run` or variables for Python, it is a process of its own from the start.
        """
        environment = self.env | dict(env or {})
        if options or any(name.startswith("PYTHON") for name in env or {}):
            done = subprocess.run(
                [self.command, *map(str, arguments)],
                env=environment,
                cwd=self.folder,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=120,
                **options,
            )
        else:
            done = self.nursery.run("citewell.cli.main:main", *arguments, env=environment, cwd=self.folder)
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


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of eight Markdown files."""
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def shared_data(tmp_path_factory: pytest.TempPathFactory, notes: Path) -> Path:
    """A data folder with the collection `notes`; not to be written to."""
    data_dir = tmp_path_factory.mktemp("data")
    with indexing(EmbeddedCatalog(data_dir), "notes") as indexer:
        report = index_documents(indexer, str(notes), read_source(notes))
    assert report.added == len(NOTES)
    return data_dir


@pytest.fixture
def settings(shared_data: Path) -> Callable[..., Settings]:
    """Settings that search `notes`; keyword arguments change them, as in `retriever__k=3`."""

    def make(**changes: Any) -> Settings:
        changed = {name.replace("__", "."): value for name, value in changes.items()}
        defaults = {"data_dir": shared_data, "search.collection": "notes", "threads": 2, "fetch.cache": False}
        return load_settings(defaults | changed)

    return make


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
