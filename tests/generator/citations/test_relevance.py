"""When quotations may stand for an answer of which nothing is supported."""

from __future__ import annotations

import pytest

from citewell.generator.citations.relevance import are_quotable


@pytest.mark.parametrize(
    ("relevance", "logit", "quotable"),
    [
        (0.71, 1.1, True),
        (0.71, 0.9, False),
        (0.69, 3.0, False),
        (0.91, -1.9, True),
        (0.91, -2.1, False),
        (0.91, None, True),
        (0.89, None, False),
        (None, 3.0, False),
    ],
)
def test_the_reader_and_the_model_agree(relevance: float | None, logit: float | None, quotable: bool) -> None:
    assert are_quotable(relevance, logit) is quotable
