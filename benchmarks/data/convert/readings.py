"""Questions with paragraphs that answer them: SQuAD, PubMedQA, FeedbackQA and QED."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.detokenize import detokenized
from benchmarks.data.rows import Row, chosen, chosen_names, lines, question_id, sha1

_DOMAINS = ("Australia", "CDC", "UK", "WHO", "Quebec")
_SHARDS = 6  # of QED's training questions


def squad(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert both development sets of SQuAD into one, with the questions that have no answer."""
    used = chosen_names("squad")
    rows: dict[str, Row] = {}
    paragraphs: dict[tuple[str, str], list[Row]] = {}
    for version in ("1.1", "2.0"):
        content = json.loads((originals / f"dataset/dev-v{version}.json").read_text(encoding="utf-8"))
        for article in content["data"]:
            if article["title"] in used:
                _read_article(article, version, rows, paragraphs)
    ordered = sorted(paragraphs, key=lambda paragraph: paragraph[0])
    yield "qa_pairs/squad_dev.jsonl.gz", lines(row for paragraph in ordered for row in paragraphs[paragraph])


def pubmedqa(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the labeled questions of PubMedQA, once as pairs and once as long answers."""
    content = json.loads((originals / "data/ori_pqal.json").read_text(encoding="utf-8"))
    found = [{"id": f"pubmedqa-{pmid}", "pmid": pmid, **entry} for pmid, entry in content.items()]
    used = list(chosen("pubmedqa", found))
    yield "qa_pairs/pubmedqa.jsonl.gz", lines(_pubmedqa(entry, numbered=False) for entry in used)
    yield "longform/pubmedqa.jsonl.gz", lines(_pubmedqa(entry, numbered=True) for entry in used)


def feedbackqa(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the training and validation questions of FeedbackQA, each once with all its passages."""
    seen: set[str] = set()
    for split in ("train", "valid"):
        rows: dict[str, Row] = {}
        for domain in _DOMAINS:
            for row in _feedback(originals, domain, split):
                there = rows.setdefault(row["id"], row)["positive"]
                there += [passage for passage in row["positive"] if passage not in there]
        new = [row for key, row in rows.items() if key not in seen]
        yield f"qa_pairs/feedbackqa_{split}.jsonl.gz", lines(new)
        seen |= rows.keys()


def qed(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the training questions of QED, with the sentences that hold their answers."""
    rows = (
        _explained(json.loads(line))
        for shard in range(_SHARDS)
        for line in (originals / f"nq-train-{shard:02}-qed.jsonlines").read_text(encoding="utf-8").split("\n")
        if line
    )
    yield "qa_pairs/qed_train.jsonl.gz", lines(chosen("qed", rows, 8))


def _explained(entry: dict[str, Any]) -> Row:
    title, text, starts = entry["title_text"], entry["paragraph_text"], entry["sentence_starts"]
    places = {bisect_right(starts, start) for start, _ in entry["answer_spans"]} - {0}
    ends = [*starts[1:], len(text)]
    sentences = [text[starts[place - 1] : ends[place - 1]] for place in sorted(places)]
    url = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
    return {
        "id": f"qed-{sha1(str(entry['example_id']))}",
        "question": entry["question_text"],
        "positive": [{"title": title, "text": _numbered(text), "url": url}],
        "answer": [_numbered(answer) for answer in entry["answer_text"]],
        "evidence_sentences": [_numbered(sentence) for sentence in sentences],
        "answer_type": entry["answer_type"],
        "license": "annotations unspecified; text CC BY-SA 3.0",
    }


def _numbered(text: str) -> str:
    return detokenized(text).replace("# ", "#")


def _read_article(
    article: dict[str, Any], version: str, rows: dict[str, Row], paragraphs: dict[tuple[str, str], list[Row]]
) -> None:
    title = article["title"].replace("_", " ")
    for paragraph in article["paragraphs"]:
        passage = {
            "title": title,
            "text": paragraph["context"],
            "url": f"https://en.wikipedia.org/wiki/{article['title']}",
        }
        for each in paragraph["qas"]:
            key = f"squad-{each['id']}"
            if key in rows:
                rows[key]["versions"].append(version)
                continue
            answerable = not each.get("is_impossible", False)
            rows[key] = {
                "id": key,
                "question": each["question"].strip(),
                "positive": [passage] if answerable else [],
                "hard_negative": [] if answerable else [passage],
                "answer": list(dict.fromkeys(answer["text"] for answer in each["answers"])),
                "answerable": answerable,
                "versions": [version],
                "license": "CC BY-SA 4.0",
            }
            paragraphs.setdefault((title, paragraph["context"]), []).append(rows[key])


def _pubmedqa(entry: Row, *, numbered: bool) -> Row:
    url = f"https://pubmed.ncbi.nlm.nih.gov/{entry['pmid']}/"
    passages = [
        ({"n": number} if numbered else {}) | {"title": label.title(), "url": url, "text": text}
        for number, (label, text) in enumerate(zip(entry["LABELS"], entry["CONTEXTS"], strict=True), 1)
    ]
    answer, decision = entry["LONG_ANSWER"], entry["final_decision"]
    row = {"id": entry["id"], "question": entry["QUESTION"]}
    if numbered:
        row |= {"answer": answer, "references": passages, "decision": decision, "year": entry["YEAR"]}
    else:
        row |= {"positive": passages, "answer": answer, "decision": decision}
    return row | {"license": "MIT"}


def _feedback(originals: Path, domain: str, split: str) -> Iterator[Row]:
    file = originals / "feedbackQA_data" / domain / f"{split}.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    passages = {each["passage_id"]: each for each in content["passages"]}
    for example in content["examples"]:
        passage = passages[example["passage_id"]]
        reference = passage["reference"]
        titles = [reference["page_title"], *(reference["section_headers"] or [])]
        yield {
            "id": f"feedbackqa-{domain.lower()}-{question_id(example['question'])}",
            "question": example["question"],
            "positive": [
                {
                    "title": " | ".join(title for title in titles if title),
                    "text": reference["section_content"],
                    "url": passage["uri"],
                }
            ],
            "domain": domain,
            "license": "none stated (public-health / government pages)",
        }
