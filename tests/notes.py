"""Eight notes, a collection of them, and settings that search it: fixtures for conftest.py files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citewell.core.settings import Settings, load_settings
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source

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
