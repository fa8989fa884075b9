"""Items of a study that a request or a file gives whole."""

from __future__ import annotations

from msgspec import to_builtins
from msgspec.structs import replace

from citewell.core.errors import InputError
from citewell.server.api.study_schemas import ItemVerdict, JudgedAnswer, StudyItem
from citewell.server.studies.answers import answer_of_text, numbered_references
from citewell.server.studies.checking import check_verdict
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.making import DraftItem


def draft_of(item: StudyItem, form: StudyForm) -> DraftItem:
    """Return the draft of an item; raises `InputError` if its gold judgment does not fit the form."""
    answers = tuple(
        answer_of_text(
            item.question, each.system, each.text, numbered_references(to_builtins(each.references))
        )
        for each in item.answers
    )
    if item.gold is not None:
        check_verdict(form, [answer.stored() for answer in answers], _whole(item, form), every=False)
    return DraftItem(item.question, answers, to_builtins(item.gold))


def _whole(item: StudyItem, form: StudyForm) -> ItemVerdict:
    """Return a gold verdict with what it leaves out as not rated: it may know one thing only."""
    assert item.gold is not None
    given = item.gold.answers or [JudgedAnswer(rank=1 if form.ranked else None)] * len(item.answers)
    if len(given) != len(item.answers):
        raise InputError(f"The gold judgment has {len(given)} answers, and its item {len(item.answers)}.")
    answers = [
        replace(verdict, references=verdict.references or [{}] * len(answer.references))
        if form.reference
        else verdict
        for verdict, answer in zip(given, item.answers, strict=True)
    ]
    always = dict.fromkeys(form.always, 0) if len(item.answers) == 2 else {}
    return replace(item.gold, answers=answers, comparison=always | item.gold.comparison)
