"""The plan: what is seen when, and that it never depends on anything but the seed."""

from __future__ import annotations

from collections import Counter

from citewell.retriever.training.config import EncoderTrainingConfig
from citewell.retriever.training.plan import plan
from citewell.retriever.training.rows import LabeledRow, RowSource


def rows(count: int, passages: int) -> tuple[LabeledRow, ...]:
    texts = tuple(f"p{number}" for number in range(passages))
    return tuple(
        LabeledRow(f"q{number}", texts, tuple(map(float, range(passages)))) for number in range(count)
    )


def config(**changes: int) -> EncoderTrainingConfig:
    return EncoderTrainingConfig(batch=4, list_size=5).model_copy(update=changes)


SOURCES = [RowSource("a", rows(10, 3)), RowSource("b", rows(3, 20), repeat=2)]


def test_every_question_is_seen_in_every_epoch_as_often_as_its_source_says() -> None:
    batches = plan(SOURCES, config(epochs=2, seed=0))
    seen = Counter((batch.source, draw.row) for batch in batches for draw in batch.draws)
    assert seen == {(0, row): 2 for row in range(10)} | {(1, row): 4 for row in range(3)}
    assert all(len({draw.row for draw in batch.draws}) == len(batch.draws) <= 4 for batch in batches)


def test_long_lists_are_seen_in_parts_that_hold_the_best_passage() -> None:
    batches = plan(SOURCES, config(epochs=2, seed=0))
    parts = [draw.passages for batch in batches if batch.source == 1 for draw in batch.draws if draw.row == 0]
    assert all(len(set(part)) == 5 and 19 in part for part in parts)
    assert len(set(parts)) > 1
    assert all(draw.passages == (0, 1, 2) for batch in batches if batch.source == 0 for draw in batch.draws)


def test_the_seed_decides() -> None:
    first = plan(SOURCES, config(epochs=1, seed=0))
    assert plan(SOURCES, config(epochs=1, seed=0)) == first
    assert plan(SOURCES, config(epochs=1, seed=1)) != first
    assert plan(SOURCES, config(epochs=9, seed=0, steps=2)) == first[:2]
