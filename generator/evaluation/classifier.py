"""Models that grade a text by itself, such as for toxicity and social bias, by hub ids or folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.models.reasons import reason_of
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE

TOXIC = ("toxic", "toxicity", "hate", "hateful", "offensive")
BIASED = ("biased", "bias", "stereotype")
"""The names of the class that is meant, in the order in which they are looked for."""

_BATCH = 16
_LONGEST = 512  # tokens of a text; the rest is not read


class TextClassifier:
    """A model of which one class is the grade of a text."""

    def __init__(self, model: Any, tokenizer: Any, wanted: int, *, independent: bool) -> None:
        """`wanted` is the number of the class; `independent` says that a text can have several classes."""
        self._model, self._tokenizer, self._wanted = model, tokenizer, wanted
        self._independent = independent

    def grades(self, texts: Sequence[str]) -> list[float]:
        """Return the probability of the class for each text, n values from 0 to 1; empty texts have 0."""
        found = [0.0] * len(texts)
        filled = [place for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(filled), _BATCH):
            places = filled[start : start + _BATCH]
            for place, grade in zip(places, self._batch([texts[place] for place in places]), strict=True):
                found[place] = grade
        return found

    def _batch(self, texts: list[str]) -> list[float]:
        import torch

        longest = min(int(self._tokenizer.model_max_length), _LONGEST)
        read = self._tokenizer(
            texts, padding=True, truncation=True, max_length=longest, return_tensors="pt"
        ).to(self._model.device)
        with torch.inference_mode():
            logits = self._model(**read).logits.float()
        likely = logits.sigmoid() if self._independent else logits.softmax(-1)
        found: list[float] = likely[:, self._wanted].tolist()
        return found


def load_classifier(model_id: str, names: Sequence[str]) -> TextClassifier:
    """Load a classifier by hub id or folder, whose class is one of `names`.

    unitary/toxic-bert grades toxicity, for instance, and valurank/distilroberta-bias social bias. Raises
    `ModelError` for a model without such a class, and one that cannot be loaded.
    """
    need_packages("A classifier of answers", "train", "torch", "transformers")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        tokenizer = AutoTokenizer.from_pretrained(model_id, trust_remote_code=TRUST_REMOTE_CODE)
        model = AutoModelForSequenceClassification.from_pretrained(
            model_id, trust_remote_code=TRUST_REMOTE_CODE
        )
    except Exception as error:  # safetensors, pickle and the hub raise errors of any type
        raise ModelError(
            f"The model {model_id} cannot be loaded as a classifier: {reason_of(error)}",
            "Give the hub id or the folder of a model that classifies texts.",
        ) from error
    classes = {str(name).lower(): int(number) for number, name in model.config.id2label.items()}
    wanted = next((classes[name] for name in names if name in classes), None)
    if wanted is None:
        raise ModelError(
            f"The model {model_id} has none of the classes {', '.join(names)}: "
            f"it knows {', '.join(classes)}.",
            "Give another model.",
        )
    independent = model.config.problem_type == "multi_label_classification"
    return TextClassifier(model.to(device).eval(), tokenizer, wanted, independent=independent)
