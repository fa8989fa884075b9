"""Fitting of the classifier of main text to labeled pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citewell.core.errors import InputError
from citewell.core.progress import Log
from citewell.retriever.extract.main_text.classifier import Classifier, stacked
from citewell.retriever.extract.main_text.features import Features, Floats, featurize
from citewell.retriever.extract.main_text.forest import Forest
from citewell.retriever.extract.training.pages import LabeledPage, fold
from citewell.retriever.extract.training.words import weigh_words

if TYPE_CHECKING:
    from catboost import CatBoost

_WORDS, _GUESSES = "words", "guesses"  # what is split
_INNER = 4  # folds that keep the learning of words and first guesses apart from the pages that these describe
_SMALL_TEXT = 20  # words; pages with less main text have a lower weight


class TrainingSettings(NamedTuple):
    """Settings of fitting the forests, chosen by cross-validation on the training pages."""

    trees: int = 350
    depth: int = 6
    learning_rate: float = 0.07
    regularisation: float = 6.0
    seed: int = 0
    threads: int = 2


def fit(pages: Sequence[LabeledPage], settings: TrainingSettings, log: Log) -> Classifier:
    """Fit a classifier to labeled pages; the same pages and settings give the same classifier.

    The weights of words and the first forest that describe a training page are learned without its site;
    otherwise the second forest would trust them too much. Raises `InputError` if that leaves no pages.
    """
    if not all(inside for salt in (_WORDS, _GUESSES) for inside, _ in _splits(pages, salt)):
        raise InputError(
            "The pages are of too few sites.", "Give files with pages of more sites with --data."
        )
    log("measuring pages")
    features: list[Features] = [None] * len(pages)  # type: ignore[list-item]
    for inside, outside in _splits(pages, _WORDS):
        weights = weigh_words([pages[index] for index in inside])
        for index in outside:
            features[index] = featurize(pages[index].layout, pages[index].signs, weights)
    guesses: list[Floats] = [None] * len(pages)  # type: ignore[list-item]
    for number, (inside, outside) in enumerate(_splits(pages, _GUESSES), start=1):
        log(f"first forest, part {number} of {_INNER}")
        forest = _grow([features[i].values for i in inside], [pages[i] for i in inside], settings)
        for index in outside:
            guesses[index] = forest.probabilities(features[index].values)
    log("first forest")
    first = _grow([feature.values for feature in features], pages, settings)
    log("second forest")
    tables = [stacked(feature, guess) for feature, guess in zip(features, guesses, strict=True)]
    return Classifier(weigh_words(pages), first, _grow(tables, pages, settings))


def _splits(pages: Sequence[LabeledPage], salt: str) -> Iterator[tuple[list[int], list[int]]]:
    folds = [fold(page.group, _INNER, salt) for page in pages]
    for number in range(_INNER):
        yield (
            [index for index, place in enumerate(folds) if place != number],
            [index for index, place in enumerate(folds) if place == number],
        )


def _grow(tables: Sequence[Floats], pages: Sequence[LabeledPage], settings: TrainingSettings) -> Forest:
    from catboost import CatBoost, Pool

    pool = Pool(
        np.concatenate(tables),
        label=np.concatenate([page.labels for page in pages]),
        weight=np.concatenate([_importance(page) for page in pages]),
    )
    model = CatBoost(
        {
            "loss_function": "CrossEntropy",
            "iterations": settings.trees,
            "depth": settings.depth,
            "learning_rate": settings.learning_rate,
            "l2_leaf_reg": settings.regularisation,
            "random_seed": settings.seed,
            "thread_count": settings.threads,
            "border_count": 64,
            "rsm": 0.4,
            "bootstrap_type": "Bernoulli",
            "subsample": 0.7,
            "allow_writing_files": False,
            "verbose": False,
        }
    )
    model.fit(pool)
    return forest_of(model)


def _importance(page: LabeledPage) -> Floats:
    """Weight pieces by their share of the page's main text, so that every page counts the same."""
    main = max(_SMALL_TEXT, float(page.words[page.labels >= 0.5].sum()))
    shares: Floats = np.minimum((page.words + 1) / main, 1.0)
    return shares


def forest_of(model: CatBoost) -> Forest:
    """Read a fitted model's trees (https://catboost.ai/docs/en/concepts/export-model-tutorial)."""
    import json
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        stored = json.loads(file.read_text(encoding="utf-8"))
    column = {
        feature["feature_index"]: feature["flat_feature_index"]
        for feature in stored["features_info"]["float_features"]
    }
    trees = stored["oblivious_trees"]
    depth = max(len(tree["splits"]) for tree in trees)
    columns = np.zeros((depth, len(trees)), dtype=np.int32)
    borders = np.full((depth, len(trees)), np.inf, dtype=np.float32)  # a missing level: never above
    leaves = np.zeros((2**depth, len(trees)), dtype=np.float32)
    for index, tree in enumerate(trees):
        for level, split in enumerate(tree["splits"]):
            columns[level, index] = column[split["float_feature_index"]]
            borders[level, index] = split["border"]
        leaves[: len(tree["leaf_values"]), index] = tree["leaf_values"]
    scale, (bias,) = stored["scale_and_bias"]
    return Forest(columns, borders, leaves * scale, float(bias))
