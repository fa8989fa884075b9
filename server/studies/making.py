"""Making a study: its items from the answers of systems."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from citewell.core.errors import InputError
from citewell.core.text import squeeze
from citewell.server.store.ids import new_id
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.answers import SystemAnswer
from citewell.server.studies.drawing import seeded
from citewell.server.studies.forms.form import StudyForm


@dataclass(frozen=True)
class DraftItem:
    """A question with the answers of one page, and the judgment that is known to be right, if any."""

    question: str
    answers: tuple[SystemAnswer, ...]
    gold: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """The name of a study and how its raters work; see `StoredStudy`. An empty seed is drawn."""

    name: str
    form: StudyForm
    seed: str = ""
    share_required: float | None = None
    screening: int = 0
    passing: float = 0.5


def drafted(
    answers: Iterable[SystemAnswer],
    form: StudyForm,
    *,
    against: str | None = None,
    limit: int | None = None,
    seed: str = "",
) -> list[DraftItem]:
    """Return items with the answers to each question: all of them or, where a form compares, each two.

    `against` keeps the pairs with that system. `limit` draws so many questions by the seed. Equal answers are
    not compared, and of two answers of a system, the last one counts. Raises `InputError` if `against` is
    given and no pair has that system, or the form has no pairs.
    """
    if against is not None and not form.comparison:
        raise InputError(
            f"The form {form.name} has no pairs of answers to keep with --against.",
            "Leave it out, or choose a form that compares two answers.",
        )
    questions: dict[str, dict[str, SystemAnswer]] = {}
    for answer in answers:
        questions.setdefault(squeeze(answer.question).casefold(), {})[answer.system] = answer
    groups = [sorted(found.values(), key=lambda each: each.system) for found in questions.values()]
    usable = [items for group in groups if (items := _items(group, form, against))]
    if against is not None and not usable:
        raise _without_pairs(form, against, {each.system for group in groups for each in group})
    if limit is not None and limit < len(usable):
        usable = seeded(seed, "questions").sample(usable, limit)
    return [item for items in usable for item in items]


def _items(group: Sequence[SystemAnswer], form: StudyForm, against: str | None) -> list[DraftItem]:
    question = group[0].question
    if not form.comparison or (against is None and len(group) == form.fewest == 1):
        return [DraftItem(question, tuple(group))] if form.fewest <= len(group) else []
    return [
        DraftItem(question, pair)
        for pair in combinations(group, 2)
        if squeeze(pair[0].text) != squeeze(pair[1].text)
        and (against is None or against in (pair[0].system, pair[1].system))
    ]


def _without_pairs(form: StudyForm, against: str, systems: Collection[str]) -> InputError:
    if against not in systems:
        return InputError(
            f"No answer is of the system {against[:60]!r}.",
            f"The systems: {', '.join(sorted(systems)) or '-'}.",
        )
    return InputError(
        f"No question has an answer of the system {against[:60]!r} and a different one of another system.",
        "Give answers of several systems to the same questions.",
    )


def without_items(form: StudyForm) -> InputError:
    """Return the error of a study without a question to judge."""
    different = "different answers" if form.comparison else "answers"
    return InputError(
        "No question has enough answers.",
        f"The form {form.name} needs {different} of {max(form.fewest, 2)} systems to the same questions.",
    )


def planned(plan: StudyPlan, drafts: Sequence[DraftItem]) -> tuple[StoredStudy, list[StoredStudyItem]]:
    """Return the study with its items, ready to be stored.

    Raises `InputError` if there is no item or no name, an item does not fit the form, or too few items are
    gold.
    """
    form = plan.form
    if not drafts:
        raise without_items(form)
    if not squeeze(plan.name):
        raise InputError("The study has no name.", "Give one, or leave it out.")
    for draft in drafts:
        if not form.fewest <= len(draft.answers) <= form.most:
            raise InputError(
                f"The question {draft.question[:60]!r} has {len(draft.answers)} answers.",
                f"A page of the form {form.name} has {form.fewest} to {form.most}.",
            )
    gold = sum(draft.gold is not None for draft in drafts)
    if plan.screening > gold:
        raise InputError(
            f"The screening test has {plan.screening} items, but {gold} items are gold.", "Add gold items."
        )
    study = StoredStudy(
        id=new_id(),
        name=squeeze(plan.name),
        form=form.name,
        seed=plan.seed or secrets.token_hex(8),
        share_required=form.share_required if plan.share_required is None else plan.share_required,
        screening=plan.screening,
        passing=plan.passing,
        created=datetime.now(UTC),
    )
    items = [
        StoredStudyItem(
            id=new_id(),
            study_id=study.id,
            position=position,
            question=draft.question,
            answers=[answer.stored() for answer in draft.answers],
            gold=draft.gold,
        )
        for position, draft in enumerate(drafts)
    ]
    return study, items
