"""What is stored is given back the same by SQLite and by PostgreSQL."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import insert

from citewell.server.access.keys import new_key
from citewell.server.access.readers import Readers
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.store.tables import FEEDBACK

from .samples import NOON, answer, comparison, feedback, job, ranking, rating


async def test_an_answer_from_its_beginning_to_its_end(store: ServiceStore) -> None:
    begun = answer(key_id="ada", question="Wieso ist der Himmel blau? 🦇")
    await store.answers.add(begun)
    assert await store.answers.get(begun.id) == begun
    body = {"answer": "So [1].", "references": [{"number": 1, "score": 0.25}], "notices": []}
    assert await store.answers.finish(begun.id, body=body, problem=None, status="done", seconds=1.5)
    done = dataclasses.replace(begun, body=body, status="done", seconds=1.5)
    assert await store.answers.get(begun.id) == done
    assert await store.answers.get("no-such-answer") is None


async def test_a_failed_answer_keeps_its_problem(store: ServiceStore) -> None:
    failed = answer()
    await store.answers.add(failed)
    problem = {"title": "Late", "status": 504}
    await store.answers.finish(failed.id, body=None, problem=problem, status="failed", seconds=300.0)
    stored = await store.answers.get(failed.id)
    assert stored is not None
    assert (stored.status, stored.problem, stored.body) == ("failed", problem, None)


async def test_a_deleted_answer_leaves_its_feedback(store: ServiceStore) -> None:
    gone = answer()
    await store.answers.add(gone)
    thought = feedback(answer_id=gone.id)
    await store.feedback.add(thought)
    assert await store.answers.delete(gone.id)
    assert not await store.answers.delete(gone.id)
    assert await store.answers.get(gone.id) is None
    assert not await store.answers.finish(gone.id, body={}, problem=None, status="done", seconds=1.0)
    assert await store.feedback.of_answer(gone.id) == [thought]
    assert [each async for each in store.feedback.each()] == [thought]


async def test_pages_of_answers_are_the_newest_first_and_a_key_s_own(store: ServiceStore) -> None:
    answers = [answer(key_id="ada" if number % 2 else "bob") for number in range(6)]
    for each in answers:
        await store.answers.add(each)
    newest = answers[::-1]
    assert await store.answers.page(None, 4) == newest[:4]
    assert await store.answers.page(None, 4, before=newest[3].id) == newest[4:]
    assert await store.answers.page("ada", 10) == newest[::2]
    assert await store.answers.page("ada", 10, before=newest[0].id) == newest[2::2]
    assert await store.answers.page("nobody", 10) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [("GROSSE  STRASSE", 0), ("große str", 0), ("100%", 1), ("a_b", 2), ("écluse", 3), ("E\u0301CLUSE", 3)],
)
async def test_questions_are_searched_whatever_their_case(
    store: ServiceStore, query: str, found: int
) -> None:
    questions = [
        "Wo ist die große Straße?",
        "Is it 100% or 1000?",
        "What is a_b and axb?",
        "Qu'est une Écluse?",
    ]
    answers = [answer(question=question) for question in [*questions, "Is it 1000, or axb?"]]
    for each in answers:
        await store.answers.add(each)
    assert await store.answers.page(None, 10, query=query) == [answers[found]]


async def test_finished_answers_are_found_by_digest_while_they_are_fresh(store: ServiceStore) -> None:
    for minutes, status, digest in ((0, "done", "d"), (5, "done", "d"), (6, "failed", "d"), (7, "done", "e")):
        created = NOON + timedelta(minutes=minutes)
        await store.answers.add(answer(status=status, digest=digest, created=created))
    fresh = await store.answers.fresh("d", None, NOON)
    assert fresh is not None
    assert fresh.created == NOON + timedelta(minutes=5)
    assert await store.answers.fresh("d", None, NOON + timedelta(minutes=5, microseconds=1)) is None
    assert await store.answers.fresh("f", None, NOON) is None


async def test_questions_that_were_asked_again_have_their_answers_together(store: ServiceStore) -> None:
    asked = [
        answer(question=question, key_id=key_id, status=status)
        for question, key_id, status in (
            ("Why is it blue?", "ada", "done"),
            ("Asked once?", "ada", "done"),
            ("why  is it BLUE?", "bob", "done"),
            ("Why is it blue?", "ada", "failed"),
            ("And now?", "ada", "done"),
            ("Why is it blue?", "ada", "done"),
            ("And now?", "ada", "done"),
        )
    ]
    for each in asked:
        await store.answers.add(each)
    assert await store.answers.repeated("ada", 10) == [[asked[6], asked[4]], [asked[5], asked[0]]]
    assert await store.answers.repeated(None, 10) == [[asked[6], asked[4]], [asked[5], asked[2], asked[0]]]
    assert await store.answers.repeated(None, 3) == [[asked[6], asked[4]], [asked[5]]]
    assert await store.answers.repeated("bob", 10) == []


async def test_what_somebody_has_compared_is_found_by_question(store: ServiceStore) -> None:
    mine, theirs, other = comparison(), comparison(key_id="ada"), comparison(question="Why?")
    for each in (mine, theirs, other):
        await store.comparisons.add(each)
    assert await store.comparisons.of_questions(None, {mine.question}) == [mine]
    assert await store.comparisons.of_questions("ada", {mine.question, "Why?"}) == [theirs]
    assert await store.comparisons.of_questions("ada", set()) == []


async def test_comparisons_and_ratings(store: ServiceStore) -> None:
    comparisons = [comparison(), comparison(ratings={"overall": 0}, comment="equal")]
    ratings = [rating(), rating(rater="bob", scores={"relevancy": 0})]
    for each in comparisons:
        await store.comparisons.add(each)
    await store.ratings.add(ratings[0])
    await store.ratings.add_all(ratings[1:])
    assert [each async for each in store.comparisons.each()] == comparisons
    assert [each async for each in store.ratings.each()] == ratings
    assert await store.ratings.items_of("bob") == {ratings[1].item}
    assert await store.ratings.items_of("nobody") == set()


async def test_rankings(store: ServiceStore) -> None:
    mine, theirs = ranking(), ranking(key_id="ada", ranks=(1, 2, 3))
    for each in (mine, theirs):
        await store.rankings.add(each)
    assert [each async for each in store.rankings.each()] == [mine, theirs]
    assert await store.rankings.of_questions("ada", {mine.question, "Why?"}) == [theirs]
    assert await store.rankings.of_questions(None, {mine.question}) == [mine]


async def test_jobs(store: ServiceStore) -> None:
    jobs = [job(), job(), job()]
    for each in jobs:
        await store.jobs.add(each)
    before = datetime.now(UTC)
    assert await store.jobs.update(jobs[0].id, done=3, total=9, message="3 of 9 pages")
    assert await store.jobs.update(jobs[0].id, status="done")
    changed = await store.jobs.get(jobs[0].id)
    assert changed is not None
    assert before <= changed.updated <= datetime.now(UTC)
    expected = dataclasses.replace(
        jobs[0], status="done", done=3, total=9, message="3 of 9 pages", updated=changed.updated
    )
    assert changed == expected
    assert not await store.jobs.update("no-such-job", done=1)
    assert await store.jobs.get("no-such-job") is None
    assert await store.jobs.page(2) == [jobs[2], jobs[1]]
    assert await store.jobs.page(2, before=jobs[1].id) == [expected]
    assert {each.id for each in await store.jobs.running()} == {jobs[1].id, jobs[2].id}


async def test_keys(store: ServiceStore) -> None:
    assert await store.keys.count() == 0
    first = new_key("laptop", ["ask", "feedback"], rate_per_minute=30, daily=500).key
    second = new_key("admin", ["admin"], expires=NOON).key
    await store.keys.add(first)
    await store.keys.add(second)
    assert await store.keys.list() == [first, second]
    assert await store.keys.get(second.id) == second
    assert await store.keys.revoke(first.id)
    assert not await store.keys.revoke(first.id)
    assert not await store.keys.revoke("no-such-key")
    revoked = await store.keys.get(first.id)
    assert revoked is not None
    assert revoked.revoked is not None
    assert await store.keys.count() == 2


async def test_times_are_kept_in_any_zone_and_given_back_in_utc(store: ServiceStore) -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-9, minutes=-30)))
    kept = answer(created=elsewhere, status="done")
    await store.answers.add(kept)
    stored = await store.answers.get(kept.id)
    assert stored is not None
    assert stored.created == NOON
    assert stored.created.tzinfo == UTC


async def test_characters_that_no_database_can_store(store: ServiceStore) -> None:
    hostile = feedback(comment="a\0b \ud800 c", references=("x\0y \udfff",))
    await store.feedback.add(hostile)
    (stored,) = await store.feedback.of_answer("an-answer")
    assert stored.comment == "a\ufffdb \ufffd c"
    assert stored.references == ("x\0y \ufffd",)
    assert await store.answers.get("\0") is None


async def test_all_feedback_is_read_bit_by_bit(store: ServiceStore) -> None:
    many = [feedback(answer_id=str(number), comment=str(number)) for number in range(1_001)]
    rows = [vars(each) | {"references": list(each.references)} for each in many]
    await store.database.change(insert(FEEDBACK).values(rows[:500]))
    await store.database.change(insert(FEEDBACK).values(rows[500:]))
    reader = store.feedback.each()
    read = [await anext(reader)]
    late = feedback(comment="written meanwhile")
    await store.feedback.add(late)
    read += [each async for each in reader]
    assert read == [*many, late]


async def test_it_answers(store: ServiceStore) -> None:
    await store.ping()


def test_ids_sort_by_the_time_they_were_made() -> None:
    ids = [new_id() for _ in range(1_000)]
    assert len(set(ids)) == 1_000
    assert all(len(each) == 36 and each[14] == "7" and each[19] in "89ab" for each in ids)
    milliseconds = [int(each.replace("-", "")[:12], 16) for each in ids]
    assert milliseconds == sorted(milliseconds)


async def test_lists_of_readers_are_replaced_and_removed(store: ServiceStore) -> None:
    some = Readers(frozenset({"Ada's laptop", "bob"}), frozenset({"eve@example.org"}))
    await store.readers.set("whales", some)
    await store.readers.set("nets", Readers(frozenset({"bob"})))
    await store.readers.set("whales", Readers(frozenset({"bob"})))
    assert await store.readers.all() == {
        "whales": Readers(frozenset({"bob"})),
        "nets": Readers(frozenset({"bob"})),
    }
    await store.readers.set("nets", Readers())
    await store.readers.set("whales", some)
    assert await store.readers.all() == {"whales": some}
