"""The objectives of a recipe, and their mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from citewell.core.section import Section
from citewell.core.training.sources import DataFolders

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import nn

    from citewell.retriever.losses.mixture import Mixture


class _Objective(Section):
    learns_ranks: ClassVar[bool] = True
    """Whether it can learn from the label `rankings`: logarithms, none of which is above 0."""

    weight: float = Field(1.0, gt=0, description="Weight in the loss.")
    sources: tuple[str, ...] = Field((), description="Sources that it applies to; by default all.")

    def applies_to(self, source: str) -> bool:
        """Return whether the objective applies to the source of this name."""
        return not self.sources or source in self.sources


class InnerProductMseConfig(_Objective):
    """`citewell.retriever.losses.inner_product_mse`."""

    learns_ranks = False

    name: Literal["inner_product_mse"] = "inner_product_mse"

    def build(self) -> nn.Module:
        """Build the objective."""
        from citewell.retriever.losses.inner_product_mse import InnerProductMse

        return InnerProductMse()


class ContrastiveConfig(_Objective):
    """`citewell.retriever.losses.contrastive`."""

    learns_ranks = False

    name: Literal["contrastive"] = "contrastive"
    temperature: float = Field(0.05, gt=0, description="Inner products are divided by this.")
    margin: float = Field(0.0, ge=0, description="Margin between positives and explicit negatives.")

    def build(self) -> nn.Module:
        """Build the objective."""
        from citewell.retriever.losses.contrastive import Contrastive

        return Contrastive(self.temperature, self.margin)


class ListwiseKlConfig(_Objective):
    """`citewell.retriever.losses.listwise_kl`."""

    name: Literal["listwise_kl"] = "listwise_kl"
    temperature: float = Field(0.05, gt=0, description="Inner products are divided by this.")
    teacher_temperature: float = Field(1.0, gt=0, description="Labels are divided by this.")

    def build(self) -> nn.Module:
        """Build the objective."""
        from citewell.retriever.losses.listwise_kl import ListwiseKl

        return ListwiseKl(self.temperature, self.teacher_temperature)


class MarginMseConfig(_Objective):
    """`citewell.retriever.losses.margin_mse`."""

    name: Literal["margin_mse"] = "margin_mse"
    scale: float = Field(1.0, gt=0, description="Margins of inner products are multiplied by this.")

    def build(self) -> nn.Module:
        """Build the objective."""
        from citewell.retriever.losses.margin_mse import MarginMse

        return MarginMse(self.scale)


class AnchorConfig(_Objective):
    """`citewell.retriever.losses.encoder_kl`, from the model before training."""

    name: Literal["anchor"] = "anchor"
    temperature: float = Field(0.05, gt=0, description="Inner products are divided by this.")

    def build(self) -> nn.Module:
        """Build the objective."""
        from citewell.retriever.losses.encoder_kl import BEFORE, EncoderKl

        return EncoderKl(BEFORE, self.temperature, self.temperature)


class EncoderKlConfig(_Objective):
    """`citewell.retriever.losses.encoder_kl`, from a teacher."""

    name: Literal["encoder_kl"] = "encoder_kl"
    encoder: str = Field(
        ..., min_length=1, description="The teacher: a folder beside the recipe, or an encoder's name."
    )
    license: str = Field(..., min_length=1, description="License of the teacher, for the model card.")
    temperature: float = Field(0.05, gt=0, description="Inner products are divided by this.")
    teacher_temperature: float = Field(
        0.05, gt=0, description="The teacher's inner products are divided by this."
    )

    def build(self) -> nn.Module:
        """Build the objective."""
        from citewell.retriever.losses.encoder_kl import EncoderKl

        return EncoderKl(self.encoder, self.temperature, self.teacher_temperature)

    def teacher(self, folders: DataFolders) -> str:
        """Return the name for `citewell.retriever.encoder.resolve`: a folder beside the recipe first."""
        beside = folders.beside / self.encoder
        return str(beside) if beside.is_dir() else self.encoder


Objective = (
    InnerProductMseConfig
    | ContrastiveConfig
    | ListwiseKlConfig
    | MarginMseConfig
    | AnchorConfig
    | EncoderKlConfig
)


def build_mixture(model: SentenceTransformer, objectives: Sequence[Objective]) -> Mixture:
    """Build the loss for the trainer; several objectives of a kind are numbered."""
    from citewell.retriever.losses.mixture import Mixture, WeightedObjective

    seen: dict[str, int] = {}
    parts = []
    for objective in objectives:
        seen[objective.name] = number = seen.get(objective.name, 0) + 1
        name = objective.name if number == 1 else f"{objective.name}_{number}"
        parts.append(
            WeightedObjective(name, objective.build(), objective.weight, frozenset(objective.sources))
        )
    return Mixture(model, parts)
