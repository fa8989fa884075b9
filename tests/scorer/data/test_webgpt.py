from __future__ import annotations

from pathlib import Path

import pytest

from citewell.scorer.data.reading import read_comparisons
from tests.scorer.data.files import write


def row(score: object, other: object) -> dict[str, object]:
    return {
        "question": {"dataset": "eli5", "id": "1", "full_text": "Why?"},
        "quotes_0": {"title": ["Sky"], "extract": ["Light is scattered."]},
        "answer_0": "Scattering [1].",
        "score_0": score,
        "quotes_1": {"title": [], "extract": []},
        "answer_1": "Paint.",
        "score_1": other,
    }


@pytest.mark.parametrize(
    ("score", "preference"), [(1.0, 1.0), (1 / 3, 1.0), (0.0, 0.5), (-0.2, 0.0), (-1, 0.0)]
)
def test_only_the_sign_of_a_score_counts_and_zero_is_a_tie(
    tmp_path: Path, score: float, preference: float
) -> None:
    data = read_comparisons(write(tmp_path, [row(score, -score)]))
    (found,) = data.comparisons
    assert (found.question, found.preference) == ("Why?", preference)
    assert found.both_references == (("Light is scattered.",), ())
    assert data.funnel["ties"] == (preference == 0.5)


@pytest.mark.parametrize(("score", "other"), [(2, -2), (0.5, 0.5), (float("nan"), 0), (None, 0)])
def test_scores_that_cannot_be_are_told(tmp_path: Path, score: object, other: object) -> None:
    data = read_comparisons(write(tmp_path, [row(score, other), row(1, -1)]))
    assert [each.kind for each in data.problems] == ["no_number"]
    assert len(data.comparisons) == 1
