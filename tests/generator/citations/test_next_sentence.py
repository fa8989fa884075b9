"""The sentence after the closest one, which is shown where no answer is sure."""

from __future__ import annotations

from citewell.core.types import Reference, Sentence
from citewell.generator.citations.next_sentence import with_next

LOG = Reference(2, "", "Log", "Engine ran hot off the cape. A plastic bag blocked the inlet. We sailed.", 1.0)
TABLE = Reference(3, "", "Berths", "Berth 4 is free.", 1.0)


def quoted(text: str, *numbers: int) -> Sentence:
    return Sentence(text, numbers, 1.0, supported=True)


HOT, BAG, BERTH = (
    quoted("Engine ran hot off the cape.", 2),
    quoted("A plastic bag blocked the inlet.", 2),
    quoted("Berth 4 is free.", 3),
)


def test_the_next_sentence_stands_after_the_first_one() -> None:
    assert with_next([HOT, BERTH], [LOG, TABLE]) == (HOT, BAG, BERTH)


def test_nothing_is_shown_twice() -> None:
    assert with_next([HOT, BAG], [LOG, TABLE]) == (HOT, BAG)


def test_a_heading_is_not_the_next_sentence() -> None:
    manual = Reference(
        2, "", "Manual", "Engine ran hot off the cape.\nLAMPS\nGreen means that it burns.", 1.0
    )
    assert with_next([HOT], [manual]) == (HOT,)


def test_what_has_no_next_sentence_stays() -> None:
    unsupported = quoted("Engine ran hot off the cape.")
    long = Reference(2, "", "", f"Engine ran hot off the cape. We {'sailed and ' * 40}slept.", 1.0)
    assert with_next([BERTH, HOT], [LOG, TABLE]) == (BERTH, HOT)
    assert with_next([HOT], [long]) == (HOT,)
    assert with_next([unsupported], [LOG]) == (unsupported,)
    assert with_next([], [LOG]) == ()
