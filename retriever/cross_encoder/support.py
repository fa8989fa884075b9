"""The reader of support: the probability that a passage supports a claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from citewell.core.errors import ModelError
from citewell.core.logistic import sigmoid
from citewell.core.text import split_sentences
from citewell.core.windows import Windows
from citewell.retriever.cross_encoder.form import read_cross_encoder_form
from citewell.retriever.cross_encoder.load import PooledCrossEncoder, load_cross_encoder
from citewell.retriever.cross_encoder.resolve import trained_folder


class SupportReader:
    """A cross-encoder that reads claims, with its probabilities calibrated.

    They are those of a set in which half of the claims are supported.
    """

    def __init__(self, model: PooledCrossEncoder, slope: float, shift: float) -> None:
        """A probability is that of the logit `slope` × score + `shift`."""
        self.name = model.name
        self.fingerprint = model.fingerprint
        self._model = model
        self._slope = slope
        self._shift = shift

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that the text of each pair of a claim and a text supports the claim.

        N numbers. Each sentence of a claim is read with the text's best window for it
        (`citewell.core.windows`), and the least supported one counts. Equal sentences are read once, and all
        pairs together.
        """
        windows = {text: Windows(text) for text in dict.fromkeys(text for _, text in pairs)}
        read = [
            [(sentence, windows[text].best(sentence)) for sentence in split_sentences(claim)]
            for claim, text in pairs
        ]
        distinct = list(dict.fromkeys(each for claim in read for each in claim if each[1].strip()))
        found = sigmoid(self._slope * self._model.pair_scores(distinct) + self._shift)
        known = dict(zip(distinct, found.tolist(), strict=True))
        return [min((known.get(each, 0.0) for each in claim), default=0.0) for claim in read]


def load_support_reader(
    name: str,
    cache_dir: Path,
    *,
    threads: int,
    on_step: Callable[[str, str], None] = lambda name, step: None,
) -> SupportReader:
    """Load the reader `name`, which is the folder of one trained on claims.

    Raises `ModelError` for a model that is missing, damaged, or was not trained on claims.
    """
    folder = trained_folder(name)
    form = folder and read_cross_encoder_form(folder)
    if not form or form.calibration is None:
        raise ModelError(
            f"The model {name} is not a reader of support.",
            "Train one: citewell train reranker recipes/support/citewell-support.toml --out FOLDER",
        )
    model = load_cross_encoder(name, cache_dir, threads=threads, on_step=on_step)
    assert isinstance(model, PooledCrossEncoder)  # as of every folder with a form
    return SupportReader(model, *form.calibration)
