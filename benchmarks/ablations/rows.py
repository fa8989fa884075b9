"""The rows of the ablations: what stands here for each row of the paper's tables, and how it is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

From = Literal["pipeline", "closed-book", "oracle", "bm25", "encoder", "browse"]

STUDENT = "citewell-smollm2"
"""The generator of rows that name none: small, and trained to cite."""
PROMPTED = "SmolLM2-135M-Instruct"
TEACHER = "qwen2.5-coder-1.5b"
DEFAULT = "student, default references"
"""The name of the row that most are compared with: one answer, no scorer."""


@dataclass(frozen=True, kw_only=True)
class AblationRow:
    """A row that is run: `name` stands for the row `paper` of the paper's table.

    `references` says what the generator answers from; `settings` are Citewell's by dotted name; `form`
    changes the prompt (`citewell.generator.prompt.PromptForm`).
    Rows are compared with the row `against`, and not at all where that is their own name.
    """

    table: str
    paper: str
    name: str
    references: From = "pipeline"
    generator: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, Any] = field(default_factory=dict)
    against: str = DEFAULT


@dataclass(frozen=True, kw_only=True)
class MissingRow:
    """A row of the paper that is not run, and what is missing for it."""

    table: str
    paper: str
    why: str


_LATER = "`citewell train generator` makes students of the versions of Citewell-QA, for --students"
_VERSIONS = {"raw": "None", "rouge-l": "Rouge-L", "rouge-1": "Rouge-1", "reader": ""}
_LARGER = "-0.5b"

QUOTED = "quotations"
_MINILM, _TAUGHT = "MiniLM, not taught", "citewell-minilm, taught"


def _retrievers(generator: str, suffix: str, default: str) -> tuple[AblationRow, ...]:
    """Return the rows of the retrievers with one generator, whose row of the default one is `default`."""

    def row(paper: str, name: str, references: From, encoder: str = "", against: str = "") -> AblationRow:
        return AblationRow(
            table="8",
            paper=paper,
            name=name + suffix,
            references=references,
            generator=generator,
            settings={"retriever.encoder": encoder} if encoder else {},
            against=against + suffix if against else default,
        )

    return (
        row("", "BM25", "bm25"),
        row("Contriever", _MINILM, "encoder", "all-MiniLM-L6-v2"),
        row("LLM-augmented Retriever", _TAUGHT, "encoder", "citewell-minilm", against=_MINILM),
    )


RUN = (
    AblationRow(table="8", paper="No Scorer", name=DEFAULT),
    AblationRow(table="8", paper="No Retriever", name="closed book", references="closed-book"),
    *_retrievers("", "", DEFAULT),
    AblationRow(table="8", paper="", name=QUOTED, generator="extractive"),
    *_retrievers("extractive", ", quoted", QUOTED),
    AblationRow(table="8", paper="WebGPT Retriever", name="browsing by rules", references="browse"),
    AblationRow(
        table="8",
        paper="",
        name="best of four by citations",
        settings={"generator.best_of": 4, "scorer.name": "citation-support"},
    ),
    AblationRow(
        table="8",
        paper="Human Preference-aware Scorer",
        name="best of four by votes",
        settings={"generator.best_of": 4, "scorer.name": "citewell-scorer"},
    ),
    AblationRow(table="8", paper="GPT-3, zero-shot", name="teacher, prompted", generator=TEACHER),
    AblationRow(table="8", paper="", name="base of the student, prompted", generator=PROMPTED),
    AblationRow(
        table="10", paper="WebGLM-10B-Rouge1", name="student", references="oracle", against="student"
    ),
    AblationRow(
        table="10",
        paper="GPT-3 In-Context",
        name="teacher",
        references="oracle",
        generator=TEACHER,
        against="student",
    ),
    AblationRow(
        table="10",
        paper="",
        name="base, prompted",
        references="oracle",
        generator=PROMPTED,
        against="student",
    ),
    AblationRow(
        table="10", paper="", name="quoting", references="oracle", generator="extractive", against="student"
    ),
    AblationRow(
        table="13",
        paper="WebGLM Prompt",
        name="references first",
        generator=TEACHER,
        against="references first",
    ),
    AblationRow(
        table="13",
        paper="Question before Reference",
        name="question first",
        generator=TEACHER,
        form={"question_first": True},
        against="references first",
    ),
    AblationRow(
        table="13",
        paper="3-Reference",
        name="three references",
        generator=TEACHER,
        settings={"retriever.k": 3},
        against="references first",
    ),
)

NOT_RUN = (
    MissingRow(table="8", paper="Contriever", why="facebook/contriever itself is not a packaged model"),
    MissingRow(table="10", paper="WebGPT-175B", why="its answers to these questions are not public"),
)
"""Rows that need a model or data which is not there."""


def students(folder: Path | None) -> tuple[tuple[AblationRow, ...], tuple[MissingRow, ...]]:
    """Return the rows of the students in the subfolders `raw`, `rouge-l`, `rouge-1` and `reader`.

    Each learned from that version of Citewell-QA. Those of the larger base are in `raw-0.5b` and so on. The
    paper's rows whose student is not there are missing.
    """
    rows = []
    for suffix in ("", _LARGER):
        there = [name for name in _VERSIONS if folder is not None and (folder / (name + suffix)).is_dir()]
        rows += [
            AblationRow(
                table="6",
                paper="" if suffix else _VERSIONS[name],
                name=f"student of {name}{suffix}",
                generator=str(folder / (name + suffix)) if folder else "",
                against=f"student of {there[0]}{suffix}",
            )
            for name in there
        ]
    found = {row.paper for row in rows}
    missing = (paper for paper in _VERSIONS.values() if paper and paper not in found)
    return tuple(rows), tuple(MissingRow(table="6", paper=paper, why=_LATER) for paper in missing)
