"""Which answers a language model judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.core.settings import load_settings
from citewell.generator.causal import Sampling
from citewell.generator.extractive import ExtractiveGenerator
from citewell.generator.local import LocalGenerator
from citewell.generator.transformers import open_transformers
from citewell.pipeline.choices import choose_judge
from tests.generator.tiny import write_tiny

GOOD_JUDGE = "qwen2.5-coder-1.5b"


@pytest.mark.parametrize(
    ("wanted", "writer", "judges"),
    [
        ("auto", GOOD_JUDGE, True),
        ("auto", "qwen2.5-coder-0.5b", False),  # in the catalog, but no better than shared words
        ("auto", "a-model-of-my-own", False),
        ("writer", "a-model-of-my-own", True),
        ("words", GOOD_JUDGE, False),
    ],
)
def test_a_writer_judges_itself_if_it_is_known_to_judge_well(
    wanted: str, writer: str, judges: bool, tmp_path: Path
) -> None:
    model = open_transformers(write_tiny(tmp_path), writer, threads=1)
    generator = LocalGenerator(model, writer, prompt_tokens=400, answer_tokens=20, sampling=Sampling(0, 0, 0))
    judge = choose_judge(load_settings({"citations.judge": wanted}), generator)
    assert (judge is not None) == judges
    assert judge is None or judge.name == writer


def test_quotations_are_not_judged() -> None:
    quoting = ExtractiveGenerator(
        lambda question, sentences: np.zeros(len(sentences)), sentences=3, split=lambda question: ()
    )
    assert choose_judge(load_settings({"citations.judge": "writer"}), quoting) is None
