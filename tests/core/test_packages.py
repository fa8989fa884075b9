"""A package that is missing is named, with the command that installs it, however Citewell was installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citewell.core.errors import InputError
from citewell.core.packages import install_command, need_packages


@pytest.mark.parametrize("name", ["nosuchpackage", "nosuchpackage.within", "json.nosuchmodule"])
def test_a_missing_package_is_named(name: str) -> None:
    with pytest.raises(InputError, match=f"The service needs the package {name}") as caught:
        need_packages("The service", "server", "json", name)
    assert caught.value.hint == install_command("server")


def test_a_package_is_named_as_it_is_installed() -> None:
    with pytest.raises(InputError, match="the package no-such-package,"):
        need_packages("Training", "train", "no_such_package")


def _installed(site: Path, origin: dict[str, Any] | None, patch: pytest.MonkeyPatch) -> None:
    """Put what pip leaves of an installation before all others on the path."""
    info = site / "citewell-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: citewell\nVersion: 0.1.0\n")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))
    patch.syspath_prepend(str(site))


def test_the_command_names_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    editable = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    _installed(tmp_path / "site", editable, monkeypatch)
    assert install_command("server", "redis").endswith(f" install -e '{checkout}[server,redis]'")


def test_the_command_names_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "citewell-0.1.0-py3-none-any.whl"
    wheel.touch()
    _installed(tmp_path / "site", {"url": wheel.as_uri(), "archive_info": {}}, monkeypatch)
    assert install_command("train").endswith(f" install '{wheel}[train]'")
    wheel.unlink()
    assert f"'{wheel.name}[train]' in the folder" in install_command("train")


def test_the_command_names_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://example.org/citewell.git"
    _installed(tmp_path / "site", {"url": url, "vcs_info": {"vcs": "git", "commit_id": "0"}}, monkeypatch)
    assert install_command("server").endswith(f" install 'citewell[server] @ git+{url}'")


def test_no_command_takes_the_name_from_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(tmp_path / "site", None, monkeypatch)
    assert install_command("server").endswith(" install '.[server]' in the folder of Citewell's source")
