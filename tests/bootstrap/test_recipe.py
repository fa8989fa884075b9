from __future__ import annotations

from pathlib import Path

import pytest

from citewell.bootstrap.recipe import Divided, Recipe, divide, read_recipe, with_values
from citewell.core.errors import InputError, SettingsError


def test_a_file_and_assignments_over_it(tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text('[correction]\nmeasure = "rougeL"\n[filters]\ncited = 2\n')
    recipe = read_recipe(file, {"filters.cited": "3", "references.fill": "true"})
    assert (recipe.correction.least, recipe.filters.cited, recipe.references.fill) == (0.4, 3, True)
    assert read_recipe(None, {}) == Recipe()


def test_an_empty_value_is_none_where_a_key_may_be_none() -> None:
    recipe = read_recipe(None, {"correction.threshold": "0.6"})
    assert with_values(recipe, {"correction.threshold": ""}).correction.threshold is None
    with pytest.raises(SettingsError):
        with_values(recipe, {"filters.cited": ""})


def test_workers_share_the_limits_of_a_service() -> None:
    limits = {"teacher.requests_a_minute": "120", "ray.workers": "4"}
    teacher = read_recipe(None, limits).for_each_worker().teacher
    assert (teacher.requests_a_minute, teacher.tokens_a_minute) == (30, None)


def test_an_unknown_key_of_the_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text("[correction]\n\ntreshold = 0.5\n")
    with pytest.raises(InputError) as raised:
        read_recipe(file, {})
    assert "line 3: there is no key correction.treshold" in raised.value.message
    assert "threshold" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("filters.citd", "2", "Did you mean filters.cited?"),
        ("filters", "2", "There is no key filters."),
        ("filters.cited", "many", "filters.cited: "),
        ("filters.supported", "0.5", "filters.supported needs filters.reader"),
        ("filters.answers", "0.5", "filters.answers needs correction.judge"),
        ("teacher.samples", "0", "teacher.samples: "),
    ],
)
def test_a_wrong_assignment_is_named(name: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read_recipe(None, {name: value})
    assert told in str(raised.value)


def test_only_what_outcomes_depend_on_is_decisive() -> None:
    faster = {"teacher.concurrency": "64", "run.attempts": "5", "dataset.dev": "0.1", "ray.workers": "9"}
    assert read_recipe(None, faster).decisive() == Recipe().decisive()
    assert read_recipe(None, {"teacher.temperature": "1"}).decisive() != Recipe().decisive()


def test_sections_are_told_from_settings() -> None:
    found = divide({"filters.cited": "2", "retriever.k": None, "nonsense.k": "1"})
    assert found == Divided({"filters.cited": "2"}, {"retriever.k": None, "nonsense.k": "1"})
    with pytest.raises(SettingsError, match=r"no key filter\.cited") as raised:
        divide({"filter.cited": "2"})
    assert "filters.cited" in raised.value.hint
