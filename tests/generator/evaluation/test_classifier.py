"""Classifiers of a hub grade texts by the class that is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.errors import ModelError
from citewell.generator.evaluation.classifier import BIASED, TOXIC, load_classifier
from tests.generator.evaluation.tiny import write_classifier

LIKELY = 0.987  # of a class whose logit is 5, and the others' 0


def test_the_class_that_is_meant_is_the_grade(tmp_path: Path) -> None:
    model = write_classifier(tmp_path / "toxic", ["neutral", "Toxic", "spam"], 1)
    grades = load_classifier(str(model), TOXIC).grades(["the sun is hot", "", "the moon " * 50])
    assert grades == pytest.approx([LIKELY, 0, LIKELY], abs=0.001)
    model = write_classifier(tmp_path / "bias", ["BIASED", "NEUTRAL"], 1)
    assert load_classifier(str(model), BIASED).grades(["the sun"])[0] < 0.01


def test_classes_of_their_own_do_not_share_the_probability(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "both", ["toxic", "threat"], 1)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"problem_type": "multi_label_classification"}))
    assert load_classifier(str(folder), TOXIC).grades(["the sun"]) == pytest.approx([0.5], abs=0.01)


def test_a_model_of_other_classes_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    model = write_classifier(tmp_path / "other", ["sports", "news"], 0)
    with pytest.raises(ModelError, match="knows sports, news"):
        load_classifier(str(model), TOXIC)
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(str(tmp_path / "nowhere"), TOXIC)
