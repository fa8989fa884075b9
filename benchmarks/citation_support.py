"""Measure how well checks of support agree with people, on claims of kinds that were trained on and others.

`python -m benchmarks.citation_support` takes claims with texts of 16 sets. It compares the word rule (ROUGE-1
precision of content words, all names and numbers), the cosine of the best sentence, the reader of support,
these together and, on few pairs, the check by the language model as it is by default (`--judges writer`)
and a model of inference (`--nli MODEL`). The others are calibrated (Platt scaling) on the rows that the
reader's training left out, without those of the kind that is measured, and a claim counts as supported from a
probability of one half; the word rule also as it is by default. Printed are balanced accuracy and the area
under the ROC curve with 95% intervals (bootstrap), and the expected calibration error. `--pairs 40` is the
small form.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.results_files import RESULTS, output_option, save, table
from benchmarks.support_measures import (
    Scores,
    SupportBin,
    SupportMeasures,
    Verdicts,
    bins,
    calibrated,
    draw,
    gated,
    measured,
    supported,
)
from benchmarks.support_sets import SupportSet, read_sets
from citewell.core.settings import CitationSettings, Settings, load_settings
from citewell.core.types import Reference, Sentence
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.citations.support import holds_facts, rouge_1_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.evaluation.judges.nli import NliJudge, load_nli
from citewell.generator.load import open_yes_model
from citewell.retriever.cross_encoder.support import load_support_reader
from citewell.retriever.encoder.load import load_encoder

RULE, WORDS, FACTS, COSINE = "word rule", "words", "facts", "embedding"
READER, COMBINATION, WRITER, PASSED = "reader", "combination", "writer", "passed"
NLI = "inference"
GATED = "reader and facts"
SYSTEMS: Mapping[str, tuple[str, ...]] = {
    WORDS: (WORDS,),
    COSINE: (COSINE,),
    READER: (READER,),
    GATED: (READER, FACTS),
    COMBINATION: (READER, WORDS, FACTS, COSINE),
}
"""The scores that each system combines; the word rule and the writer's check have their own thresholds."""
MODEL_OF_WRITER = "qwen2.5-coder-1.5b"
_CLIP = 1e-4
_LIKELY = 0.5


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", help="folder of the reader; without it, nothing of it is measured")
    parser.add_argument("--pairs", type=int, default=400, help="of each set [400]")
    parser.add_argument("--judges", choices=["none", WRITER], default="none", help="slow judges [none]")
    parser.add_argument("--nli", metavar="MODEL", help="hub id or folder of a model of inference, also slow")
    parser.add_argument("--judge-pairs", type=int, default=30, help="of each set for slow judges [30]")
    parser.add_argument(
        "--plot", type=Path, default=RESULTS / "citation_support.png", help="file of the plot"
    )
    output_option(parser)
    arguments = parser.parse_args()
    settings = load_settings()
    sets = read_sets(arguments.pairs)
    scored = score_sets(sets, settings, arguments.reader)
    found = measure_sets(sets, scored)
    slow = []
    most = arguments.judge_pairs
    few = [each._replace(rows=each.rows[:most]) for each in sets]
    if arguments.judges == WRITER:
        slow.append(asyncio.run(check_by_writer(few, settings)))
    if arguments.nli:
        slow.append(check_by_inference(few, load_nli(arguments.nli)))
    if slow:
        shown = {
            each.name: {name: values[:most] for name, values in scored[each.name].items()} for each in few
        }
        for of_judge in slow:
            for each, judged in zip(few, of_judge, strict=True):
                shown[each.name] |= judged
        found |= {f"{name}, {most} pairs": of for name, of in measure_sets(few, shown).items()}
    print_tables(sets, found)
    if arguments.reader:
        draw(plotted(sets, scored), arguments.plot)
    counts = {each.name: len(each.rows) for each in sets}
    systems = {name: {group: of.shown() for group, of in groups.items()} for name, groups in found.items()}
    save("citation_support", {"pairs": counts, "nli": arguments.nli, "systems": systems}, arguments.output)


def score_sets(sets: Sequence[SupportSet], settings: Settings, reader: str | None) -> dict[str, Scores]:
    """Return the scores of all systems but the writer by the name of the set; the reader's are logits."""
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    judge = EmbeddingJudge(encoder.encode_passages)
    model = load_support_reader(reader, settings.cache_dir, threads=settings.threads) if reader else None
    found: dict[str, Scores] = {}
    for each in sets:
        pairs = [(row.claim, row.text) for row in each.rows]
        scores = {
            WORDS: np.array([rouge_1_precision(claim, text) for claim, text in pairs]),
            FACTS: np.array([float(holds_facts(claim, text)) for claim, text in pairs]),
            COSINE: np.array(judge.grades([ClaimAndPassages(claim, (text,)) for claim, text in pairs])),
        }
        if model is not None:
            yes = np.clip(model.probabilities(pairs), _CLIP, 1 - _CLIP)
            scores[READER] = np.log(yes / (1 - yes))
        found[each.name] = scores
        print(f"{each.name}: {len(each.rows)} claims", flush=True)
    return found


async def check_by_writer(sets: Sequence[SupportSet], settings: Settings) -> list[Scores]:
    """Return the probabilities of the check of answers by a language model, and which claims passed it."""
    wanted = settings.generator.model_copy(update={"name": MODEL_OF_WRITER})
    found: list[Scores] = []
    async with open_yes_model(wanted, settings.cache_dir, threads=settings.threads) as model:
        judge = JudgedCitations(model)
        for each in sets:
            checked: list[Sentence] = []
            for row in each.rows:
                claim = Sentence(row.claim, (), 0.0, supported=False)
                checked += await judge.check("", [claim], [Reference(1, "", "", row.text, 0.0)])
            found.append(
                {
                    WRITER: np.array([sentence.support for sentence in checked]),
                    PASSED: np.array([float(sentence.supported) for sentence in checked]),
                }
            )
            print(f"{each.name}: {len(each.rows)} claims by {model.name}", flush=True)
    return found


def check_by_inference(sets: Sequence[SupportSet], judge: NliJudge) -> list[Scores]:
    """Return the probabilities of a model of inference."""
    found: list[Scores] = []
    for each in sets:
        pairs = [ClaimAndPassages(row.claim, (row.text,)) for row in each.rows]
        found.append({NLI: np.array(judge.grades(pairs))})
        print(f"{each.name}: {len(pairs)} claims by {judge.name}", flush=True)
    return found


def measure_sets(
    sets: Sequence[SupportSet], scored: Mapping[str, Scores]
) -> dict[str, dict[str, SupportMeasures]]:
    """Return the measures by system and set, with means over the kinds trained on and the others."""
    found: dict[str, dict[str, SupportMeasures]] = {}
    for name, parts in {RULE: (WORDS, FACTS), **SYSTEMS, WRITER: (WRITER,), NLI: (NLI,)}.items():
        if any(part not in scored[each.name] for each in sets for part in parts):
            continue
        said = {each.name: verdicts(name, each, sets, scored) for each in sets}
        groups = {each.name: [each] for each in sets}
        groups["mean, kinds trained on"] = [each for each in sets if each.trained]
        groups["mean, other kinds"] = [each for each in sets if not each.trained]
        found[name] = {group: measured(of, [said[each.name] for each in of]) for group, of in groups.items()}
    return found


def verdicts(
    system: str, each: SupportSet, sets: Sequence[SupportSet], scored: Mapping[str, Scores]
) -> Verdicts:
    """Return what a system says of a set."""
    if system == WRITER:
        return Verdicts(scored[each.name][WRITER], scored[each.name][PASSED] == 1)
    if system == NLI:
        return Verdicts(scored[each.name][NLI], scored[each.name][NLI] >= _LIKELY)
    if system == GATED:
        return gated(READER, FACTS, each, sets, scored)
    if system != RULE:
        return calibrated(SYSTEMS[system], each, sets, scored)
    words, facts = scored[each.name][WORDS], scored[each.name][FACTS]
    return Verdicts(words * facts, (words >= CitationSettings().threshold) & (facts == 1))


def print_tables(sets: Sequence[SupportSet], found: Mapping[str, Mapping[str, SupportMeasures]]) -> None:
    """Print balanced accuracy, area and calibration by set and system."""
    groups = list(next(iter(found.values())))
    counts = {each.name: f" ({len(each.rows)})" for each in sets}
    shown: Mapping[str, Callable[[SupportMeasures], str]] = {
        "balanced accuracy": lambda of: str(of.balanced),
        "area under the curve": lambda of: str(of.area),
        "calibration error": lambda of: "" if (e := of.calibration_error) is None else f"{e:.3f}",
    }
    for title, cell in shown.items():
        rows = [
            [group + counts.get(group, ""), *(cell(of[group]) for of in found.values())] for group in groups
        ]
        print(f"\n{table([title, *found], rows)}")
    print(f"\nThe first {sum(each.trained for each in sets)} kinds were trained on.")


def plotted(sets: Sequence[SupportSet], scored: Mapping[str, Scores]) -> dict[str, list[SupportBin]]:
    """Return the bins of the reader and the combination, on kinds trained on and on the others."""
    found = {}
    for system in (READER, COMBINATION):
        for trained in (True, False):
            kinds = [each for each in sets if each.trained is trained]
            said = [verdicts(system, each, sets, scored).probabilities for each in kinds]
            predicted = np.concatenate([each for each in said if each is not None])
            name = f"{system}, {'kinds trained on' if trained else 'other kinds'}"
            found[name] = bins(predicted, np.concatenate([supported(each) for each in kinds]))
    return found


if __name__ == "__main__":
    main()
