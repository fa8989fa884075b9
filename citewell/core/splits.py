"""Assigns questions to train, dev and test by a hash of their words, keeping near duplicates together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from citewell.core.near_duplicates import NearDuplicates
from citewell.core.text import words

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


class Shares(NamedTuple):
    """The shares of the dev and test splits, 0 to 1; the rest is for training."""

    dev: float
    test: float


class SplitAssignment(NamedTuple):
    """The split of a question, or None if it is near questions of several splits.

    `near` are the indices of the earlier questions that decided it.
    """

    split: Split | None
    near: tuple[int, ...] = ()


def assign_splits(questions: Sequence[str], shares: Shares, threshold: float) -> list[SplitAssignment]:
    """Assign splits so that questions of different splits have a similarity below `threshold`.

    A question joins the split of the earlier questions near it; without any, a hash of its words decides.
    One near questions of several splits joins none. Questions appended to the list never move earlier ones.
    """
    index = NearDuplicates(questions, threshold)
    assigned: list[SplitAssignment] = []
    for number, question in enumerate(questions):
        earlier = [
            near.index
            for near in index.near(question)
            if near.index < number and assigned[near.index].split is not None
        ]
        by_split = {assigned[each].split: each for each in reversed(earlier)}
        if not by_split:
            assigned.append(SplitAssignment(split_by_hash(question, shares)))
        elif len(by_split) == 1:
            assigned.append(SplitAssignment(assigned[earlier[0]].split, (earlier[0],)))
        else:
            assigned.append(SplitAssignment(None, tuple(by_split.values())))
    return assigned


def split_by_hash(question: str, shares: Shares) -> Split:
    """Return the split that a hash of the words decides."""
    # Salted, so that the splits are independent of splits that others made by a plain hash.
    digest = hashlib.sha256(f"splits {' '.join(words(question))}".encode()).digest()
    point = int.from_bytes(digest[:8]) / 2**64
    if point < shares.test:
        return "test"
    return "dev" if point < shares.test + shares.dev else "train"
