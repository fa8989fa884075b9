"""The folder of data is of its user alone, also where an earlier version or another umask left it open."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from citewell.core.paths import data_dir, is_open_to_others, make_private_folder
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")


@pytest.fixture
def default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default folder of data, which everybody can enter, with a collection in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    folder = data_dir()
    assert folder.is_relative_to(tmp_path)
    for each in (folder, folder / "collections", folder / "collections" / "notes"):
        each.mkdir(parents=True)
        each.chmod(0o755)
    return folder


def rights(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_the_default_folder_is_closed_to_others_when_it_is_written(default: Path) -> None:
    with EmbeddedCatalog(default).writing("notes"):
        pass
    collections = default / "collections"
    assert [rights(each) for each in (default, collections, collections / "notes")] == [0o700] * 3
    assert rights(default.parent) != 0o700


def test_a_folder_that_somebody_named_stays_as_it_is(default: Path, tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.mkdir()
    named.chmod(0o750)
    make_private_folder(named)
    assert rights(named) == 0o750
    assert is_open_to_others(named)
    make_private_folder(default.parent)
    assert rights(default.parent) != 0o700


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_stays_as_it_is(default: Path) -> None:
    os.chown(default, 12345, 12345)
    make_private_folder(default)
    assert rights(default) == 0o755
