"""The learning curve of scorers, over a made-up world in which people like kind answers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchmarks.scorer_learning import Point, curve, needed, write_test
from citewell.core.training.sources import DataFolders
from citewell.scorer.training.config import load_config
from citewell.scorer.training.sources import read_sources
from tests.scorer.training.made_up import write_recipe, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


def test_more_questions_teach_more(world: Path) -> None:
    recipe = write_recipe(world, "recipe.toml", probe=0.01)
    config = load_config(recipe)
    sources = read_sources(config, DataFolders(world), lambda line: None)
    few, many = curve(config, f"{world / 'bert'}:2", sources, (0.05, 1.0), 3, world / "cache")
    assert (len(few.accuracy), len(many.accuracy)) == (3, 1)
    assert many.questions == sum(len(source.groups) for source in sources.train)
    assert many.accuracy[0] > 0.8
    assert many.accuracy[0] > sum(few.accuracy) / 3
    assert len(many.matched) == 1


def test_the_rows_of_the_test_questions_are_written_as_they_stand(world: Path, tmp_path: Path) -> None:
    recipe = write_recipe(world, "recipe.toml", probe=0.01)
    config = load_config(recipe)
    sources = read_sources(config, DataFolders(world), lambda line: None)
    written = write_test(config, DataFolders(world), sources, tmp_path / "test.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "test.jsonl").read_text().splitlines()]
    assert written == len(rows)
    assert {row["question"] for row in rows} == {g.question for of in sources.test for g in of.groups}


def test_the_line_through_the_points_says_how_many_questions_are_needed() -> None:
    rising = [Point(100, [0.52, 0.54], [0.5]), Point(200, [0.55], [0.5]), Point(400, [0.57], [0.5])]
    assert needed(rising, 0.6) == pytest.approx(400 * 2**1.5)
    assert needed([Point(100, [0.55], []), Point(200, [0.54], [])], 0.6) == math.inf
