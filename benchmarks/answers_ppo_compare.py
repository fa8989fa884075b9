"""Answers of a trained policy beside those of its start, for `benchmarks.answers_ppo`."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.results_files import save, table
from citewell.core.settings import CitationSettings, Settings, load_settings
from citewell.core.significance import compare_all, differences_table, interval
from citewell.core.training.plot import Panel, draw_panels
from citewell.core.types import Sentence
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.ending import finished
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import CachingJudge
from citewell.generator.evaluation.rows import read_rows
from citewell.generator.evaluation.text import copied
from citewell.generator.resolve import resolve
from citewell.generator.training.arrange import Example
from citewell.generator.training.sources import ExampleSource
from citewell.generator.transformers import stop_tokens
from citewell.reinforcement.answers import QuestionStream
from citewell.reinforcement.config import AnswersRecipe
from citewell.reinforcement.greedy import greedy_answers, load_policy
from citewell.reinforcement.networks import (
    POLICY,
    REFERENCE,
    PolicyNetworks,
    autocast,
    build_networks,
    collated,
)
from citewell.reinforcement.reward import AnswerReward
from citewell.reinforcement.rollout import PromptedQuestion
from citewell.reinforcement.sampler import TorchSampler
from citewell.retriever.encoder.load import load_encoder
from citewell.scorer.load import DEFAULT, load_scorer
from citewell.scorer.scorer import PreferenceJudge, SupportScorer

SAMPLED, GREEDY = "start, one sample", "start, greedy"
BEST_OF = "start, best of"
SUPPORT, ENDED, WORDS, COPIED = "support", "ended", "words", "copied 8-grams"
Values = dict[str, dict[str, float]]


@dataclass(frozen=True)
class WrittenSample:
    """One answer, whether it ended within the limit, and its log-ratio to the start."""

    text: str
    ended: bool
    kl: float = 0.0


Samples = Mapping[str, Sequence[WrittenSample]]


def compare_answers(
    questions: Path, trained: Sequence[Path], out: Path, *, best_of: Sequence[int], tokens: int
) -> None:
    """Write the answers that are missing in the folder, measure all, and print and save the comparison."""
    settings = load_settings({})
    config = AnswersRecipe.model_validate_json((trained[0] / "run.json").read_text(encoding="utf-8"))
    limit = tokens or config.prompt.answer_tokens
    config = config.model_copy(update={"prompt": config.prompt.model_copy(update={"answer_tokens": limit})})
    out.mkdir(parents=True, exist_ok=True)
    networks = build_networks(
        resolve(config.model.start), config.model.lora, settings.cache_dir, own_value=False, seed=0
    )
    asked = _asked(networks, config, questions)
    rate = _rate(asked)
    sampled = _kept(networks, asked, config, out / "start.jsonl", 1 + max(best_of, default=0))
    drawn = {SAMPLED: {key: of[0] for key, of in sampled.items()}}
    for n in best_of:
        best = {key: max(of[1 : 1 + n], key=partial(rate, key)) for key, of in sampled.items()}
        drawn[f"{BEST_OF} {n}"] = {key: replace(each, kl=best_of_kl(n)) for key, each in best.items()}
    greedy = {GREEDY: _greedy(networks, asked, config, out / "start-greedy.jsonl")}
    for folder in trained:
        load_policy(networks, folder)
        kept = _kept(networks, asked, config, out / f"{folder.name}.jsonl", 1)
        drawn[f"{folder.name}, one sample"] = {key: of[0] for key, of in kept.items()}
        file = out / f"{folder.name}-greedy.jsonl"
        greedy[f"{folder.name}, greedy"] = _greedy(networks, asked, config, file)
    print(f"{len(asked):,} questions, at most {config.prompt.answer_tokens} tokens per answer")
    results = {
        name: _compared(systems, asked, settings)
        for name, systems in (("sampled", drawn), ("greedy", greedy))
    }
    about = {"questions": len(asked), "answer_tokens": config.prompt.answer_tokens}
    save("answers_ppo", about | results, out / "answers_ppo.json")
    _draw(results["sampled"], out / "answers-kl.png")


def best_of_kl(n: int) -> float:
    """Return the KL divergence of best of `n` from one sample, in nats: log n − (n − 1) / n (WebGPT §5.1)."""
    return math.log(n) - (n - 1) / n


def _draw(results: Mapping[str, Any], file: Path) -> None:
    """Plot reward, win rate and copying against the KL divergence (WebGPT, Figures 4 and 5)."""
    means, wins, first = results["means"], results["win_rates"], results["against"]
    best = sorted((name for name in means if name.startswith(BEST_OF)), key=lambda name: means[name]["KL"])
    lines = {"best of n": [first, *best]}
    lines |= {name: [first, name] for name in means if name not in {first, *best}}
    values = {
        ("Reward: citation support", "0 to 1"): {name: of[SUPPORT] for name, of in means.items()},
        ("Win rate by the second scorer", "share"): {
            first: 0.5,
            **{name: of[0] for name, of in wins.items()},
        },
        ("Copied 8-grams", "share"): {name: of[COPIED] for name, of in means.items()},
    }
    panels = [
        Panel(
            title,
            label,
            {line: [(means[s]["KL"], of[s]) for s in systems] for line, systems in lines.items()},
        )
        for (title, label), of in values.items()
    ]
    draw_panels(panels, file, "KL divergence, nats")


def _asked(networks: PolicyNetworks, config: AnswersRecipe, questions: Path) -> dict[str, PromptedQuestion]:
    rows = read_rows(questions).rows
    examples = tuple(Example(row.question, tuple(r.text for r in row.references), row.answer) for row in rows)
    stream = QuestionStream(
        (),
        [ExampleSource("dev", examples)],
        networks.model,
        networks.tokenizer,
        networks.source,
        config.prompt,
        config.training.seed,
    )
    return {row.key: asked for row, asked in zip(rows, stream.dev, strict=True)}


def _kept(
    networks: PolicyNetworks,
    asked: Mapping[str, PromptedQuestion],
    config: AnswersRecipe,
    file: Path,
    count: int,
) -> Samples:
    """Return `count` answers to each question: those in the file, and what is missing."""
    import torch

    keys = list(asked)
    found = {
        key: list(of) for key, of in (_read(file) if file.exists() else {key: [] for key in keys}).items()
    }
    have = len(found[keys[0]])
    if have >= count:
        return found
    torch.set_num_threads(config.training.threads)
    stop = stop_tokens(networks.model.get_base_model(), networks.tokenizer)
    networks.use(POLICY)
    sampler = TorchSampler(networks.model, stop, config.prompt.answer_tokens)
    with torch.no_grad(), autocast(networks.model.device, config.training.precision):
        for number in range(have, count):
            networks.use(POLICY)
            drawn = sampler.sample([asked[key].prompt for key in keys], 1000 + number)
            for key, each in zip(keys, drawn, strict=True):
                text = networks.tokenizer.decode(each.tokens, skip_special_tokens=True)
                part = collated([_row(asked[key], each.tokens)], [0])
                kl = 0.0
                if count == 1:
                    now, start = networks.read(part, POLICY).logp, networks.read(part, REFERENCE).logp
                    kl = float((now - start).sum())
                found[key].append(WrittenSample(text, each.ended, kl))
            _write(found, file)
            print(f"{file.stem}: {number + 1} of {count} answers to each question", flush=True)
    return found


def _greedy(
    networks: PolicyNetworks, asked: Mapping[str, PromptedQuestion], config: AnswersRecipe, file: Path
) -> Mapping[str, WrittenSample]:
    """Return the answers that readers would get, from the file if it has them."""
    if not file.exists():
        most = config.prompt.answer_tokens
        texts = greedy_answers(
            networks, list(asked.values()), tokens=most, precision=config.training.precision
        )
        lengths = [len(networks.tokenizer.encode(text, add_special_tokens=False)) for text in texts]
        written = [WrittenSample(text, length < most) for text, length in zip(texts, lengths, strict=True)]
        _write({key: [each] for key, each in zip(asked, written, strict=True)}, file)
        print(f"{file.stem}: done", flush=True)
    return {key: each for key, (each,) in _read(file).items()}


def _read(file: Path) -> Samples:
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["key"]: [WrittenSample(**each) for each in line["samples"]] for line in lines}


def _write(found: Samples, file: Path) -> None:
    rows = [{"key": key, "samples": [asdict(each) for each in of]} for key, of in found.items()]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _row(asked: PromptedQuestion, tokens: tuple[int, ...]) -> Any:
    from citewell.generator.training.encode import TokenizedExample

    return TokenizedExample(asked.prompt, tokens)


def _rate(asked: Mapping[str, PromptedQuestion]) -> Any:
    reward = AnswerReward(SupportScorer(), threshold=CitationSettings().threshold)

    def rate(key: str, each: WrittenSample) -> tuple[bool, float]:
        one = asked[key]
        return each.ended, reward(one.question, one.references, each.text).score

    return rate


def measures(
    answers: Mapping[str, WrittenSample], asked: Mapping[str, PromptedQuestion], settings: Settings
) -> Values:
    """Return the measures of a system's answers by name and question."""
    threshold = settings.citations.threshold
    sentences = {
        key: check_citations(finished(each.text), asked[key].references, threshold, markdown=True)
        for key, each in answers.items()
    }
    rate = _rate(asked)
    judge = PreferenceJudge(load_scorer(DEFAULT, settings.cache_dir, settings.threads))
    found: Values = {
        SUPPORT: {key: rate(key, each)[1] for key, each in answers.items()},
        ENDED: {key: float(each.ended) for key, each in answers.items()},
        "supported sentences": {
            key: sum(s.supported for s in of) / max(1, len(of)) for key, of in sentences.items()
        },
        f"score of {DEFAULT}": {
            key: judge.score(asked[key].question, [of], asked[key].references)[0]
            for key, of in sentences.items()
        },
        WORDS: {key: float(sum(len(s.text.split()) for s in of)) for key, of in sentences.items()},
        COPIED: {
            key: copied(" ".join(s.text for s in of), [r.text for r in asked[key].references]) or 0.0
            for key, of in sentences.items()
        },
    }
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    quality = citation_recall_and_precision(
        [_cited(of, asked[key]) for key, of in sentences.items()],
        CachingJudge(EmbeddingJudge(encoder.encode_passages)),
    )
    found["citation recall"] = {key: q.recall for key, q in zip(sentences, quality, strict=True)}
    found["citation precision"] = {key: q.precision for key, q in zip(sentences, quality, strict=True)}
    return found


def _cited(sentences: Sequence[Sentence], asked: PromptedQuestion) -> CitedAnswer:
    marked = [MarkedSentence(each.text, each.citations) for each in sentences]
    return CitedAnswer(marked, {r.number: r.text for r in asked.references})


def _compared(
    systems: Mapping[str, Mapping[str, WrittenSample]],
    asked: Mapping[str, PromptedQuestion],
    settings: Settings,
) -> dict[str, Any]:
    """Print the measures of systems, the first of which is the baseline, and return them."""
    measured = {name: measures(answers, asked, settings) for name, answers in systems.items()}
    first, *others = measured
    names = list(measured[first])
    means = {
        system: {name: statistics.fmean(of[name].values()) for name in names}
        | {"KL": statistics.fmean(each.kl for each in systems[system].values())}
        for system, of in measured.items()
    }
    tests = {
        name: compare_all({other: measured[other][name] for other in others}, measured[first][name])
        for name in names
    }
    judged = f"score of {DEFAULT}"
    wins = {other: _wins(measured[other][judged], measured[first][judged]) for other in others}
    columns = [*names, "KL"]
    rows = [[system, *(f"{of[name]:.3f}" for name in columns)] for system, of in means.items()]
    print("\n" + table(["system", *columns], rows) + "\n\n" + differences_table(tests) + "\n")
    for other, (mean, low, high) in wins.items():
        print(f"{DEFAULT} prefers {other} to {first}: {mean:.3f} ({low:.3f} to {high:.3f})")
    differences = {name: {other: asdict(found) for other, found in of.items()} for name, of in tests.items()}
    return {"means": means, "against": first, "differences": differences, "win_rates": wins}


def _wins(system: Mapping[str, float], baseline: Mapping[str, float]) -> tuple[float, float, float]:
    won = {
        key: (float(value > baseline[key]) + float(value >= baseline[key])) / 2
        for key, value in system.items()
    }
    return statistics.fmean(won.values()), *interval(won)
