"""Long answers and preferences: ALCE's demonstrations, ExpertQA and Anthropic's helpful comparisons."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.rows import Row, chosen, lines, one_line, question_id, sha1

_PARTS = ("helpful-base", "helpful-online", "helpful-rejection-sampled")
_TURN = "\n\nAssistant:"


def alce_demos(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the demonstrations of ALCE's default prompts."""
    yield "longform/alce_demos.jsonl.gz", lines(_demos(originals))


def expertqa(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert ExpertQA: answers with experts' judgments of each claim, and answers that experts revised."""
    folder = originals / "data/lfqa"
    judged = (_judged(each) for split in ("rand", "domain") for each in _each(folder / f"{split}_val.jsonl"))
    yield "longform/expertqa_train.jsonl.gz", lines(chosen("expertqa_claims", judged, 8))
    revised = (
        {
            "id": f"expertqa-{question_id(each['question'])}",
            "question": one_line(each["question"]),
            "answer": one_line(each["answer"]),
            "references": [],
            "license": "MIT",
        }
        for split in ("train", "test")
        for each in _each(folder / f"rand_lfqa_{split}.json")
    )
    yield "longform/expertqa_answers.jsonl.gz", lines(chosen("expertqa_answers", revised, 8))


def hh_helpful(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the test files of the helpful comparisons: what both sides share becomes the prompt."""
    rows = (row for part in _PARTS for row in _comparisons(originals, part))
    yield "preferences/hh_helpful.jsonl.gz", lines(chosen("hh_helpful", rows))


def _demos(originals: Path) -> Iterator[Row]:
    for name in ("asqa", "eli5", "qampari"):
        prompt = json.loads((originals / f"prompts/{name}_default.json").read_text(encoding="utf-8"))
        for demo in prompt["demos"]:
            yield {
                "id": f"alce-{name}-demo-{question_id(demo['question'], 8)}",
                "dataset": name,
                "question": demo["question"],
                "answer": demo["answer"],
                "references": [
                    {"n": number, "title": each["title"], "url": None, "text": each["text"]}
                    for number, each in enumerate(demo["docs"], 1)
                ],
                "license": "MIT",
            }


def _each(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8") as content:
        for line in content:
            yield json.loads(line)


def _judged(entry: Row) -> Row:
    system, answer = next(iter(entry["answers"].items()))
    texts: dict[int, str] = {}
    for claim in answer["claims"]:
        for evidence in claim["evidence"]:
            head, _, text = evidence.partition("\n\n")
            if text.strip():
                texts.setdefault(_number(head), _paragraphs(text))
    about = entry["metadata"]
    return {
        "id": f"expertqa-{question_id(entry['question'])}",
        "question": one_line(entry["question"]),
        "answer": _paragraphs(answer["answer_string"]),
        "revised_answer": _paragraphs(answer["revised_answer_string"] or "") or None,
        "references": [
            {
                "n": _number(each),
                "title": None,
                "url": each.partition("] ")[2].strip(),
                "text": texts.get(_number(each)),
            }
            for each in answer["attribution"]
        ],
        "claims": [_claim(claim) for claim in answer["claims"]],
        "system": system,
        "usefulness": answer["usefulness"] or None,
        "field": about["field"],
        "specific_field": about["specific_field"],
        "question_type": about["question_type"],
        "license": "MIT",
    }


def _claim(claim: Row) -> Row:
    return {
        "text": _paragraphs(claim["claim_string"]),
        "support_label": claim["support"] or None,
        "evidence": [_number(each) for each in claim["evidence"]],
        "correctness": claim["correctness"] or None,
        "reliability": claim["reliability"] or None,
        "informativeness": claim["informativeness"] or None,
        "worthiness": claim["worthiness"] or None,
        "reason_missing_support": claim["reason_missing_support"] or None,
        "revised_text": _paragraphs(claim["revised_claim"]) if claim["revised_claim"] else None,
    }


def _number(reference: str) -> int:
    return int(reference[1 : reference.index("]")])


def _paragraphs(text: str) -> str:
    """Return a text with at most one space between words and one empty line between paragraphs."""
    tidy = "\n".join(one_line(line) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", tidy).strip()


def _comparisons(originals: Path, part: str) -> Iterator[Row]:
    with gzip.open(originals / f"data/{part}/test.jsonl.gz", "rt", encoding="utf-8") as content:
        for line in content:
            pair = json.loads(line)
            prompt, _, good = pair["chosen"].rpartition(_TURN)
            other, _, bad = pair["rejected"].rpartition(_TURN)
            if prompt != other:
                continue
            prompt, good, bad = (prompt + _TURN).strip(), good.strip(), bad.strip()
            yield {
                "id": f"hh-{sha1(f'{prompt}|{good}|{bad}')}",
                "prompt": prompt,
                "chosen": good,
                "rejected": bad,
                "subset": part,
                "license": "MIT",
            }
