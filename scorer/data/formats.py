"""Detection of a row's format by its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from citewell.scorer.data.feedback import Thumb, read_choice, read_thumb
from citewell.scorer.data.preferences import read_preference
from citewell.scorer.data.rankings import read_ranking
from citewell.scorer.data.source_line import SourceLine
from citewell.scorer.data.types import Comparison, RankedAnswers, Voted
from citewell.scorer.data.voted_rows import read_voted_row
from citewell.scorer.data.webgpt import read_webgpt_row

Item = Voted | Comparison | RankedAnswers | Thumb


class Format(NamedTuple):
    """A format of rows: its characteristic fields, and its reader."""

    name: str
    fields: frozenset[str]
    read: Callable[[Mapping[str, Any], SourceLine], Iterator[Item]]


# The first format whose fields a row has is used.
FORMATS = (
    Format(
        "WebGPT's comparisons", frozenset({"answer_0", "answer_1", "score_0", "score_1"}), read_webgpt_row
    ),
    Format("preferences", frozenset({"chosen", "rejected"}), read_preference),
    Format("choices of users", frozenset({"answers", "preferred"}), read_choice),
    Format("thumbs of users", frozenset({"answer", "thumbs"}), read_thumb),
    Format("rankings", frozenset({"answers", "ranks"}), read_ranking),
    Format("votes", frozenset({"answers"}), read_voted_row),
)


def read_row(row: Mapping[str, Any], place: SourceLine) -> Iterator[Item]:
    """Yield the items of a row; record a problem if its format is unknown."""
    for each in FORMATS:
        if each.fields <= row.keys():
            yield from each.read(row, place)
            return
    fields = ", ".join(sorted(row)[:12]) or "none"
    place.problem("no_format", f"the fields are those of no known format: {fields}.")
