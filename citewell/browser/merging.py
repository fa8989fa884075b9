"""Merging of people's repeated single scrolls into longer commands (WebGPT, appendix C.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from citewell.browser.commands import MOST_SCROLLS, Scroll, parse


class Merged(NamedTuple):
    """A command, and the number of original commands that it replaces."""

    command: str
    given: int


def merge_scrolls(commands: Iterable[str]) -> list[Merged]:
    """Return the commands with up to three adjacent single scrolls in one direction merged.

    People scroll one step at a time; a model saves actions with `Scrolled down 3`.

    >>> [merged.command for merged in merge_scrolls(["Top"] + ["Scrolled down 1"] * 4)]
    ['Top', 'Scrolled down 3', 'Scrolled down 1']
    """
    merged: list[Merged] = []
    growing: Scroll | None = None  # the last one, where a single scroll can join it
    for command in commands:
        read = parse(command)
        single = read if isinstance(read, Scroll) and read.times == 1 else None
        if single and growing and single.direction == growing.direction and growing.times < MOST_SCROLLS:
            growing = Scroll(growing.direction, growing.times + 1)
            merged[-1] = Merged(str(growing), merged[-1].given + 1)
            continue
        growing = single
        merged.append(Merged(command, 1))
    return merged
