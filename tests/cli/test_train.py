"""`citewell train`, from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.retriever.extract.html import read_html
from citewell.retriever.extract.main_text.classifier import load
from citewell.retriever.extract.training.card import CARD, MODEL_FILES, RECORD
from citewell.retriever.extract.training.cross_validation import checksum
from tests.cli.conftest import Cli
from tests.retriever.extract.training.made_up import made_up_page, write_made_up_pages

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_made_up_pages(tmp_path_factory.mktemp("pages") / "made_up-00.jsonl.gz")


def test_an_extractor_with_its_card(cli: Cli, pages: Path, tmp_path: Path) -> None:
    pytest.importorskip("catboost", reason="catboost, of the extra `train`, is not installed")
    env = {"CITEWELL_CACHE_DIR": str(tmp_path / "cache")}
    out = tmp_path / "model"
    result = cli.run("train", "extractor", "--data", pages, "--out", out, "--folds", "2", env=env)
    assert result.code == 0, result.err
    assert result.out.startswith("80 pages with text in 1 files.\n")
    assert "| made_up | all | 80 |" in result.out
    assert "fold 2 of 2: second forest" in result.err
    record = json.loads((out / RECORD).read_text())
    assert record["data"] == [
        {"name": pages.name, "sha256": checksum(pages), "pages": 80, "licenses": ["made up"]}
    ]
    assert record["model"] == {name: checksum(out / name) for name in MODEL_FILES}
    assert [score["pages"] for score in record["scores"]] == [80, 40, 40]
    card = (out / CARD).read_text()
    assert "made up" in card
    assert "--data made_up-00.jsonl.gz --folds 2" in card
    html = str(made_up_page(site=90, number=1)["html"])
    document = read_html(html.encode(), "text/html; charset=utf-8", "", load(out))
    assert len(document.blocks) == 3

    refused = cli.run("train", "extractor", "--data", pages, "--out", out, "--folds", "2", env=env)
    assert refused.code == 2
    assert f"{out} is not empty." in refused.err
    copy = tmp_path / "again"
    again = cli.run("train", "extractor", "--data", pages, "--out", copy, "--folds", "2", env=env)
    assert "fold" not in again.err, "what was fitted is kept"
    for name in MODEL_FILES:
        assert (copy / name).read_bytes() == (out / name).read_bytes()


def test_pages_of_one_site_are_too_few(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("catboost", reason="catboost, of the extra `train`, is not installed")
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(made_up_page(site=1, number=1)) + "\n", encoding="utf-8")
    for folds in ("0", "2"):
        out = tmp_path / f"model-{folds}"
        result = cli.run("train", "extractor", "--data", file, "--out", out, "--folds", folds)
        assert result.code == 2
        assert "The pages are of too few sites." in result.err


def test_without_data_it_says_how_to_name_some(cli: Cli, tmp_path: Path) -> None:
    result = cli.run("train", "extractor", "--out", tmp_path / "model", env={"CITEWELL_DATA": ""})
    assert result.code == 2
    assert "No pages to train on" in result.err
    assert "--data" in result.err
    assert not (tmp_path / "model").exists()


def test_one_fold_is_refused(cli: Cli, pages: Path, tmp_path: Path) -> None:
    result = cli.run("train", "extractor", "--data", pages, "--out", tmp_path / "model", "--folds", "1")
    assert result.code == 2
    assert "One fold leaves no page to train on." in result.err
