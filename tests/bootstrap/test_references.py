from __future__ import annotations

from dataclasses import replace

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.references import FoundReferences, Retrieve, with_references
from citewell.bootstrap.types import BootstrapTask
from tests.bootstrap.teaching import PASSAGES, references


def finding(*texts: str, relevant: bool = True) -> Retrieve:
    async def retrieve(question: str) -> FoundReferences:
        return FoundReferences(references(*texts), relevant)

    return retrieve


def configured(**wanted: object) -> BootstrapConfig:
    return BootstrapConfig.model_validate({"references": wanted})


async def never(question: str) -> FoundReferences:
    raise AssertionError("nothing is retrieved")


def numbered(task: BootstrapTask) -> list[tuple[int, str]]:
    return [(r.number, r.text) for r in task.references or ()]


async def test_a_row_without_references_gets_what_is_found() -> None:
    task = await with_references(
        BootstrapTask(key="t", line=1, question="Why?"), finding(*PASSAGES), configured(most=2)
    )
    assert numbered(task) == [(1, PASSAGES[0]), (2, PASSAGES[1])]


async def test_what_is_found_must_be_evidence() -> None:
    task = await with_references(
        BootstrapTask(key="t", line=1, question="Why?"), finding(*PASSAGES, relevant=False), configured()
    )
    assert task.references == ()


async def test_given_references_are_numbered_anew_and_marks_with_them() -> None:
    third, seventh = (replace(r, number=n) for r, n in zip(references()[:2], (3, 7), strict=True))
    row = BootstrapTask(
        key="t",
        line=1,
        question="Why?",
        references=(third, seventh),
        answer="It is so[7], or so[3], or so[5].",
    )
    task = await with_references(row, never, configured())
    assert numbered(task) == [(1, PASSAGES[0]), (2, PASSAGES[1])]
    assert task.answer == "It is so[2], or so[1], or so[0]."


async def test_of_too_many_references_those_are_kept_that_the_answer_overlaps_with() -> None:
    row = BootstrapTask(
        key="t", line=1, question="Why?", references=references(), answer=f"{PASSAGES[4]} {PASSAGES[1]} [2]"
    )
    task = await with_references(row, never, configured(most=2))
    assert numbered(task) == [(1, PASSAGES[1]), (2, PASSAGES[4])]
    assert task.answer is not None
    assert task.answer.endswith("[1]")
    without = await with_references(
        BootstrapTask(key="t", line=1, question="Why?", references=references()), never, configured(most=2)
    )
    assert numbered(without) == [(1, PASSAGES[0]), (2, PASSAGES[1])]


async def test_too_few_references_are_filled_up_without_repeating_one() -> None:
    row = BootstrapTask(
        key="t", line=1, question="Why?", references=references(PASSAGES[1]), answer="So it is[1]."
    )
    task = await with_references(row, finding(*PASSAGES, relevant=False), configured(most=3, fill=True))
    assert [text for _, text in numbered(task)] == [PASSAGES[1], PASSAGES[0], PASSAGES[2]]
    assert task.answer == "So it is[1]."
