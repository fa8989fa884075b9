"""The dev metrics: how well the current model predicts people's preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citewell.scorer.data.types import Comparison
from citewell.scorer.encode import InputTokenizer
from citewell.scorer.form import Pooling
from citewell.scorer.load import raw_of_rows
from citewell.scorer.training.measures import measure, scored
from citewell.scorer.training.sources import ComparisonSource


class ScorerDevSets:
    """Measures a model on comparisons, whose inputs are prepared once."""

    def __init__(
        self, sources: Sequence[ComparisonSource], encoder: InputTokenizer, pooling: Pooling
    ) -> None:
        self.sets: Mapping[str, Sequence[Comparison]] = {
            source.name: [comparison for group in source.groups for comparison in group.comparisons]
            for source in sources
        }
        self._encoder = encoder
        self._pooling = pooling

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons of all sets."""
        return [comparison for each in self.sets.values() for comparison in each]

    def measure(self, model: Any) -> dict[str, float]:
        """Return the measures over all comparisons, and the accuracy in each set if there are several.

        A set of ties alone has no accuracy.

        `model` has the parts `backbone` and `head`. `citewell.scorer.training.measures` defines the measures.
        """
        model.eval()
        logits = self.logits(model, self.comparisons)
        found = measure(scored(self.comparisons, logits))
        start = 0
        for name, comparisons in self.sets.items() if len(self.sets) > 1 else ():
            some = logits[start : start + len(comparisons)]
            start += len(comparisons)
            own = measure(scored(comparisons, some))
            found |= {f"accuracy_{name}": own["accuracy"]} if "accuracy" in own else {}
        return found

    def logits(self, model: Any, comparisons: Sequence[Comparison]) -> list[float]:
        """Return the uncalibrated score difference, first answer minus second, of each comparison."""
        texts = [
            (each.question, text, references)
            for each in comparisons
            for text, references in zip((each.first, each.second), each.both_references, strict=True)
        ]
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        rows = [self._encoder.encode(*text) for text in places]
        raw = raw_of_rows(model.backbone, model.head, self._encoder, rows, self._pooling)
        values = [raw[places[text]] for text in texts]
        return [first - second for first, second in zip(values[::2], values[1::2], strict=True)]
