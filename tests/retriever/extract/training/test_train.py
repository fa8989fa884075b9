"""Training on made-up pages, with few and small trees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from citewell.retriever.extract.html import read_html
from citewell.retriever.extract.main_text.classifier import load, save
from citewell.retriever.extract.training.cross_validation import by_type, fold_classifiers, score_pages
from citewell.retriever.extract.training.pages import LabeledPage, read_pages
from citewell.retriever.extract.training.train import TrainingSettings, fit, forest_of
from citewell.retriever.extract.training.words import weigh_words
from tests.retriever.extract.training.made_up import made_up_page

catboost = pytest.importorskip("catboost", reason="catboost, of the extra `train`, is not installed")

SMALL = TrainingSettings(trees=20, depth=4, threads=2)
ROOT = Path(__file__).parents[4]
FIT = """
import sys
from pathlib import Path
from citewell.retriever.extract.main_text.classifier import save
from citewell.retriever.extract.training.pages import read_pages
from citewell.retriever.extract.training.train import TrainingSettings, fit
settings = TrainingSettings(trees=20, depth=4, threads=2)
save(fit(list(read_pages([Path(sys.argv[1])])), settings, lambda step: None), Path(sys.argv[2]))
"""


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="session")
def made_up_pages(made_up_file: Path) -> list[LabeledPage]:
    return list(read_pages([made_up_file]))


def test_it_learns_to_leave_out_what_surrounds_an_article(made_up_pages: list[LabeledPage]) -> None:
    classifier = fit(made_up_pages, SMALL, lambda step: None)
    row = made_up_page(site=77, number=1)
    document = read_html(str(row["html"]).encode(), "text/html; charset=utf-8", str(row["url"]), classifier)
    assert document.title == "About comets of the 77th shore"
    assert [block.text.split(" tells")[0] for block in document.blocks] == [
        "Paragraph 0",
        "Paragraph 1",
        "Paragraph 2",
    ]


def test_the_same_pages_give_the_same_bytes_in_every_process(made_up_file: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):  # of Python's hashes, which order its sets
        call = [sys.executable, "-c", FIT, made_up_file, tmp_path / seed]
        subprocess.run(call, check=True, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed})
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


def test_a_stored_classifier_judges_as_before(made_up_pages: list[LabeledPage], tmp_path: Path) -> None:
    classifier = fit(made_up_pages, SMALL, lambda step: None)
    save(classifier, tmp_path / "model")
    stored = load(tmp_path / "model")
    for page in made_up_pages[:10]:
        before = classifier.probabilities(page.layout, page.signs)
        after = stored.probabilities(page.layout, page.signs)
        assert np.allclose(before, after, atol=0.01)  # it is stored with fewer digits
    save(stored, tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "model")


@pytest.mark.parametrize("depth", [1, 6])
def test_a_forest_says_what_catboost_says(depth: int) -> None:
    draw = np.random.default_rng(0)
    values = draw.normal(size=(3000, 12)).astype(np.float32)
    values[:, 3] = np.round(values[:, 3])  # many rows on a border
    values[:, 7] = 0  # a column that no tree can use
    labels = (values[:, 0] + values[:, 3] * values[:, 5] > 0.3).astype(np.float32)
    model = catboost.CatBoost(
        {
            "loss_function": "CrossEntropy",
            "iterations": 40,
            "depth": depth,
            "verbose": False,
            "allow_writing_files": False,
            "thread_count": 2,
        }
    )
    model.fit(values, labels)
    expected = model.predict(values, prediction_type="Probability")[:, 1]
    assert np.allclose(forest_of(model).probabilities(values), expected, atol=1e-5)


def test_words_are_weighed_by_sites(made_up_pages: list[LabeledPage]) -> None:
    weights = weigh_words(made_up_pages)
    assert weights.names["article"] > 0.25
    assert weights.names["menu"] < -0.25
    assert weights.words["home"] < 0
    few = weigh_words([page for page in made_up_pages if page.group in ("site-1.example", "site-2.example")])
    assert not few.names, "a word of two sites may stand for these sites"


def test_cross_validation_scores_every_page_once_by_type(
    made_up_file: Path, made_up_pages: list[LabeledPage], tmp_path: Path
) -> None:
    classifiers = fold_classifiers([made_up_file], lambda: made_up_pages, SMALL, 2, tmp_path, print)
    groups = by_type(score_pages([made_up_file], classifiers))
    assert [(group.data_set, group.page_type, group.pages) for group in groups] == [
        ("made_up", "all", 80),
        ("made_up", "article", 40),
        ("made_up", "service", 40),
    ]
    assert groups[0].words.f1 > 0.9


def test_folds_that_were_fitted_before_are_not_fitted_again(
    made_up_file: Path, made_up_pages: list[LabeledPage], tmp_path: Path
) -> None:
    def fails() -> list[LabeledPage]:
        raise AssertionError("the pages are not needed")

    class StoppedError(Exception):
        pass

    def interrupt(step: str) -> None:
        if step.startswith("fold 2"):
            raise StoppedError

    with pytest.raises(StoppedError):
        fold_classifiers([made_up_file], lambda: made_up_pages, SMALL, 2, tmp_path, interrupt)
    steps: list[str] = []
    fold_classifiers([made_up_file], lambda: made_up_pages, SMALL, 2, tmp_path, steps.append)
    assert all(step.startswith("fold 2") for step in steps)
    fold_classifiers([made_up_file], fails, SMALL, 2, tmp_path, steps.append)
    other = SMALL._replace(seed=1)
    with pytest.raises(AssertionError, match="not needed"):  # other settings are another classifier
        fold_classifiers([made_up_file], fails, other, 2, tmp_path, steps.append)
