"""The recipe of a bootstrap; defaults are the paper's values where it has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from citewell.core.rouge import Rouge
from citewell.core.section import Section
from citewell.generator.citations.relevance import LEAST_RELEVANCE
from citewell.generator.evaluation.judges.writer import WRITER
from citewell.generator.prompt import PromptForm

Share = Annotated[float, Field(ge=0, le=1)]

_THRESHOLDS = {Rouge.ROUGE_1: 0.57, Rouge.ROUGE_L: 0.4}  # WebGLM §3.2.3


def _patterns(value: Any) -> Any:
    """Split a comma-separated list of file names, as `--set` has it."""
    return value.replace(",", " ").split() if isinstance(value, str) else value


Patterns = Annotated[tuple[str, ...], BeforeValidator(_patterns)]
Examples = Annotated[
    tuple[Literal["fact", "premise", "parts", "refusal", "joined"], ...], BeforeValidator(_patterns)
]


class QuestionsConfig(Section):
    """The questions file (`citewell.bootstrap.questions`)."""

    characters: int = Field(4000, ge=1, description="Max characters of a question; longer ones are reported.")
    explain: bool = Field(True, description="Write `Explain: ` before texts that are not questions.")


class ReferencesConfig(Section):
    """The references of a row."""

    most: int = Field(5, ge=1, le=20, description="Max references per row.")
    fewest: int = Field(1, ge=1, description="Min references per row; rows with fewer are dropped.")
    fill: bool = Field(False, description="Add retrieved passages to rows with fewer than `most`.")
    words: int | None = Field(
        None,
        ge=50,
        description="Approximate words of the references in all; their most relevant sentences are kept.",
    )


class TeacherPromptConfig(Section):
    """The teacher's prompt (`citewell.generator.prompt`)."""

    instruction: str | None = Field(
        None, min_length=1, description="The instruction; by default the model's own."
    )
    demonstration: bool | None = Field(
        None,
        description="Show one example; by default as the model was trained.",
    )
    examples: Examples | None = Field(
        None, description="Names of the examples shown; by default the model's own."
    )
    tokens: int = Field(
        3000, ge=200, description="Max tokens of a prompt, which are estimated for a teacher over HTTP."
    )

    def form(self, own: PromptForm) -> PromptForm:
        """Return the form of the model's prompts, `own`, with the overrides of this section."""
        changes = {name: getattr(self, name) for name in ("instruction", "demonstration", "examples")}
        return replace(own, **{name: value for name, value in changes.items() if value is not None})


class TeacherConfig(Section):
    """The teacher."""

    temperature: float = Field(
        0.7, ge=0, le=2, description="Sampling temperature; local teachers other than `self` decode greedily."
    )
    answer_tokens: int = Field(400, ge=16, description="Max tokens of an answer.")
    concurrency: int = Field(8, ge=1, le=1000, description="Concurrent rows.")
    requests_a_minute: float | None = Field(None, gt=0, description="Max requests per minute.")
    tokens_a_minute: float | None = Field(
        None, gt=0, description="Max tokens per minute, of prompts and answers."
    )
    prompt_price: float = Field(0.0, ge=0, description="Price per million prompt tokens.")
    answer_price: float = Field(0.0, ge=0, description="Price per million answer tokens.")
    samples: int = Field(4, ge=1, le=64, description="Answers that `self` chooses from.")


class CorrectionConfig(Section):
    """The correction of citations (WebGLM §3.2.2): a segment cites the references that it overlaps with."""

    measure: Rouge = Field(Rouge.ROUGE_1, description="Measure of overlap.")
    share: Literal["precision", "f1"] = Field(
        "precision", description="Precision (share of the segment's words), or F1."
    )
    threshold: Share | None = Field(
        None, description="Min overlap of a citation; by default 0.57 for ROUGE-1 and 0.4 for ROUGE-L."
    )
    marks: Literal["corrected", "own"] = Field(
        "corrected", description="Marks of the kept answer: the corrected ones, or the teacher's own."
    )
    segments: Literal["sentences", "marks"] = Field(
        "sentences", description="Split answers at marks and sentence ends, or at marks only."
    )
    judge: str | None = Field(
        None,
        pattern=rf"^{WRITER}(:.+)?$",
        description="Language model that checks sentences as `citewell ask` does, `writer` or `writer:NAME`: "
        "those that do not help or are not supported are cut, and the others cite what supports them.",
    )

    @property
    def least(self) -> float:
        """The effective threshold."""
        return _THRESHOLDS.get(self.measure, 0.4) if self.threshold is None else self.threshold


class FiltersConfig(Section):
    """The filters of answers (WebGLM §3.2.3)."""

    words: int = Field(5, ge=1, description="Min words of an answer.")
    overlap: Share | None = Field(
        None,
        description="Min overlap with all references together; by default the correction's threshold.",
    )
    cited: int = Field(1, ge=0, description="Min references that the corrected answer cites.")
    coverage: Share = Field(0.5, description="Min share of segments with a citation after correction.")
    accuracy: Share = Field(0.5, description="Min share of the teacher's marks that correction confirms.")
    reader: str | None = Field(
        None,
        min_length=1,
        description="Reader that drops unsupported answers: the folder of a reader of support, or "
        "`nli:MODEL`.",
    )
    supported: Share | None = Field(
        None, description="Min share of sentences that the reader finds supported by what they cite; 0.5."
    )
    answers: Share | None = Field(
        None,
        description="Min probability that an answer answers its question, as `correction.judge` finds; by "
        f"default {LEAST_RELEVANCE}, as in `citewell ask`.",
    )
    truncated: bool = Field(True, description="Drop answers that the token limit cut off.")
    markup: bool = Field(True, description="Drop answers with HTML, control tokens or lines of the prompt.")


class RunConfig(Section):
    """The treatment of failures, and the storage of outcomes."""

    attempts: int = Field(2, ge=1, le=10, description="Attempts per row before it counts as failed.")
    faults: int = Field(10, ge=1, description="Consecutive failed rows that stop the run.")
    shard: int = Field(1000, ge=1, description="Outcomes per shard.")


class BootstrapConfig(Section):
    """The recipe of a bootstrap."""

    questions: QuestionsConfig = QuestionsConfig()
    references: ReferencesConfig = ReferencesConfig()
    prompt: TeacherPromptConfig = TeacherPromptConfig()
    teacher: TeacherConfig = TeacherConfig()
    correction: CorrectionConfig = CorrectionConfig()
    filters: FiltersConfig = FiltersConfig()
    run: RunConfig = RunConfig()

    @model_validator(mode="after")
    def _has_who_decides(self) -> Self:
        if self.filters.supported is not None and self.filters.reader is None:
            raise ValueError("filters.supported needs filters.reader, who finds what is supported")
        if self.filters.answers is not None and self.correction.judge is None:
            raise ValueError("filters.answers needs correction.judge, who finds what answers")
        return self


class DatasetConfig(Section):
    """Keys of the section `[dataset]`."""

    name: str = Field("Bootstrapped answers with citations", min_length=1, description="Name on the card.")
    license: str = Field(
        "unknown", min_length=1, description="License of questions, references and answers, for the card."
    )
    about: str = Field("", description="More about licenses for the card, such as those of the references.")
    dev: float = Field(0.05, ge=0, lt=0.5, description="Share of the questions in the split dev.")
    test: float = Field(0.05, ge=0, lt=0.5, description="Share of the questions in the split test.")
    card_rows: int = Field(0, ge=0, le=200, description="Unselected rows on the card, drawn by a hash.")
    near: float = Field(
        0.6, gt=0, le=1, description="Min Jaccard similarity of the words of near-duplicate questions."
    )
    evaluation_sets: Patterns = Field(
        ("questions/*.jsonl.gz", "longform/alce_demos.jsonl.gz"),
        description="Files in CITEWELL_DATA whose questions are excluded from the data set.",
    )
    held_sets: Patterns = Field(
        ("longform/expertqa_train.jsonl.gz", "longform/pubmedqa.jsonl.gz", "qa_pairs/squad_dev.jsonl.gz"),
        description="Files in CITEWELL_DATA of which only held-out questions of evaluations are excluded.",
    )
