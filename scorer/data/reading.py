"""Reading of a file of votes, comparisons, rankings or feedback in any known format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.text import squeeze
from citewell.scorer.data.config import ReadingConfig
from citewell.scorer.data.feedback import Thumb, compare_thumbs, tally
from citewell.scorer.data.formats import FORMATS, Item, read_row
from citewell.scorer.data.hygiene import Hygiene
from citewell.scorer.data.notes import FileNotes
from citewell.scorer.data.source_line import SourceLine
from citewell.scorer.data.stackexchange import read_dump
from citewell.scorer.data.types import Comparison, ComparisonData, Group, RankedAnswers, Voted
from citewell.scorer.data.votes import compare

HANDBOOK = "docs/scorer-data.md"


class _FoundItem(NamedTuple):
    """A training item, its place in the file, and its license."""

    item: Item
    place: SourceLine
    license: str


def read_comparisons(file: Path, config: ReadingConfig | None = None) -> ComparisonData:
    """Read the comparisons of a file, by question.

    A file that ends in `.xml` is a dump of Stack Exchange; other files are JSON lines, whose formats are
    detected by their fields. Faults of a line are recorded in `problems`, and the line is skipped or
    repaired. Raises `InputError` if the file cannot be read or has no usable data.
    """
    data = _read(file, config or ReadingConfig())
    if not data.groups:
        hint = (
            "For a forum whose questions have few answers, lower votes.answers, votes.above and votes.ranks."
            if "questions with votes" in data.funnel
            else "Give more data: thumbs count where one question got a thumb up and a thumb down."
            if data.voted
            else f"{HANDBOOK} lists the formats: {', '.join(each.name for each in FORMATS)}."
        )
        raise _nothing(file, "comparison", data, hint)
    return data


def read_voted(file: Path, config: ReadingConfig | None = None) -> ComparisonData:
    """Read votes for measures within a question; raises `InputError` if no question has two answers.

    `voted` holds the questions with two answers or more; `groups` may be empty.
    """
    data = _read(file, config or ReadingConfig())
    several = tuple(each for each in data.voted if len(each.answers) > 1)
    if not several:
        raise _nothing(file, "question with the votes of two answers", data, f"{HANDBOOK} lists the formats.")
    return replace(data, voted=several)


def _read(file: Path, config: ReadingConfig) -> ComparisonData:
    start = SourceLine(str(file), file.name.split(".")[0], FileNotes(), config)
    notes = start.notes
    voted: list[Voted] = []
    thumbs: list[Thumb] = []
    comparisons: dict[str, list[Comparison]] = {}
    licenses: dict[str, set[str]] = {}
    for item, place, stated in _found(file, start):
        licenses.setdefault(item.group, set()).add(stated)
        if isinstance(item, Thumb):
            thumbs.append(item)
        elif isinstance(item, Voted):
            voted.append(replace(item, license=stated))
            comparisons.setdefault(item.group, []).extend(compare(item, config.votes, notes))
        else:
            comparisons.setdefault(item.group, []).extend(_as_given(item, place))
    for each in _tallied(thumbs, notes):
        voted.append(replace(each, license=_all(licenses[each.group])))
        comparisons.setdefault(each.group, []).extend(compare_thumbs(each))
    groups = tuple(
        Group(key, found[0].question, tuple(found), _all(licenses[key]))
        for key, found in comparisons.items()
        if found
    )
    every = [each for group in groups for each in group.comparisons]
    notes.count("ties", sum(each.preference == 0.5 for each in every))
    notes.count("questions", len(groups))
    notes.count("comparisons", len(every))
    return ComparisonData(groups, notes.funnel(), notes.problems, tuple(voted))


def _found(file: Path, start: SourceLine) -> Iterator[_FoundItem]:
    default = start.config.license
    if file.suffix == ".xml":
        for each in read_dump(file, start):
            yield _FoundItem(each, start, each.license or default)
        return
    hygiene = Hygiene(start.config.hygiene)
    for line in read_lines(file):
        start.notes.count("lines")
        place = replace(start, where=f"{file}, line {line.number:,}")
        try:
            row = line.row()
        except InputError as error:
            place.problem("no_json", error.message.removeprefix(f"{place.where}: "))
            continue
        if fault := hygiene.fault(row):
            start.notes.count(fault)
            continue
        stated = place.stated(row, "license") or default
        for item in read_row(row, place):
            yield _FoundItem(item, place, stated)


def _as_given(item: Comparison | RankedAnswers, place: SourceLine) -> tuple[Comparison, ...]:
    """Return people's comparisons, without those of an answer with itself."""
    given = item.comparisons() if isinstance(item, RankedAnswers) else (item,)
    kept = tuple(each for each in given if not _is_with_itself(each))
    if len(kept) < len(given):
        place.problem("identical", "two of the answers are the same, and are not compared.")
    place.notes.count("rankings" if isinstance(item, RankedAnswers) else "comparisons as given")
    return kept


def _is_with_itself(item: Comparison) -> bool:
    """Return whether the answers are the same; with other references, they are not."""
    first, second = item.both_references
    return squeeze(item.first) == squeeze(item.second) and first == second


def _tallied(thumbs: Sequence[Thumb], notes: FileNotes) -> tuple[Voted, ...]:
    voted = tally(thumbs)
    if thumbs:
        notes.count("thumbs", len(thumbs))
        notes.count("answers with thumbs", sum(len(each.answers) for each in voted))
        notes.count("pairs of thumbs up and thumbs down", sum(len(compare_thumbs(each)) for each in voted))
    return voted


def _all(licenses: Iterable[str]) -> str:
    return "; ".join(sorted(set(licenses) - {""}))


def _nothing(file: Path, what: str, data: ComparisonData, hint: str) -> InputError:
    if not data.funnel.get("lines"):
        return InputError(f"{file} is empty.", hint)
    left = ", ".join(f"{number:,} {step}" for step, number in data.funnel.items() if number)
    first = f" First problem: {data.problems[0]}" if data.problems else ""
    return InputError(f"{file} holds no {what}; it has {left}.{first}", hint)
