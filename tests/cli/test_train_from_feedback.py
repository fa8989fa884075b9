"""`citewell train answers --from-feedback`, from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.server.store.judged import write_store


def test_too_little_feedback_is_refused(trainer: Cli, tmp_path: Path) -> None:
    url, out = write_store(tmp_path / "store.sqlite3", 12), tmp_path / "never"
    result = trainer.run("train", "answers", "--from-feedback", "--database", url, "--out", out)
    assert result.code == 2
    assert "There is too little feedback to learn from: " in result.err
    assert "comparisons of at least 100" in result.err
    assert "pinned questions with references of at least 20" in result.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "Either RECIPE or --from-feedback is required"),
        (["recipe.toml", "--force"], "require --from-feedback"),
    ],
)
def test_options_that_do_not_go_together(
    trainer: Cli, tmp_path: Path, options: list[str], problem: str
) -> None:
    result = trainer.run("train", "answers", *options, "--out", tmp_path / "never")
    assert result.code == 2
    assert problem in result.err
