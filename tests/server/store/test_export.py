"""What is exported is what the training of the scorer reads."""

from __future__ import annotations

import json
from pathlib import Path

from citewell.scorer.data.reading import read_comparisons
from citewell.server.store.comparisons import StoredComparison
from citewell.server.store.database import ServiceStore
from citewell.server.store.feedback import StoredFeedback
from citewell.server.store.rankings import StoredRanking
from citewell.server.store.raters import Pseudonyms

from .samples import comparison, feedback, ranking


def written(rows: list[StoredFeedback] | list[StoredComparison] | list[StoredRanking], file: Path) -> Path:
    file.write_text(
        "".join(json.dumps(row.exported(Pseudonyms("salt"))) + "\n" for row in rows), encoding="utf-8"
    )
    return file


async def test_thumbs_come_back(store: ServiceStore, tmp_path: Path) -> None:
    liked = feedback(comment='=cmd|"\n{"thumbs": -1}\u2028')
    disliked = feedback(
        answer_id="another", thumb=-1, answer="By sight.", references=("Bats are not blind.",)
    )
    unsupported = feedback(thumb=-1, sentence=2)
    for each in (liked, disliked, unsupported, feedback(thumb=0, comment="hm")):
        await store.feedback.add(each)
    data = read_comparisons(written([each async for each in store.feedback.each()], tmp_path / "f.jsonl"))
    (group,) = data.groups
    (pair,) = group.comparisons
    assert (pair.question, pair.first, pair.second) == (liked.question, "By echolocation.", disliked.answer)
    assert pair.preference == 1.0
    assert (pair.references, pair.second_references) == (liked.references, disliked.references)
    assert data.funnel["lines"] == 4
    assert data.funnel["thumbs"] == 2
    assert data.funnel["rows without a thumb"] == 2
    assert data.problems == ()


async def test_the_last_thumb_of_each_user_counts(store: ServiceStore) -> None:
    given = [
        feedback(thumb=1, comment="Just what I needed."),
        feedback(thumb=-1),
        feedback(thumb=1, key_id="ada"),
        feedback(thumb=-1, sentence=0),
        feedback(thumb=1, answer_id="another"),
        feedback(thumb=0, answer_id="another"),
    ]
    for each in given:
        await store.feedback.add(each)
    rows = [each.exported(Pseudonyms("salt")) async for each in store.feedback.each()]
    assert [row["thumbs"] for row in rows] == [None, -1, 1, None, None, None]
    assert rows[0]["comment"] == "Just what I needed."


async def test_comparisons_come_back(store: ServiceStore, tmp_path: Path) -> None:
    for overall in (-2, -1, 0, 1, 2):
        await store.comparisons.add(comparison(ratings={"overall": overall}))
    await store.comparisons.add(comparison(flag="unclear", ratings={}))
    stored = [each async for each in store.comparisons.each()]
    (group,) = read_comparisons(written(stored, tmp_path / "c.jsonl")).groups
    assert [each.preference for each in group.comparisons] == [1.0, 1.0, 0.5, 0.0, 0.0]
    first = group.comparisons[0]
    assert (first.first, first.second) == ("By echolocation.", "By sight.")
    assert (first.references, first.second_references) == (("Bats use echolocation.",), ())


async def test_rankings_come_back(store: ServiceStore, tmp_path: Path) -> None:
    await store.rankings.add(ranking())
    stored = [each async for each in store.rankings.each()]
    (group,) = read_comparisons(written(stored, tmp_path / "r.jsonl")).groups
    assert [(each.first, each.second, each.preference) for each in group.comparisons] == [
        ("By echolocation.", "By calls.", 0.5),
        ("By echolocation.", "By sight.", 1.0),
        ("By calls.", "By sight.", 1.0),
    ]
    assert {each.references for each in group.comparisons} == {("Bats use echolocation.", "Calls.")}
