"""Examples for a judge: the messages that Citewell asks it, and whether yes is right."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.support_labels import SUPPORT
from citewell.core.training.fields import (
    TitledPassage,
    candidates,
    label,
    optional_text,
    passages,
    text,
    texts,
)
from citewell.core.training.sources import DataFolders, question_key, sample
from citewell.core.windows import best_window
from citewell.generator.citations.answering import answered_prompt, right_prompt
from citewell.generator.citations.asking import support_prompt
from citewell.generator.citations.judged import WINDOW
from citewell.generator.citations.relevance import relevance_prompt
from citewell.generator.evaluation.held_out import is_held_out
from citewell.generator.prompt import Message
from citewell.generator.training.judge.config import JudgeRecipe

_ANSWERABLE = {"answerable": 1.0, "unanswerable": 0.0}


class JudgeExample(NamedTuple):
    """The messages of a question to the judge, the probability of yes, and what the example is about."""

    messages: tuple[Message, ...]
    yes: float
    about: str
    """The claim or the question, of which dev and training share none."""


class JudgeSource(NamedTuple):
    """The examples of one source; each is seen `repeat` times per epoch."""

    name: str
    examples: tuple[JudgeExample, ...]
    repeat: int = 1


class JudgeData(NamedTuple):
    """The training and dev examples of a run."""

    train: tuple[JudgeSource, ...]
    dev: tuple[JudgeSource, ...]


def read_examples(config: JudgeRecipe, folders: DataFolders) -> JudgeData:
    """Read all sources of a recipe, without questions that are reserved for evaluations.

    Where a line has several candidates or answers, one is drawn with the seed, a right or a wrong one equally
    often. Raises `InputError` for a line of another form, and if nothing is left of a source.
    """
    seed = config.training.seed
    read = {
        source.name: [
            example
            for file in folders.files(source)
            for example in _READERS[source.asks](file, f"{seed} {source.name}")
            if not is_held_out(example.about)
        ]
        for source in config.data
    }
    held = {
        source.name: sample(read[source.name], source.held_out, f"{seed} dev {source.name}")
        for source in config.data
        if source.held_out
    }
    hidden = {question_key(example.about) for examples in held.values() for example in examples}
    train = []
    for source in config.data:
        free = [example for example in read[source.name] if question_key(example.about) not in hidden]
        if not free:
            raise InputError(
                f"The source {source.name} has no training example.", "Lower held_out, or use other data."
            )
        train.append(
            JudgeSource(source.name, sample(free, source.limit, f"{seed} {source.name}"), source.repeat)
        )
    dev = tuple(JudgeSource(name, examples) for name, examples in held.items())
    return JudgeData(tuple(train), dev)


def _claims(file: Path, seed: str) -> Iterator[JudgeExample]:
    """Read lines of {premise, claim, label}, or of questions with passages as `_answers` does.

    With the latter, the claim is the question followed by an answer, as a short sentence is judged.
    """
    for line in read_lines(file):
        row = line.row()
        if "question" in row and "positive" in row:
            break
        if not row.get("premise"):
            continue
        claim = text(line, row, "claim")
        shown = best_window(text(line, row, "premise"), claim, WINDOW)
        yield JudgeExample(tuple(support_prompt(claim, shown)), label(line, row, SUPPORT), claim)
    else:
        return
    for each in _answers(file, seed):
        claim = f"{each.question} {each.answer}"
        yield JudgeExample(tuple(support_prompt(claim, each.passage)), each.right, each.question)


def _answered(file: Path, seed: str) -> Iterator[JudgeExample]:
    """Read lines of {question, title?, passage, label}, or of {question, positive, hard_negative}."""
    for line in read_lines(file):
        row = line.row()
        question = text(line, row, "question")
        labeled = [(each, 1.0) for each in passages(line, row, "positive")]
        labeled += [(each, 0.0) for each in passages(line, row, "hard_negative")]
        if "passage" in row:
            stated = optional_text(line, row, "label")
            if stated not in _ANSWERABLE:
                continue
            passage = TitledPassage(optional_text(line, row, "title"), text(line, row, "passage"))
            labeled = [(passage, _ANSWERABLE[stated])]
        if labeled:
            chance = random.Random(f"{seed} {question}")  # noqa: S311
            wanted = chance.choice(sorted({yes for _, yes in labeled}))
            passage, yes = chance.choice([each for each in labeled if each[1] == wanted])
            shown = _shown(passage, question)
            yield JudgeExample(tuple(answered_prompt(question, shown)), yes, question)


class _AskedPassages(NamedTuple):
    question: str
    answering: list[TitledPassage]
    others: list[TitledPassage]
    answers: list[str]

    @classmethod
    def of(cls, line: Line) -> _AskedPassages:
        row = line.row()
        return cls(
            text(line, row, "question"),
            passages(line, row, "positive"),
            passages(line, row, "hard_negative"),
            texts(line, row, "answer"),
        )


class _Answer(NamedTuple):
    question: str
    answer: str
    passage: str
    right: float


def _answers(file: Path, seed: str) -> Iterator[_Answer]:
    """Read lines of {question, positive, hard_negative?, answer} whose passages several questions share.

    Half of the answers are those of another question on the same passage, and so are all answers to a
    question that only has a hard negative. Of a passage with a single question, only the right answer is
    taken.
    """
    rows = [_AskedPassages.of(line) for line in read_lines(file)]
    answers: dict[str, dict[str, None]] = {}
    for row in rows:
        for passage in row.answering:
            answers.setdefault(passage.text, {}).update(dict.fromkeys(row.answers))
    for question, answering, hard, own in rows:
        chance = random.Random(f"{seed} {question}")  # noqa: S311
        shown = [*answering, *hard][:1]
        if not shown:
            continue
        right = bool(answering)
        known = {question_key(each) for each in own}
        others = [
            each
            for each in answers.get(shown[0].text, ())
            if not any(question_key(each) in one or one in question_key(each) for one in known)
        ]
        if right and own and (not others or chance.random() < 1 / 2):
            yield _Answer(question, own[0], _shown(shown[0], f"{question} {own[0]}"), 1.0)
        elif others:
            drawn = chance.choice(others)
            yield _Answer(question, drawn, _shown(shown[0], f"{question} {drawn}"), 0.0)


def _right(file: Path, seed: str) -> Iterator[JudgeExample]:
    for question, answer, passage, right in _answers(file, seed):
        yield JudgeExample(tuple(right_prompt(question, answer, passage)), right, question)


def _relevance(file: Path, seed: str) -> Iterator[JudgeExample]:
    """Read lines of {question, title?, candidates}, of which a candidate is {text, label}."""
    for line in read_lines(file):
        row = line.row()
        question = text(line, row, "question")
        chance = random.Random(f"{seed} {question}")  # noqa: S311
        wanted = chance.randrange(2)
        found = [each for each, label in candidates(line, row) if label == wanted]
        if found:
            messages = relevance_prompt(question, optional_text(line, row, "title"), chance.choice(found))
            yield JudgeExample(tuple(messages), float(wanted), question)


_READERS = {"support": _claims, "answered": _answered, "right": _right, "relevance": _relevance}


def _shown(passage: TitledPassage, wanted: str) -> str:
    text = best_window(passage.text, wanted, WINDOW)
    return f"{passage.title}: {text}" if passage.title else text
