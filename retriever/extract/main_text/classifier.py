"""The classifier of main text: two forests, the second of which reads the first's results around a piece."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.extract.main_text.features import Features, Floats, featurize
from citewell.retriever.extract.main_text.forest import Forest
from citewell.retriever.extract.main_text.frames import WordWeights

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout
    from citewell.retriever.extract.main_text.signs import Signs

MODEL = Path(__file__).parent / "model"
_NEIGHBORS = (1, 2, 3, -1, -2, -3)
_WINDOWS = (5, 12)  # pieces on either side


class Classifier(NamedTuple):
    """A trained classifier; `citewell train extractor` trains one.

    The first forest judges a piece by its features, the second by these and by the first's probabilities
    for its neighbors and containers (stacking, Wolpert 1992).
    """

    weights: WordWeights
    first: Forest
    second: Forest

    def probabilities(self, layout: PageLayout, signs: Signs) -> Floats:
        """Return the probability, 0 to 1, that each of `n` pieces is main text: (n,)."""
        features = featurize(layout, signs, self.weights)
        return self.second.probabilities(stacked(features, self.first.probabilities(features.values)))


def stacked(features: Features, guesses: Floats) -> Floats:
    """Return the input of the second forest, (n, d + 20): features, and the first's results nearby."""
    count = len(guesses)
    index = np.arange(count)
    sizes = features.sizes
    held = np.concatenate([[0.0], np.cumsum(guesses * sizes)])
    size = np.concatenate([[0.0], np.cumsum(sizes)])
    columns: list[NDArray[Any]] = [guesses]
    for frames in features.containers:
        first, last = features.first[frames], features.last[frames]
        columns.append((held[last] - held[first]) / (size[last] - size[first]))
    for places in _NEIGHBORS:
        column = np.full(count, -0.1, dtype=np.float32)
        if places > 0:
            column[places:] = guesses[:-places]
        else:
            column[:places] = guesses[-places:]
        columns.append(column)
    for width in _WINDOWS:
        low, high = np.maximum(0, index - width), np.minimum(count, index + width + 1)
        columns.append((held[high] - held[low]) / (size[high] - size[low]))
    of_kind = np.bincount(features.kinds, weights=sizes)
    kind = np.bincount(features.kinds, weights=guesses * sizes) / np.maximum(1e-6, of_kind)
    columns += [
        kind[features.kinds],
        np.maximum.accumulate(guesses),
        np.maximum.accumulate(guesses[::-1])[::-1],
        np.full(count, held[-1] / size[-1]),
        np.full(count, guesses.max()),
        held[:-1] / max(1e-6, held[-1]),
    ]
    rows = np.concatenate([features.values.T.ravel(), *columns], dtype=np.float32)
    return rows.reshape(-1, count).T


@cache
def packaged() -> Classifier:
    """Return the classifier that comes with Citewell."""
    return load(MODEL)


def load(folder: Path) -> Classifier:
    """Read a classifier that `save` wrote."""
    stored = json.loads((folder / "classifier.json").read_text(encoding="utf-8"))
    arrays = np.load(folder / "forests.npz", allow_pickle=False)
    first, second = (
        Forest(
            arrays[f"{name}_columns"].astype(np.int32),
            arrays[f"{name}_borders"],
            arrays[f"{name}_leaves"].astype(np.float32),
            stored["bias"][name],
        )
        for name in ("first", "second")
    )
    return Classifier(WordWeights(stored["names"], stored["words"]), first, second)


def save(classifier: Classifier, folder: Path) -> None:
    """Write a classifier into a folder, which is created if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[Any]] = {}
    forests = {"first": classifier.first, "second": classifier.second}
    for name, forest in forests.items():
        arrays[f"{name}_columns"] = forest.columns.astype(np.int16)
        arrays[f"{name}_borders"] = forest.borders
        arrays[f"{name}_leaves"] = forest.leaves.astype(np.float16)
    np.savez_compressed(folder / "forests.npz", **arrays)  # type: ignore[arg-type]
    stored = {
        "bias": {name: forest.bias for name, forest in forests.items()},
        "names": _rounded(classifier.weights.names),
        "words": _rounded(classifier.weights.words),
    }
    text = json.dumps(stored, ensure_ascii=False, indent=0, sort_keys=True)
    (folder / "classifier.json").write_text(text + "\n", encoding="utf-8")


def _rounded(weights: object) -> dict[str, float]:
    assert isinstance(weights, dict)
    return {word: round(value, 3) for word, value in weights.items()}
