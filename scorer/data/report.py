"""The report on a file: the funnel, and each kind of problem with an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from citewell.scorer.data.types import ComparisonData


def report(data: ComparisonData) -> Iterator[str]:
    """Yield the steps of the funnel with their counts, then the problems by kind, most frequent first."""
    width = max((len(step) for step in data.funnel), default=0)
    for step, number in data.funnel.items():
        yield f"{step:{width}}  {number:>11,}"
    examples = {each.kind: each for each in reversed(data.problems)}
    for kind, number in Counter(each.kind for each in data.problems).most_common():
        more = f" ({number - 1:,} more of this kind)" if number > 1 else ""
        yield f"{examples[kind]}{more}"
