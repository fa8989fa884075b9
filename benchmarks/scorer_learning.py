"""Measure the learning curves of a scorer: more data, and a larger model.

`python -m benchmarks.scorer_learning recipes/scorer-votes.toml` divides the data of a recipe as its training
does, and fits the linear head of a scorer (`citewell.scorer.training.probe`) to growing shares of the
questions, for each of several base models as they come: `--bases all-MiniLM-L6-v2:3,SmolLM2-135M-Instruct:20`
names them with the layers that are used. The models themselves are not trained, so that a point of the curve
costs no more than reading the answers once. Smaller shares are drawn several times, and the mean and the
deviation of the accuracy on the test questions are printed. A line through accuracy by the logarithm of the
number of questions says how many would reach `--target`, if the line went on.

`--test FILE` writes the rows of the test questions, for `citewell eval scorer FILE`, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.results_files import output_option, save, table
from citewell.core.jsonl import read_lines
from citewell.core.settings import load_settings
from citewell.core.training.checkpoints import quiet
from citewell.core.training.sources import DataFolders
from citewell.scorer.data.types import Comparison
from citewell.scorer.training.collate import Whole, encode, targets
from citewell.scorer.training.config import ScorerModelConfig, ScorerRecipe, load_config
from citewell.scorer.training.elements import Element, elements
from citewell.scorer.training.measures import measure, scored
from citewell.scorer.training.model import TrainableScorer, build_model
from citewell.scorer.training.probe import probe, vectors_of
from citewell.scorer.training.sources import Sources, read_sources

SHARES = (0.125, 0.25, 0.5, 1.0)
DRAWS = 5  # of each share but the whole


class Point(NamedTuple):
    """A point of the curve: the training questions, and the measures of each draw on the test pairs."""

    questions: int
    accuracy: list[float]
    matched: list[float]


class Answers(NamedTuple):
    """Test pairs: their comparisons, and the vectors of both answers, (n, size) each."""

    comparisons: list[Comparison]
    first: Any
    second: Any


def main() -> None:
    """Print the curves, and write them as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", type=Path)
    parser.add_argument(
        "--bases", default="all-MiniLM-L6-v2:3", help="names with the number of layers to use"
    )
    parser.add_argument(
        "--limit", type=int, help="questions of each source, to train on and to test on [the recipe's]"
    )
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--target", type=float, default=0.6)
    parser.add_argument("--test", type=Path, help="only write the test questions to this file")
    output_option(parser)
    arguments = parser.parse_args()
    config = load_config(arguments.recipe)
    if arguments.limit:
        data = tuple(source.model_copy(update={"limit": arguments.limit}) for source in config.data)
        config = config.model_copy(update={"data": data})
    settings = load_settings()
    folders = DataFolders(arguments.recipe.parent, settings.data)
    sources = read_sources(config, folders, print)
    if arguments.limit:
        test = tuple(replace(source, groups=source.groups[: arguments.limit]) for source in sources.test)
        sources = replace(sources, test=test)
    if arguments.test:
        print(f"{write_test(config, folders, sources, arguments.test):,} questions")
        return
    quiet()
    cache = settings.cache_dir
    shares = [float(share) for share in arguments.shares.split(",")]
    curves: dict[str, list[Point]] = {}
    for base in arguments.bases.split(","):
        curves[base] = curve(config, base, sources, shares, arguments.draws, cache)
        show(base, curves[base], arguments.target)
    found = {base: [point._asdict() for point in points] for base, points in curves.items()}
    save("scorer_learning", {"recipe": arguments.recipe.name, "curves": found}, arguments.output)


def write_test(config: ScorerRecipe, folders: DataFolders, sources: Sources, out: Path) -> int:
    """Write the rows of the test questions as they are in the data; return their number."""
    wanted = {group.question for source in sources.test for group in source.groups}
    written = 0
    with out.open("w", encoding="utf-8") as file:
        for source in config.data:
            for name in folders.files(source):
                for line in read_lines(name):
                    row = json.loads(line.text)
                    if row.get("question") in wanted:
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
                        written += 1
    return written


def curve(
    config: ScorerRecipe, base: str, sources: Sources, shares: Sequence[float], draws: int, cache: Path
) -> list[Point]:
    """Return the points of one base model, given as `name:layers` or by its name alone."""
    name, _, depth = base.partition(":")
    model = ScorerModelConfig(
        base=name, depth=int(depth) if depth else None, tuning="full", frozen=1.0, layout=config.model.layout
    )
    trainable = build_model(model, cache, config.training.seed)
    learned = [
        element
        for source in sources.train
        for element in elements(
            source.groups, source.voted, config.objective.formulation, config.training.seed
        )
    ]
    rows = [encode(element, trainable.encoder, config.objective.match_length) for element in learned]
    starts = np.cumsum([0, *map(len, rows)])
    vectors = vectors_of(trainable, [row for of in rows for row in of], print)
    tested = answers(trainable, sources)
    points = []
    for share in shares:
        count = max(2, round(share * len(learned)))
        point = Point(count, [], [])
        for draw in range(draws if share < 1 else 1):
            places = sorted(random.Random(f"{share} {draw}").sample(range(len(learned)), count))
            some: list[Element] = [learned[place] for place in places]
            part = targets(some, [row for place in places for row in rows[place]], Whole.of(some))
            own = [row for place in places for row in range(starts[place], starts[place + 1])]
            weights = probe(vectors[own], part, config.objective, config.training.probe or 0.1).weights
            logits = ((tested.first - tested.second) @ weights).tolist()
            found = measure(scored(tested.comparisons, logits))
            point.accuracy.append(round(found["accuracy"], 4))
            point.matched.append(round(found["length_matched"], 4))
        points.append(point)
    return points


def answers(trainable: TrainableScorer, sources: Sources) -> Answers:
    """Return the test pairs with their vectors."""
    comparisons = [each for source in sources.test for group in source.groups for each in group.comparisons]
    sides = [
        (each.question, text, references)
        for each in comparisons
        for text, references in zip((each.first, each.second), each.both_references, strict=True)
    ]
    # An answer is in several pairs, and read once.
    places = {side: place for place, side in enumerate(dict.fromkeys(sides))}
    vectors = vectors_of(trainable, [trainable.encoder.encode(*side) for side in places], print)
    rows = [places[side] for side in sides]
    return Answers(comparisons, vectors[rows[::2]], vectors[rows[1::2]])


def needed(points: Sequence[Point], target: float) -> float:
    """Return the questions at which the line through the points reaches the target; infinite if it falls."""
    logarithms = [math.log2(point.questions) for point in points]
    slope, level = np.polyfit(logarithms, [statistics.fmean(point.accuracy) for point in points], 1)
    return float(2 ** ((target - level) / slope)) if slope > 0 else math.inf


def show(base: str, points: Sequence[Point], target: float) -> None:
    """Print one curve."""
    rows = [
        [f"{point.questions:,}", spread(point.accuracy), spread(point.matched), len(point.accuracy)]
        for point in points
    ]
    print(f"\n{base}\n\n" + table(["questions", "pair accuracy", "length-matched", "draws"], rows))
    more = needed(points, target) if len(points) > 1 else math.inf
    print(
        f"\n{target} would need {more:,.0f} questions."
        if math.isfinite(more)
        else f"\n{target} is not in sight."
    )


def spread(values: Sequence[float]) -> str:
    """Format mean and deviation."""
    mean = statistics.fmean(values)
    return f"{mean:.3f} ± {statistics.stdev(values):.3f}" if len(values) > 1 else f"{mean:.3f}"


if __name__ == "__main__":
    main()
