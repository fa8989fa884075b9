"""A study with its items and judgments, in SQLite and in PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.server.store.database import ServiceStore
from citewell.server.store.errors import StoreError
from citewell.server.store.ids import new_id
from citewell.server.studies.judgments import judgments_of
from tests.server.studies.samples import study_of

from .samples import comparison, ranking, rating


async def test_a_study_comes_back_and_goes_with_all_its_judgments(store: ServiceStore) -> None:
    study, items = study_of("turing")
    other, more = study_of("minimal", systems=("alpha", "human"))
    await store.studies.add(study, items)
    await store.studies.add(other, more)
    assert await store.studies.get(study.id) == study
    assert [each.id for each in await store.studies.page(5)] == [other.id, study.id]
    assert await store.studies.sizes() == {study.id: 2, other.id: 2}
    found = await store.studies.items(study.id)
    assert [(each.question, each.answers) for each in found] == [
        (each.question, tuple(each.answers)) for each in items
    ]

    sky, sea = items
    place = f"{sea.id}/1"
    await store.rankings.add(ranking(rater="name ada", study_item_id=sky.id, ranks=(1, 2, 3)))
    await store.rankings.add(ranking(rater="name ada", study_item_id=sky.id, ranks=(3, 2, 1)))
    await store.ratings.add(rating(rater="name bob", item=place, study_item_id=sea.id))
    await store.ratings.add(
        rating(rater="name bob", item=f"{place}#2", study_item_id=sea.id, kind="reference")
    )
    await store.comparisons.add(comparison(rater="key 1", study_item_id=sea.id, flag="unclear", ratings={}))
    await store.comparisons.add(comparison(key_id="1"))
    assert await store.studies.judged_by("name ada") == {sky.id}
    assert await store.studies.judged_by("name bob") == {sea.id}
    assert await store.comparisons.raters_elsewhere() == {"key 1"}
    judgments = {each.rater: each for each in await judgments_of(store, items)}
    assert judgments["name ada"].ranks == (3, 2, 1)  # the last one counts
    assert judgments["name bob"].scores == {1: {"fluency": 3, "correctness": 2}}
    assert judgments["name bob"].references == {(1, 2): {"fluency": 3, "correctness": 2}}
    assert judgments["key 1"].flag == "unclear"

    assert await store.studies.delete(study.id)
    assert not await store.studies.delete(study.id)
    assert await store.studies.items(study.id) == []
    assert [each.key_id async for each in store.comparisons.each()] == ["1"]
    assert [each async for each in store.rankings.each()] == []


async def test_a_study_is_stored_whole_or_not_at_all(store: ServiceStore) -> None:
    study, items = study_of("turing")
    with pytest.raises(StoreError):
        await store.studies.add(study, [items[0], items[0]])
    assert await store.studies.get(study.id) is None


async def test_a_study_of_thousands_of_items_is_stored(store: ServiceStore) -> None:
    study, (item, _) = study_of("turing")
    items = [replace(item, id=new_id(), position=number) for number in range(11_000)]
    await store.studies.add(study, items)
    assert [each.id for each in await store.studies.items(study.id)] == [each.id for each in items]
