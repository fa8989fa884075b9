"""Reading the sources that a recipe names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.progress import Log
from citewell.core.training.sources import DataFolders, question_key, sample, tell_problems
from citewell.generator.evaluation.held_out import is_held_out
from citewell.generator.evaluation.rows import read_rows
from citewell.generator.training.arrange import Example
from citewell.generator.training.config import ExampleRecipe, GeneratorSourceConfig

_DATASET = "dataset"  # in the folder of a bootstrap


@dataclass(frozen=True)
class ExampleSource:
    """The examples of one source; each is seen `repeat` times per epoch."""

    name: str
    examples: tuple[Example, ...]
    repeat: int = 1


@dataclass(frozen=True)
class GeneratorData:
    """The training and dev data of a run. No question is in both."""

    train: tuple[ExampleSource, ...]
    dev: tuple[ExampleSource, ...]

    def fitting(self, fitting: Callable[[ExampleSource], tuple[Example, ...]], tell: Log) -> GeneratorData:
        """Drop training examples that do not fit; raises `InputError` if none of a source fit."""
        train = []
        for source in self.train:
            kept = fitting(source)
            tell(f"{source.name}: skipped {len(source.examples) - len(kept):,} too long rows")
            if not kept:
                raise InputError(
                    f"No row of the source {source.name} fits the prompt.",
                    "Raise prompt_tokens, or cut references with cut = true.",
                )
            train.append(replace(source, examples=kept))
        return replace(self, train=tuple(train))


def read_data(
    config: ExampleRecipe,
    folders: DataFolders,
    tell: Log,
    *,
    references: int,
    seed: int,
    answered: bool = True,
) -> GeneratorData:
    """Read all sources of the recipe.

    Lines without an answer are reported and skipped if all must be `answered`, as are rows that cite more
    `references` than a prompt has. Answers that cite references which do not exist are reported; `arrange`
    removes such marks. Questions of a dev set, and those that `citewell.generator.evaluation.held_out`
    reserves for evaluations, are removed from all training data. Raises `InputError` if nothing is left of a
    source.
    """

    def usable(source: GeneratorSourceConfig) -> tuple[Example, ...]:
        return _read(source, folders, references, seed, tell, answered=answered)

    dev = [ExampleSource(each.name, usable(each)) for each in config.dev]
    read = [usable(each) for each in config.data]
    for source, examples in zip(config.data, read, strict=True):
        if source.held_out:
            held = sample(examples, source.held_out, f"{seed} dev {source.name}")
            dev.append(ExampleSource(source.name, held))
    hidden = {question_key(example.question) for each in dev for example in each.examples}
    train = []
    for source, examples in zip(config.data, read, strict=True):
        kept = tuple(example for example in examples if question_key(example.question) not in hidden)
        free = tuple(example for example in kept if not is_held_out(example.question))
        if len(free) < len(kept):
            tell(f"{source.name}: skipped {len(kept) - len(free):,} questions reserved for evaluations")
        if not free:
            raise InputError(
                f"All questions of the source {source.name} are held out.",
                "Lower held_out, or use other data for dev.",
            )
        train.append(ExampleSource(source.name, free, source.repeat))
    return GeneratorData(tuple(train), tuple(dev))


def source_files(source: GeneratorSourceConfig, folders: DataFolders) -> list[Path]:
    """Return the files that a source is read from; of a folder that a bootstrap made, that of the split."""
    found = []
    for path in folders.files(source):
        if path.is_dir():
            places = [path / f"{source.split}.jsonl", path / _DATASET / f"{source.split}.jsonl"]
            path = next((place for place in places if place.is_file()), places[0])
        found.append(path)
    return found


def _read(
    source: GeneratorSourceConfig,
    folders: DataFolders,
    references: int,
    seed: int,
    tell: Log,
    *,
    answered: bool,
) -> tuple[Example, ...]:
    found, problems, crowded, astray = [], [], 0, []
    for file in source_files(source, folders):
        rows = read_rows(file)
        problems += list(rows.problems)
        for row in rows.rows:
            example = Example(row.question, tuple(each.text for each in row.references), row.answer)
            if answered and not row.answer:
                problems.append(f"{file}, line {row.line:,}: there is no answer.")
            elif len(example.cited) > references:
                crowded += 1
            else:
                found.append(example)
                if example.is_astray:
                    astray.append(f"{file}, line {row.line:,}")
    tell_problems(problems, source.name, tell)
    if crowded:
        tell(f"{source.name}: skipped {crowded:,} rows that cite more than {references} references")
    if astray:
        tell(
            f"{source.name}: {len(astray):,} answers cite references that do not exist; these marks are "
            f"removed (first: {astray[0]})"
        )
    if not found:
        first = f" {problems[0]}" if problems else ""
        raise InputError(
            f"The source {source.name} has no training row.{first}",
            'Rows are lines of {"question", "answer", "references"}, with marks such as [1] in the answer.',
        )
    return sample(found, source.limit, f"{seed} {source.name}")
