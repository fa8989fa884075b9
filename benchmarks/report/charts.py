"""Horizontal bars as SVG, written by hand of fixed text, so that the same figures give the same file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from benchmarks.report.cells import Cell

_LEFT, _WIDTH, _STEP, _BAR, _TOP = 370, 380, 24, 14, 34
_OURS, _PUBLISHED = "#2f6f8f", "#b9b2a3"


class Bar(NamedTuple):
    """A label with a value, ours or published."""

    label: str
    cell: Cell
    published: bool


def bars(title: str, found: Sequence[Bar], most: float) -> str:
    """Return the picture: one bar a system up to `most`, with a line for the 95% interval."""
    height = _TOP + _STEP * len(found) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" '
        f'viewBox="0 0 800 {height}" font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="800" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for place, bar in enumerate(found):
        parts += _bar(bar, _TOP + place * _STEP, most)
    y = _TOP + _STEP * len(found) + 18
    parts += [_legend(_LEFT, y, _OURS, "Citewell"), _legend(_LEFT + 110, y, _PUBLISHED, "published")]
    return "\n".join([*parts, "</svg>", ""])


def _bar(bar: Bar, y: int, most: float) -> list[str]:
    value = bar.cell.value
    if not isinstance(value, float | int):
        return []
    middle = y + _BAR / 2
    found = [
        f'<text x="{_LEFT - 8}" y="{middle + 4:.0f}" text-anchor="end">{escape(bar.label)}</text>',
        f'<rect x="{_LEFT}" y="{y}" width="{_across(value, most)}" height="{_BAR}" '
        f'fill="{_PUBLISHED if bar.published else _OURS}"/>',
    ]
    end = value
    if bar.cell.low is not None and bar.cell.high is not None:
        low, end = (_LEFT + _across(each, most) for each in (bar.cell.low, bar.cell.high))
        found.append(
            f'<line x1="{low:.1f}" x2="{end:.1f}" y1="{middle}" y2="{middle}" '
            'stroke="#222222" stroke-width="1.5"/>'
        )
        end -= _LEFT
    else:
        end = _across(value, most)
    text = Cell(value, digits=bar.cell.digits).text
    return [*found, f'<text x="{_LEFT + end + 6:.1f}" y="{middle + 4:.0f}">{text}</text>']


def _across(value: float, most: float) -> float:
    return round(_WIDTH * value / most, 1)


def _legend(x: int, y: int, color: str, text: str) -> str:
    return (
        f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{color}"/>'
        f'<text x="{x + 17}" y="{y}">{text}</text>'
    )
