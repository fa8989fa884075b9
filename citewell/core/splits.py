"""Which split a question goes to: by a hash of its words, and with the questions that are near it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from citewell.core.near_duplicates import NearDuplicates
from citewell.core.text import words

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


class Shares(NamedTuple):
    """The shares of the questions that are held out, each from 0 to 1; the rest is for training."""

    dev: float
    test: float


class Placing(NamedTuple):
    """The split of a question, None where none can be; `near` are the places of earlier ones that decided."""

    split: Split | None
    near: tuple[int, ...] = ()


def place(questions: Sequence[str], shares: Shares, threshold: float) -> list[Placing]:
    """Place questions in order, so that no two of different splits have a similarity of `threshold` or more.

    A question goes where the earlier ones go that are near it, and by the hash of its words where none is.
    One that is near questions of several splits goes nowhere. Questions that are added at the end thus never
    move others.
    """
    index = NearDuplicates(questions, threshold)
    placed: list[Placing] = []
    for number, question in enumerate(questions):
        earlier = [
            near.place
            for near in index.near(question)
            if near.place < number and placed[near.place].split is not None
        ]
        by_split = {placed[each].split: each for each in reversed(earlier)}
        if not by_split:
            placed.append(Placing(_by_hash(question, shares)))
        elif len(by_split) == 1:
            placed.append(Placing(placed[earlier[0]].split, (earlier[0],)))
        else:
            placed.append(Placing(None, tuple(by_split.values())))
    return placed


def _by_hash(question: str, shares: Shares) -> Split:
    # Salted, so that splits that others have made by a plain hash are no part of these.
    digest = hashlib.sha256(f"splits {' '.join(words(question))}".encode()).digest()
    point = int.from_bytes(digest[:8]) / 2**64
    if point < shares.test:
        return "test"
    return "dev" if point < shares.test + shares.dev else "train"
