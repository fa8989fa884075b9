"""The recipe of a cross-encoder, and questions as people type them."""

from __future__ import annotations

import random
from pathlib import Path

from citewell.retriever.cross_encoder.training.config import load_config
from citewell.retriever.cross_encoder.training.typed import as_typed

RECIPES = Path(__file__).parents[3] / "recipes"


def test_the_recipe_can_be_read() -> None:
    config = load_config(RECIPES / "reranker.toml")
    assert all(source.license for source in (*config.data, *config.dev))
    assert all((RECIPES / name).is_file() for name in config.excluded)


def test_questions_as_people_type_them() -> None:
    chance = random.Random(0)
    seen = {as_typed("What is the capital of  France?", chance) for _ in range(20)}
    assert seen == {"what is the capital of france", "capital france"}
    assert {as_typed("Why?", chance) for _ in range(9)} == {"why"}
