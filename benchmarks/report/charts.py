"""Horizontal bars as SVG, written by hand of fixed text, so that the same figures give the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from benchmarks.report.cells import Cell

_LEFT, _WIDTH, _STEP, _BAR, _TOP = 300, 440, 24, 14, 30
_OURS, _PUBLISHED, _INTERVAL = "#6fa8c4", "#c9c3b6", "#222222"


class Bar(NamedTuple):
    """A label with a value, ours or published."""

    label: str
    cell: Cell
    published: bool


def bars(title: str, groups: Mapping[str, Sequence[Bar]], most: float) -> str:
    """Return the picture: one bar a system up to `most`, with a line for the 95% interval, by group."""
    parts = []
    y = _TOP
    for name, found in groups.items():
        parts.append(f'<text x="{_LEFT}" y="{y + 18}" font-weight="bold">{escape(name)}</text>')
        y += _STEP + 4
        for bar in found:
            parts += _bar(bar, y, most)
            y += _STEP
    y += 24
    legend = [_legend(_LEFT, y, _OURS, "Citewell"), _legend(_LEFT + 100, y, _PUBLISHED, "published")]
    legend += [_line(_LEFT + 200, _LEFT + 224, y - 4), f'<text x="{_LEFT + 231}" y="{y}">95% interval</text>']
    height = y + 14
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" '
        f'viewBox="0 0 800 {height}" font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="800" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    return "\n".join([*head, *parts, *legend, "</svg>", ""])


def _bar(bar: Bar, y: int, most: float) -> list[str]:
    value = bar.cell.value
    if not isinstance(value, float | int):
        return []
    middle = y + _BAR / 2
    end = _LEFT + _across(value, most)
    found = [
        f'<text x="{_LEFT - 8}" y="{middle + 4:.0f}" text-anchor="end">{escape(bar.label)}</text>',
        f'<rect x="{_LEFT}" y="{y}" width="{_across(value, most)}" height="{_BAR}" '
        f'fill="{_PUBLISHED if bar.published else _OURS}"/>',
    ]
    if bar.cell.low is not None and bar.cell.high is not None:
        low, end = (_LEFT + _across(each, most) for each in (bar.cell.low, bar.cell.high))
        found.append(_line(low, end, middle))
    text = Cell(value, digits=bar.cell.digits).text
    return [*found, f'<text x="{end + 6:.1f}" y="{middle + 4:.0f}">{text}</text>']


def _line(start: float, end: float, y: float) -> str:
    """Return a line with a tick at each end."""
    d = f"M{start:.1f} {y - 4}v8M{start:.1f} {y}H{end:.1f}M{end:.1f} {y - 4}v8"
    return f'<path d="{d}" fill="none" stroke="{_INTERVAL}" stroke-width="1.5"/>'


def _across(value: float, most: float) -> float:
    return round(_WIDTH * value / most, 1)


def _legend(x: int, y: int, color: str, text: str) -> str:
    return (
        f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{color}"/>'
        f'<text x="{x + 17}" y="{y}">{text}</text>'
    )
