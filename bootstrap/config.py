"""The recipe of a bootstrap: every number of it, each with the paper's value or a reason for another."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from citewell.core.rouge import Rouge
from citewell.core.section import Section
from citewell.generator.prompt import PromptForm

Share = Annotated[float, Field(ge=0, le=1)]

_THRESHOLDS = {Rouge.ROUGE_1: 0.57, Rouge.ROUGE_L: 0.4}  # WebGLM §3.2.3


class QuestionsConfig(Section):
    """How the rows of the questions file become tasks (`citewell.bootstrap.questions`)."""

    characters: int = Field(4000, ge=1, description="Longest question; longer ones are reported.")
    explain: bool = Field(True, description="Write `Explain: ` before what is not worded as a question.")


class ReferencesConfig(Section):
    """The references of a row."""

    most: int = Field(5, ge=1, le=20, description="Most references of a row.")
    fewest: int = Field(1, ge=1, description="Rows with fewer are dropped.")
    fill: bool = Field(False, description="Add retrieved passages to rows that bring fewer than `most`.")


class TeacherPromptConfig(Section):
    """What the teacher reads (`citewell.generator.prompt`)."""

    instruction: str | None = Field(
        None, min_length=1, description="The instruction, before all else; by default the model's own."
    )
    demonstration: bool | None = Field(
        None,
        description="Show one example, with a reference that is not cited; by default as the model has it.",
    )
    tokens: int = Field(
        3000, ge=200, description="Most tokens of a prompt; estimated where the teacher is asked over HTTP."
    )

    def form(self, own: PromptForm) -> PromptForm:
        """The form of prompts, where `own` is that of the model."""
        changes: dict[str, Any] = {"instruction": self.instruction, "demonstration": self.demonstration}
        return replace(own, **{name: value for name, value in changes.items() if value is not None})


class TeacherConfig(Section):
    """How a teacher is asked."""

    temperature: float = Field(
        0.7, ge=0, le=2, description="Sampling temperature; a local teacher that writes one answer has none."
    )
    answer_tokens: int = Field(400, ge=16, description="Most tokens of an answer.")
    concurrency: int = Field(8, ge=1, le=1000, description="Rows that are worked on at the same time.")
    requests_a_minute: float | None = Field(None, gt=0, description="Most requests per minute.")
    tokens_a_minute: float | None = Field(None, gt=0, description="Most tokens per minute, both ways.")
    prompt_price: float = Field(0.0, ge=0, description="Price of a million tokens of prompts.")
    answer_price: float = Field(0.0, ge=0, description="Price of a million tokens of answers.")
    samples: int = Field(4, ge=1, le=64, description="Answers that `self` writes, to take the best.")


class CorrectionConfig(Section):
    """How citations are corrected (WebGLM §3.2.2): a segment cites what it overlaps with enough."""

    measure: Rouge = Field(Rouge.ROUGE_1, description="Measure of overlap.")
    share: Literal["precision", "f1"] = Field(
        "precision", description="Share of the segment's words, or mean of that and the reference's."
    )
    threshold: Share | None = Field(
        None, description="Least overlap of a citation; 0.57 for ROUGE-1 and 0.4 for ROUGE-L."
    )
    segments: Literal["sentences", "marks"] = Field(
        "sentences", description="Where an answer is split: at marks and sentence ends, or at marks only."
    )

    @property
    def least(self) -> float:
        """The threshold in force."""
        return _THRESHOLDS.get(self.measure, 0.4) if self.threshold is None else self.threshold


class FiltersConfig(Section):
    """Which answers are kept (WebGLM §3.2.3)."""

    words: int = Field(20, ge=1, description="Fewest words of an answer.")
    overlap: Share | None = Field(
        None, description="Least overlap with all references together; by default the correction's threshold."
    )
    cited: int = Field(1, ge=0, description="Fewest references that the corrected answer cites.")
    coverage: Share = Field(0.5, description="Least share of segments with a citation after correction.")
    accuracy: Share = Field(0.5, description="Least share of the teacher's marks that correction keeps.")
    truncated: bool = Field(True, description="Drop answers that the limit of tokens cut.")
    markup: bool = Field(True, description="Drop answers with HTML, control tokens or lines of the prompt.")


class RunConfig(Section):
    """How rows that fail are treated, and how outcomes are stored."""

    attempts: int = Field(2, ge=1, le=10, description="Attempts at a row before it is set aside.")
    faults: int = Field(10, ge=1, description="Rows that fail one after the other before the run ends.")
    shard: int = Field(1000, ge=1, description="Outcomes of a shard.")


class BootstrapConfig(Section):
    """A bootstrap."""

    questions: QuestionsConfig = QuestionsConfig()
    references: ReferencesConfig = ReferencesConfig()
    prompt: TeacherPromptConfig = TeacherPromptConfig()
    teacher: TeacherConfig = TeacherConfig()
    correction: CorrectionConfig = CorrectionConfig()
    filters: FiltersConfig = FiltersConfig()
    run: RunConfig = RunConfig()
