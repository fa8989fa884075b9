"""The raters of a study: how much they did, and how far they agree with each other and with gold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from citewell.server.store.raters import Pseudonyms
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.gold import GoldAgreement, agreement_with_gold, has_passed
from citewell.server.studies.judgments import ItemJudgment
from citewell.server.studies.raters import is_script

_BREAK = 3600.0  # seconds from which on a rater had gone away


@dataclass(frozen=True, kw_only=True)
class RaterResult:
    """A rater by pseudonym; `seconds` is the median time between two judgments.

    `held_out` says that nothing else the rater judged can train a scorer. `passed` is the screening test.
    """

    rater: str
    script: bool
    held_out: bool
    items: int
    seconds: float | None
    gold: GoldAgreement
    passed: bool | None


def rater_results(
    study: StoredStudy,
    items: Sequence[StoredStudyItem],
    judgments: Sequence[ItemJudgment],
    trainers: Collection[str],
    pseudonyms: Pseudonyms,
) -> list[RaterResult]:
    """Return what each rater did, the busiest first; `trainers` judged answers outside of studies, too."""
    by_rater: dict[str, list[ItemJudgment]] = defaultdict(list)
    for judgment in judgments:
        by_rater[judgment.rater].append(judgment)
    found = [
        RaterResult(
            rater=pseudonyms.of(rater) or "",
            script=is_script(rater),
            held_out=rater not in trainers,
            items=len(own),
            seconds=_pace(own),
            gold=agreement_with_gold(own),
            passed=has_passed(study, items, own) if study.screening else None,
        )
        for rater, own in by_rater.items()
    ]
    return sorted(found, key=lambda each: (-each.items, each.rater))


def _pace(judgments: Sequence[ItemJudgment]) -> float | None:
    times = sorted(judgment.created for judgment in judgments)
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    return median(short) if (short := [gap for gap in gaps if gap < _BREAK]) else None
