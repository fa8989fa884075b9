"""Sentences that say who is ahead, made from figures, so that they cannot become untrue."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.report.cells import Cell, number


def standing(their_name: str, compared: Iterable[tuple[str, Cell, float]], unit: str = "") -> list[str]:
    """Say in which measures Citewell is behind and ahead, by how much; of each measure, more is better.

    `compared` are the measures with our figure and theirs.
    """
    behind: list[str] = []
    ahead: list[str] = []
    for measure, ours, theirs in compared:
        if isinstance(ours.value, float | int):
            by = f"{measure} by {number(abs(ours.value - theirs), ours.digits)}{unit}"
            (behind if ours.value < theirs else ahead).append(by)
    lines = [f"**Behind {their_name}**: {', '.join(behind)}."] if behind else []
    return lines + ([f"**Ahead of {their_name}**: {', '.join(ahead)}."] if ahead else [])


def faster(ours: float, theirs: float, their_name: str) -> str:
    """Say how many times as fast or as slow Citewell is."""
    if ours <= theirs:
        return f"{theirs / ours:.1f} times as fast as {their_name}."
    return f"{ours / theirs:.1f} times as slow as {their_name}."
