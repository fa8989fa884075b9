from __future__ import annotations

from pathlib import Path

import pytest

from citewell.scorer.data.reading import read_comparisons
from tests.scorer.data.files import write


def test_a_ranking_is_all_of_its_pairs_which_weigh_one_together(tmp_path: Path) -> None:
    row = {"question": "Why?", "answers": ["c", "a", "b", "d"], "ranks": [3, 1, 2, 4], "references": ["r"]}
    (group,) = read_comparisons(write(tmp_path, [row])).groups
    pairs = [(each.first, each.second, each.preference) for each in group.comparisons]
    assert pairs == [(x, y, 1.0) for x, y in ("ab", "ac", "ad", "bc", "bd", "cd")]
    assert sum(each.weight for each in group.comparisons) == pytest.approx(1)
    assert {each.both_references for each in group.comparisons} == {(("r",), ("r",))}


def test_equal_ranks_are_ties_and_an_answer_is_not_compared_with_itself(tmp_path: Path) -> None:
    row = {"question": "Why?", "answers": ["a", "b", "b"], "ranks": [1, 1, 2]}
    data = read_comparisons(write(tmp_path, [row]))
    assert [(each.first, each.second, each.preference) for each in data.comparisons] == [
        ("a", "b", 0.5),
        ("a", "b", 1.0),
    ]
    assert data.funnel["ties"] == 1
    assert [each.kind for each in data.problems] == ["identical"]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"question": "Why?", "answers": ["a", "b"], "ranks": [1]}, "no_ranks"),
        ({"question": "Why?", "answers": ["a", "b"], "ranks": [1, None]}, "no_number"),
        ({"question": "Why?", "answers": ["a"], "ranks": [1]}, "one_answer"),
    ],
)
def test_bad_rankings_are_told(tmp_path: Path, row: dict[str, object], kind: str) -> None:
    good = {"question": "How?", "answers": ["a", "b"], "ranks": [1, 2]}
    data = read_comparisons(write(tmp_path, [row, good]))
    assert kind in [each.kind for each in data.problems]
    assert len(data.comparisons) == 1
