"""Checking that a verdict fits its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citewell.core.errors import InputError
from citewell.server.api.study_schemas import ItemVerdict, JudgedAnswer
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.scales import check_scores
from citewell.server.studies.parts import judged_parts

_COMPARED = 2  # answers


def check_verdict(
    form: StudyForm, answers: Sequence[Mapping[str, Any]], verdict: ItemVerdict, *, every: bool
) -> None:
    """Raise `InputError` if a verdict on these answers does not fit the form, or lacks a required part.

    With `every`, all parts are required. A flagged question needs none.
    """
    if verdict.flag is not None:
        if verdict.flag not in {choice.value for choice in form.flags}:
            raise InputError(f"The form {form.name} does not flag questions as {verdict.flag}.")
        return
    if (verdict.comment or "").strip() and not (verdict.comparison or form.ranked):
        raise InputError(
            "Comments are kept of comparisons, rankings and flags only.", "Leave the comment out."
        )
    if len(verdict.answers) != len(answers):
        raise InputError(f"The item has {len(answers)} answers, not {len(verdict.answers)}.")
    for number, (given, answer) in enumerate(zip(verdict.answers, answers, strict=True), 1):
        what = f"Answer {number}"
        check_scores(given.scores, form.answer_scales(len(answers)), what, every=every)
        _check_references(form, given, answer, what, every=every)
        if (given.rank is None) == form.ranked:
            raise InputError(f"{what} has {'no' if form.ranked else 'a'} rank.", "Rank where the form asks.")
        _check_parts(form, given, answer, what)
        if every and form.claims:
            _check_claims(given, answer, what)
    if verdict.comparison and len(answers) != _COMPARED:
        raise InputError(f"A comparison is of two answers, and the item has {len(answers)}.")
    if verdict.comparison and not form.comparison:
        raise InputError(f"The form {form.name} has no comparison.")
    if form.comparison and len(answers) == _COMPARED:
        _check_comparison(form, verdict.comparison, every=every)


def _check_references(
    form: StudyForm, given: JudgedAnswer, answer: Mapping[str, Any], what: str, *, every: bool
) -> None:
    wanted = len(answer["references"]) if form.reference else 0
    if len(given.references) != wanted:
        raise InputError(f"{what} has {wanted} references to score, not {len(given.references)}.")
    for place, scores in enumerate(given.references, 1):
        check_scores(scores, form.reference, f"Reference {place} of {what.lower()}", every=every)


def _check_parts(form: StudyForm, given: JudgedAnswer, answer: Mapping[str, Any], what: str) -> None:
    if (given.trust or given.claims) and not form.claims:
        raise InputError(
            f"{what} has `trust` or `claims`, for which the form {form.name} does not ask.", "Leave them out."
        )
    sentences = [sentence["text"] for sentence in answer["sentences"]]
    judged_parts(given.trust, given.claims, len(answer["references"]), sentences)


def _check_claims(given: JudgedAnswer, answer: Mapping[str, Any], what: str) -> None:
    cited = {number for sentence in answer["sentences"] for number in sentence["citations"]}
    if cited - {each.reference for each in given.trust}:
        raise InputError(f"{what} cites references whose trustworthiness is not rated.")
    whole = {each.sentence for each in given.claims if each.support and each.relevance}
    if set(range(len(answer["sentences"]))) - whole:
        raise InputError(f"{what} has sentences whose support or relevance is not rated.")


def _check_comparison(form: StudyForm, given: Mapping[str, int], *, every: bool) -> None:
    names = [scale.name for scale in form.comparison]
    if unknown := set(given) - set(names):
        raise InputError(
            f"The form has no comparison by {min(unknown)[:40]!r}.", f"Its scales: {', '.join(names) or '-'}."
        )
    needed = names if every else form.always
    if missing := [name for name in needed if name not in given]:
        raise InputError(f"The comparison has no {', '.join(missing)}.")
