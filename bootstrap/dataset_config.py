"""What a data set says of itself, and how its questions are divided: the section `[dataset]` of a run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from citewell.core.section import Section


def _patterns(value: Any) -> Any:
    """Names of files in one text, as `--set` has them, taken apart."""
    return value.replace(",", " ").split() if isinstance(value, str) else value


Patterns = Annotated[tuple[str, ...], BeforeValidator(_patterns)]


class DatasetConfig(Section):
    """Keys of the section `[dataset]`."""

    name: str = Field("Bootstrapped answers with citations", min_length=1, description="Name on the card.")
    licence: str = Field(
        "unknown", min_length=1, description="Licence of questions, references and answers, for the card."
    )
    dev: float = Field(0.05, ge=0, lt=0.5, description="Share of the questions in the split dev.")
    test: float = Field(0.05, ge=0, lt=0.5, description="Share of the questions in the split test.")
    near: float = Field(
        0.6, gt=0, le=1, description="Jaccard similarity of words from which two questions ask the same."
    )
    evaluation_sets: Patterns = Field(
        ("questions/*.jsonl.gz", "longform/alce_demos.jsonl.gz"),
        description="Files in CITEWELL_DATA whose questions are kept out of the data set.",
    )
    held_sets: Patterns = Field(
        ("longform/expertqa_train.jsonl.gz", "longform/pubmedqa.jsonl.gz", "qa_pairs/squad_dev.jsonl.gz"),
        description="Files in CITEWELL_DATA of which only those questions are kept out that evaluations of "
        "generators hold out.",
    )
