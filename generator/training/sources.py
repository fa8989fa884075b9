"""Reading the sources that a recipe names."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.progress import Tell
from citewell.core.recipe import find
from citewell.core.text import squeeze
from citewell.generator.evaluation.held_out import is_held_out
from citewell.generator.evaluation.rows import read_rows
from citewell.generator.training.arrange import Example
from citewell.generator.training.config import GeneratorRecipe, GeneratorSourceConfig

_MOST_PROBLEMS = 5
_DATASET = "dataset"  # in the folder of a bootstrap


@dataclass(frozen=True)
class ExampleSource:
    """The examples of one source; each is seen `repeat` times an epoch."""

    name: str
    examples: tuple[Example, ...]
    repeat: int = 1


@dataclass(frozen=True)
class GeneratorData:
    """What a run learns from, and what it is measured on. No question is in both."""

    train: tuple[ExampleSource, ...]
    dev: tuple[ExampleSource, ...]

    def fitting(self, fits: Callable[[Example], bool], tell: Tell) -> GeneratorData:
        """Without examples to learn from that do not fit; raises `InputError` where none of a source do."""
        train = []
        for source in self.train:
            kept = tuple(example for example in source.examples if fits(example))
            tell(f"{source.name}: {len(source.examples) - len(kept):,} rows are too long, and left out")
            if not kept:
                raise InputError(
                    f"No row of the source {source.name} fits the prompt.",
                    "Raise prompt_tokens, or have references cut: cut = true.",
                )
            train.append(replace(source, examples=kept))
        return replace(self, train=tuple(train))


def read_data(config: GeneratorRecipe, recipe: Path, tell: Tell) -> GeneratorData:
    """Read all sources of the recipe in the file `recipe`.

    A line that is no row with a cited answer is told and left out, as are rows that cite more references than
    a prompt has. Answers that cite references which are not there are told too; `arrange` takes such marks
    out. A question of a dev set, or one that `citewell.generator.evaluation.held_out` holds back for
    evaluations, is taken out of all training data. Raises `InputError` where nothing is left of a source.
    """
    seed = config.training.seed
    references = config.prompt.references
    dev = [ExampleSource(each.name, _read(each, recipe, references, seed, tell)) for each in config.dev]
    read = [_read(each, recipe, references, seed, tell) for each in config.data]
    for source, examples in zip(config.data, read, strict=True):
        if source.held_out:
            drawn = random.Random(f"{seed} dev {source.name}").sample(  # noqa: S311
                range(len(examples)), min(source.held_out, len(examples))
            )
            dev.append(ExampleSource(source.name, tuple(examples[place] for place in sorted(drawn))))
    hidden = {_key(example.question) for each in dev for example in each.examples}
    train = []
    for source, examples in zip(config.data, read, strict=True):
        kept = tuple(example for example in examples if _key(example.question) not in hidden)
        free = tuple(example for example in kept if not is_held_out(example.question))
        if len(free) < len(kept):
            tell(f"{source.name}: {len(kept) - len(free):,} questions are kept for evaluations, and left out")
        if not free:
            raise InputError(
                f"The source {source.name} has no question that is not held out.",
                "Lower held_out, or take other data for dev.",
            )
        train.append(ExampleSource(source.name, free, source.repeat))
    return GeneratorData(tuple(train), tuple(dev))


def source_files(source: GeneratorSourceConfig, recipe: Path) -> list[Path]:
    """The files that a source is read from; of a folder that a bootstrap made, that of the split."""
    found = []
    for name in source.files:
        path = find(name, recipe)
        if path.is_dir():
            places = [path / f"{source.split}.jsonl", path / _DATASET / f"{source.split}.jsonl"]
            path = next((place for place in places if place.is_file()), places[0])
        found.append(path)
    return found


def _read(
    source: GeneratorSourceConfig, recipe: Path, references: int, seed: int, tell: Tell
) -> tuple[Example, ...]:
    found, problems, left_out, astray = [], [], Counter[str](), []
    for file in source_files(source, recipe):
        rows = read_rows(file)
        problems += list(rows.problems)
        for row in rows.rows:
            example = Example(row.question, tuple(each.text for each in row.references), row.answer)
            if not row.answer:
                problems.append(f"{file}, line {row.line:,}: there is no answer to learn from.")
            elif len(example.cited) > references:
                left_out[f"cite more than {references} references"] += 1
            else:
                found.append(example)
                if example.is_astray:
                    astray.append(f"{file}, line {row.line:,}")
    for problem in problems[:_MOST_PROBLEMS]:
        tell(problem)
    if len(problems) > _MOST_PROBLEMS:
        tell(f"{source.name}: {len(problems) - _MOST_PROBLEMS:,} more lines are wrong, and left out")
    for reason, count in left_out.items():
        tell(f"{source.name}: {count:,} rows {reason}, and are left out")
    if astray:
        tell(
            f"{source.name}: {len(astray):,} answers cite references that are not there; these marks are "
            f"left out (first: {astray[0]})"
        )
    if not found:
        first = f" {problems[0]}" if problems else ""
        raise InputError(
            f"The source {source.name} has no row to learn from.{first}",
            'Rows are lines of {"question", "answer", "references"}, with marks such as [1] in the answer.',
        )
    return _drawn(found, source, seed)


def _drawn(examples: Sequence[Example], source: GeneratorSourceConfig, seed: int) -> tuple[Example, ...]:
    if source.limit is None or len(examples) <= source.limit:
        return tuple(examples)
    chance = random.Random(f"{seed} {source.name}")  # noqa: S311
    return tuple(examples[place] for place in sorted(chance.sample(range(len(examples)), source.limit)))


def _key(question: str) -> str:
    return squeeze(question).casefold()
