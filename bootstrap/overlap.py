"""Questions that are also in evaluation sets, which must not be trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from citewell.bootstrap.config import DatasetConfig
from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.near_duplicates import NearDuplicates
from citewell.generator.evaluation.held_out import is_held_out


class EvaluationQuestion(NamedTuple):
    """A question of an evaluation set: the set's name, the id of its row (or its line), and its words."""

    collection: str
    id: str
    question: str


class QuestionOverlap(NamedTuple):
    """The most similar evaluation question; the similarity is 1 if the words are the same."""

    found: EvaluationQuestion
    similarity: float


class EvaluationQuestions(NamedTuple):
    """The questions that a data set must not contain, and how many of them are from each set.

    Of the sets in `held_out`, only the held-out questions are here.
    """

    questions: tuple[EvaluationQuestion, ...] = ()
    sets: Mapping[str, int] = MappingProxyType({})
    held_out: Mapping[str, int] = MappingProxyType({})


def read_evaluation(folder: Path | None, config: DatasetConfig) -> EvaluationQuestions:
    """Return the questions of the evaluation sets in a folder of data; none without a folder.

    The default sets may be missing from the folder. Raises `InputError` if explicitly named sets are missing,
    and for rows without a question.
    """
    usual = DatasetConfig()
    if folder is None:
        if (config.evaluation_sets, config.held_sets) != (usual.evaluation_sets, usual.held_sets):
            raise InputError(
                "The evaluation sets cannot be found: no folder of data is set.",
                "Set CITEWELL_DATA, or keep the defaults of dataset.evaluation_sets and dataset.held_sets.",
            )
        return EvaluationQuestions()

    def read(key: str) -> list[EvaluationQuestion]:
        patterns: tuple[str, ...] = getattr(config, key)
        files = evaluation_files(folder, patterns, key, missing_ok=patterns == getattr(usual, key))
        return [question for file in files for question in read_evaluation_questions(file)]

    whole = read("evaluation_sets")
    held_out = [each for each in read("held_sets") if is_held_out(each.question)]
    return EvaluationQuestions(
        (*whole, *held_out),
        Counter(each.collection for each in whole),
        Counter(each.collection for each in held_out),
    )


def evaluation_files(folder: Path, patterns: Sequence[str], key: str, *, missing_ok: bool) -> list[Path]:
    """Return the files in `folder` that match the patterns, such as `questions/*.jsonl.gz`, in order.

    Raises `InputError` if a pattern matches none, unless `missing_ok`. `key` is the recipe's key of the
    patterns, for the message.
    """
    files: dict[Path, None] = {}
    for pattern in patterns:
        try:
            found = sorted(path for path in folder.glob(pattern) if path.is_file())
        except (NotImplementedError, ValueError):  # an absolute path, and an empty one
            found = []
        if not found and not missing_ok:
            raise InputError(
                f"No evaluation set in {folder} is named {pattern}.",
                f"Fix dataset.{key}: its names are relative to that folder, and may contain *.",
            )
        files |= dict.fromkeys(found)
    return list(files)


def read_evaluation_questions(file: Path) -> Iterator[EvaluationQuestion]:
    """Yield the questions of an evaluation set in JSON lines.

    A context, such as the body of a forum's question, belongs to the question (WebGPT, appendix B). Raises
    `InputError` for a line without a question.
    """
    for line in read_lines(file):
        row = line.row()
        question = row.get("question")
        if not isinstance(question, str) or not question.strip():
            raise line.error("the row has no question.", "Name files with questions in evaluation_sets.")
        context = row.get("context")
        if isinstance(context, str) and context.strip():
            question = f"{question}\n\n{context}"
        yield EvaluationQuestion(file.name.split(".")[0], str(row.get("id") or line.number), question)


def find_overlaps(
    questions: Sequence[str], evaluation: Sequence[EvaluationQuestion], threshold: float
) -> dict[int, QuestionOverlap]:
    """Return the nearest evaluation question of each question that is near one, by the question's index."""
    index = NearDuplicates((each.question for each in evaluation), threshold)
    found = {}
    for position, question in enumerate(questions):
        if near := index.near(question):
            found[position] = QuestionOverlap(evaluation[near[0].index], near[0].similarity)
    return found
