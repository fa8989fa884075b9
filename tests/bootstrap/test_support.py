"""Answers that a reader does not find supported by what they cite are dropped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.refilter import refiltered
from citewell.bootstrap.row import bootstrap_row
from citewell.bootstrap.support import AnswerSupport, open_support
from citewell.bootstrap.teachers.recorded import RecordedTeacher
from citewell.bootstrap.types import Drop, Sample
from citewell.core.errors import ModelError
from citewell.core.settings import load_settings
from citewell.generator.evaluation.judges.lexical import RougeJudge
from tests.bootstrap.teaching import PASSAGES, parts, references, task

STRICT = AnswerSupport(RougeJudge(0.99))
# More than the passage says, though most of its words are there.
EMBELLISHED = (
    "The tides are caused by the gravity of the Moon and to a lesser degree of the Sun and by whales[1]. "
    "Most coasts of the Earth have two high tides and two low tides on each day of the harvest[2]."
)


def test_the_share_counts_every_sentence_with_all_that_it_cites() -> None:
    found = references("Bees dance to show where flowers are.", "Wasps eat meat.")
    support = AnswerSupport(RougeJudge(0.9))
    assert support.share("Bees dance to show where flowers are.[1] Wasps eat meat.[2]", found) == 1.0
    assert support.share("Bees dance to show where flowers are.[2] Wasps eat meat.[2]", found) == 0.5
    assert support.share("Bees dance to show where flowers are. Wasps eat meat.[7]", found) == 0.0
    assert support.share("", found) == 0.0


async def test_the_reader_drops_what_all_other_filters_keep() -> None:
    asked = task(answer=EMBELLISHED)
    plain = parts(RecordedTeacher(), found=PASSAGES)
    kept = await bootstrap_row(asked, plain)
    assert isinstance(kept, Sample)
    dropped = await bootstrap_row(asked, replace(plain, support=STRICT))
    assert isinstance(dropped, Drop)
    assert (dropped.reason, dropped.raw_answer) == ("unsupported", kept.raw_answer)
    # Afterwards too, and back, without asking again.
    assert refiltered(kept, plain.config, STRICT) == dropped
    assert refiltered(dropped, plain.config) == kept
    lenient = BootstrapConfig.model_validate({"filters": {"reader": "a reader", "supported": 0.0}})
    assert isinstance(refiltered(kept, lenient, STRICT), Sample)


def test_a_reader_must_be_a_reader_of_support(tmp_path: Path) -> None:
    with (
        pytest.raises(ModelError, match="is not a reader of support"),
        open_support(str(tmp_path), load_settings(), lambda name, step: None),
    ):
        pass
