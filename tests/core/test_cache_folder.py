"""The cache folder follows the settings, whatever was read before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from citewell.core.cache_folder import cache_folder
from citewell.core.file_sums import current_sha256, file_sha256


def test_it_follows_the_environment_the_file_and_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CITEWELL_CACHE_DIR", raising=False)
    monkeypatch.delenv("CITEWELL_CONFIG", raising=False)
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "citewell.toml").write_text(f'cache_dir = "/of/{name}"\n')
        monkeypatch.chdir(folder)
        assert cache_folder() == Path(f"/of/{name}")
    Path("citewell.toml").write_text('cache_dir = "/of/third"\n')
    assert cache_folder() == Path("/of/third")
    monkeypatch.setenv("CITEWELL_CACHE_DIR", "/of/the/environment")
    assert cache_folder() == Path("/of/the/environment")


def test_sums_are_read_again_when_a_file_changes_and_forgotten_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(tmp_path / "cache"))
    kept, gone = tmp_path / "kept", tmp_path / "gone"
    for text in ("one", "three"):
        for file in (kept, gone):
            file.write_text(text)
            assert current_sha256(file, remembered=True) == file_sha256(file)
            assert current_sha256(file, remembered=True) == file_sha256(file)
    gone.unlink()
    os.utime(kept, (1, 1))
    current_sha256(kept, remembered=True)
    remembered = (tmp_path / "cache" / "sums.json").read_text()
    assert str(kept) in remembered
    assert str(gone) not in remembered
