"""Measure what tells questions that given passages answer from those that they do not.

`python -m benchmarks.enough --data-dir DIR` has three sets of at most `--limit` questions of each kind:

- `squad`: SQuAD 2, with the paragraph that the question was asked about; divided by article;
- `mtrag`: people's conversations, which they called answerable from a corpus or not, completed by the rule of
  `citewell.pipeline.conversation.rule`, with five passages: their own, of which unanswerable ones have none,
  and the nearest of other questions on the corpus; divided by question;
- `covid`: questions that articles of Wikipedia for Schools (2007) answer, and questions about COVID-19, with
  the passages that are retrieved from it (`DIR` has the collection, or gets it); divided by question.

Signals are the evidence, the evidence for a quoted answer, the highest logit of the reader of answers, their
combination by logistic regression on the other half and, with `--writer NAME`, one minus the probability that
the writer refuses, the relevance of the best quotation by the writer as judge, and the combination of all. Of
each the area under the curve is printed, and how many of the unanswerable questions are refused where 5% of
the answerable ones are, with bootstrapped 95% intervals. With a writer, each question is also answered, and
the shares of both kinds are printed that are refused by the setting alone, by the best quotation too
(`citewell.generator.refusal`), and that get no answer. `--half held` measures on the half that no choice was
made on. `--details FILE` keeps the signals of each question, and a run with the same file goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.ask_wikispeedia import COLLECTION, build_index, covered_questions
from benchmarks.no_evidence import sample
from benchmarks.refusals import refusal_from
from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.events import final_answer
from citewell.core.logistic import fit_logistic
from citewell.core.ranking_metrics import area_under_curve
from citewell.core.row_log import RowLog
from citewell.core.settings import GeneratorSettings, Settings, load_settings
from citewell.core.significance import interval
from citewell.core.text import encoded_text
from citewell.core.types import Reference, Turn
from citewell.generator.citations.correction import check_quotations
from citewell.generator.citations.relevance import relevant
from citewell.generator.evaluation.held_out import digest
from citewell.generator.extractive import ExtractiveGenerator
from citewell.generator.local import LocalGenerator
from citewell.generator.refusal import least_refusal
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.conversation.rule import complete
from citewell.pipeline.evaluation.coverage import stored_pages
from citewell.pipeline.pipeline import Pipeline
from citewell.retriever.evidence import evidence, evidence_to_quote
from citewell.retriever.lexical import bm25

SETS = ("squad", "mtrag", "covid")
READERS = ("evidence", "evidence to quote", "reader")
WRITERS = ("writer does not refuse", "relevance of the best quotation")
ANSWERED = "answered"
ANSWERABLE_REFUSED = 0.05
PASSAGES = 5
_DRAWS = 1000
_NONE = -10.0  # the logit where there is nothing to read

Values = NDArray[np.float64]


class GivenQuestion(NamedTuple):
    """A question with its passages, which answer it or not; no passages stand for those to be retrieved."""

    text: str
    references: tuple[Reference, ...]
    answerable: bool
    group: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated [all]")
    parser.add_argument("--limit", type=int, default=100, help="questions of each kind, set and half")
    parser.add_argument("--half", choices=("dev", "held"), default="dev")
    parser.add_argument("--writer", help="a language model that runs in this process [none]")
    parser.add_argument("--details", type=Path, help="file of the signals")
    output_option(parser)
    arguments = parser.parse_args()
    sets = arguments.sets.split(",")
    if unknown := set(sets) - set(SETS):
        parser.error(f"unknown sets: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary:
        chosen: dict[str, Any] = {
            "data_dir": arguments.data_dir or Path(temporary),
            "generator.name": arguments.writer or "extractive",
        }
        if "covid" in sets:
            chosen["search.collection"] = COLLECTION
        settings = load_settings(chosen)
        details = arguments.details or Path(temporary) / "details.jsonl"
        asyncio.run(ask(settings, sets, arguments.limit, details))
        rows = RowLog(details).rows
    signals = READERS + (WRITERS if arguments.writer else ())
    measured = {name: of_set(rows, name, arguments.half, signals) for name in sets}
    cells = [
        [name, signal, *(str(value) for value in of.values())]
        for name, results in measured.items()
        for signal, of in results.items()
    ]
    header = ["set", "signal", "area", f"unanswerable refused at {ANSWERABLE_REFUSED:.0%}", "questions"]
    print(table(header, cells))
    result = {"half": arguments.half, "writer": arguments.writer or "", "sets": measured}
    if arguments.writer:
        result["answers"] = answers = {name: without_answer(rows, name, arguments.half) for name in sets}
        shown = [[n, kind, *of.values()] for n, kinds in answers.items() for kind, of in kinds.items()]
        print(table(["set", "questions that are", *answers[sets[0]]["answerable"]], shown))
    save(f"enough_{arguments.half}", result, arguments.output)


def squad() -> Iterator[GivenQuestion]:
    """Yield the questions of SQuAD 2 of articles that have questions of both kinds."""
    rows = [row for row in _rows("qa_pairs/squad_dev.jsonl.gz") if "2.0" in row["versions"]]
    places = [(row, (row["positive"] or row["hard_negative"])[0]) for row in rows]
    both = {place["title"] for row, place in places if not row["answerable"]}
    for row, place in places:
        if place["title"] in both:
            given = (Reference(1, place["url"], place["title"], place["text"], 0.0),)
            yield GivenQuestion(row["question"], given, row["answerable"], place["title"])


def mtrag() -> Iterator[GivenQuestion]:
    """Yield the questions of MTRAG that are answerable or not, completed by the turns before.

    Each has five passages of its corpus: its own, and those of other questions that are nearest by BM25.
    """
    rows = list(_rows("answerability/mtrag.jsonl.gz"))
    pools: dict[str, dict[str, str]] = {}
    for row in rows:
        for each in row["passages"]:
            pools.setdefault(corpus_of(row), {})[each["text"]] = each.get("title") or ""
    for row in rows:
        if row["label"] not in ("answerable", "unanswerable"):
            continue
        said = [each["text"] for each in row["history"]]
        turns = [Turn(asked, told) for asked, told in zip(said[::2], said[1::2], strict=False)]
        question = complete(row["question"], turns)
        pool = pools[corpus_of(row)]
        nearest = (-bm25(question, list(pool))).argsort(kind="stable")[:PASSAGES]
        texts = [*(each["text"] for each in row["passages"]), *(list(pool)[place] for place in nearest)]
        given = tuple(
            Reference(number, f"passage:{number}", pool[text], text, 0.0)
            for number, text in enumerate(list(dict.fromkeys(texts))[:PASSAGES], 1)
        )
        yield GivenQuestion(question, given, row["label"] == "answerable", question)


def corpus_of(row: Mapping[str, Any]) -> str:
    """Return the name of the corpus of a row, which some rows have in the name of an index."""
    return next(name for name in ("clapnq", "fiqa", "govt", "ibmcloud") if name in row["collection"])


def covid(settings: Settings, limit: int) -> Iterator[GivenQuestion]:
    """Yield covered questions and questions about COVID-19; the passages are to be retrieved."""
    covered, _ = covered_questions(list(stored_pages(settings)), "dev", limit)
    for each in covered:
        yield GivenQuestion(each.text, (), answerable=True, group=each.text)
    for text in sample("feedbackqa_train", limit):
        yield GivenQuestion(text, (), answerable=False, group=text)


def drawn(questions: Sequence[GivenQuestion], half: str, limit: int) -> list[GivenQuestion]:
    """Return at most `limit` questions of each kind of a half, which the digest of their group decides."""
    mine = [each for each in questions if half_of(each.group) == half]
    found = []
    for answerable in (True, False):
        of_kind = sorted(
            (each for each in mine if each.answerable is answerable), key=lambda q: digest(q.text)
        )
        found += of_kind[:limit]
    return found


def half_of(group: str) -> str:
    """Return the half that a group of questions is in."""
    return "held" if int(digest(group), 16) % 2 else "dev"


async def ask(settings: Settings, sets: Sequence[str], limit: int, details: Path) -> None:
    """Append the signals of each question to the details, of both halves."""
    log = RowLog(details)
    known = {(row["set"], row["question"], row["answerable"]) for row in log.rows}
    read: dict[str, Callable[[], Iterator[GivenQuestion]]] = {
        "squad": squad,
        "mtrag": mtrag,
        "covid": lambda: covid(settings, 2 * limit),
    }
    if "covid" in sets:
        build_index(settings)
    async with open_pipeline(settings) as pipeline:
        for name in sets:
            questions = list(read[name]())
            asked = [each for half in ("dev", "held") for each in drawn(questions, half, limit)]
            random.Random(0).shuffle(asked)  # so that an interrupted run has some of all
            for number, each in enumerate(asked, 1):
                if (name, each.text, each.answerable) in known:
                    continue
                asked_here = {"set": name, "half": half_of(each.group), "question": each.text}
                log.append(asked_here | {"answerable": each.answerable} | await signals_of(pipeline, each))
                if number % 10 == 0:
                    print(f"{name}: {number} of {len(asked)}", flush=True)


async def signals_of(pipeline: Pipeline, asked: GivenQuestion) -> dict[str, float]:
    """Return the signals of a question."""
    question, references = asked.text, asked.references
    if not references:
        references = (await final_answer(pipeline.retrieve(question))).references
    else:
        scores = pipeline.ranker.scores(question, [encoded_text(r.title_path, r.text) for r in references])
        references = tuple(replace(r, score=float(s)) for r, s in zip(references, scores, strict=True))
    quoter = pipeline.quoter or pipeline.generator
    assert isinstance(quoter, ExtractiveGenerator)
    quoted = "".join([token.text async for token in quoter.generate(question, references, 1)])
    quotations = check_quotations(quoted, references, pipeline.limits.threshold)
    found = evidence(question, references)
    titles = {reference.number: reference.title_path for reference in references}
    texts = [encoded_text(titles[q.citations[0]], q.text) for q in quotations if q.citations]
    reader = pipeline.ranker.reader
    signals = {
        "evidence": found,
        "evidence to quote": evidence_to_quote(found, quoter.best_score(question, references)),
        "reader": reader.best_logit(question, texts) if reader and texts else _NONE,
    }
    if isinstance(pipeline.generator, LocalGenerator) and pipeline.judge is not None:
        refused = await refusal_from(pipeline.generator, question, references)
        _, likely = await relevant(pipeline.judge.model, question, quotations, references)
        signals |= dict(zip(WRITERS, (1 - refused, likely), strict=True))
        asking = pipeline.write(question, references) if asked.references else pipeline.ask(question)
        signals[ANSWERED] = (await final_answer(asking)).outcome == "answered"
    return {name: round(float(value), 5) for name, value in signals.items()}


def of_set(
    rows: Sequence[Mapping[str, Any]], name: str, half: str, signals: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return what each signal tells, and what combinations fitted on the other half do."""
    mine = [row for row in rows if row["set"] == name]
    here = [row for row in mine if row["half"] == half]
    other = [row for row in mine if row["half"] != half]
    values = {signal: np.array([row[signal] for row in here]) for signal in signals}
    for size in sorted({len(READERS), len(signals)}):
        values[f"combination of {size}"] = combined(other, here, signals[:size])
    true = np.array([row["answerable"] for row in here])
    return {signal: measured_signal(of, true) for signal, of in values.items()}


def without_answer(rows: Sequence[Mapping[str, Any]], name: str, half: str) -> dict[str, dict[str, str]]:
    """Return the shares of the questions of both kinds that are refused, and that get no answer."""
    least = GeneratorSettings().refusal
    found = {}
    for kind, answerable in (("answerable", True), ("unanswerable", False)):
        of = [r for r in rows if (r["set"], r["half"], r["answerable"]) == (name, half, answerable)]
        refusals = [(1 - row[WRITERS[0]], row[WRITERS[1]]) for row in of]
        without = {
            "refused by the setting": [one >= least for one, _ in refusals],
            # Nothing was quoted where the relevance is 0.
            "refused by the quotation too": [
                one >= (least_refusal(least, likely) if likely else least) for one, likely in refusals
            ],
            "without an answer": [not row[ANSWERED] for row in of],
        }
        found[kind] = {"questions": str(len(of))}
        for measure, values in without.items():
            low, high = interval(
                {row["question"]: float(value) for row, value in zip(of, values, strict=True)}
            )
            found[kind][measure] = f"{fmean(values):.2f} ({low:.2f} to {high:.2f})"
    return found


def combined(
    other: Sequence[Mapping[str, Any]], here: Sequence[Mapping[str, Any]], signals: Sequence[str]
) -> Values:
    """Return the logits of the questions `here` by a regression on the others."""
    features, mine = (np.array([[row[signal] for signal in signals] for row in of]) for of in (other, here))
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    fitted = fit_logistic((features - mean) / spread, np.array([row["answerable"] for row in other]))
    found: Values = (mine - mean) / spread @ fitted[:-1] + fitted[-1]
    return found


def measured_signal(values: Values, true: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the area under the curve, and the share of the unanswerable that is refused."""
    generator = np.random.default_rng(0)
    yes, no = values[true], values[~true]
    drawn = [refused(generator.choice(yes, len(yes)), generator.choice(no, len(no))) for _ in range(_DRAWS)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return {
        "area": round(float(area_under_curve(values, true)), 3),
        "refused": f"{refused(yes, no):.2f} ({low:.2f} to {high:.2f})",
        "questions": len(values),
    }


def refused(answerable: Values, unanswerable: Values) -> float:
    """Return the share of the unanswerable below the value that leaves out 5% of the answerable."""
    least = np.quantile(answerable, ANSWERABLE_REFUSED, method="lower")
    return float(np.mean(unanswerable < least))


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(external_data() / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
