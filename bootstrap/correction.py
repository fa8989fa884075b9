"""Citation correction (WebGLM §3.2.2): each segment of an answer cites the references that it overlaps with.

The pipeline's own check (`citewell.generator.citations.correction`) is stricter, since it decides what users
see: it counts content words only and requires every name and number. This one is the paper's, for data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.bootstrap.config import CorrectionConfig
from citewell.bootstrap.types import FilterScores
from citewell.core.rouge import Matrix, Text, scores
from citewell.core.text import squeeze
from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSegment, read_segments, write_marks


@dataclass(frozen=True, slots=True)
class Corrected:
    """An answer with corrected marks, and its scores."""

    answer: str
    scores: FilterScores


def correct(answer: str, references: Sequence[Reference], config: CorrectionConfig) -> Corrected:
    """Replace the marks of an answer by ∇ᵢ = {r | f(sᵢ, r) ≥ T}, as configured.

    A mark counts as right if correction confirms it. White space becomes single spaces, so that an answer is
    one paragraph, as in WebGLM-QA. With the `marks` `own`, the answer keeps the teacher's.
    """
    segments = read_segments(squeeze(answer), sentences=config.segments == "sentences")
    sources = [Text(reference.text) for reference in references]
    texts = [Text(segment.text) for segment in segments]
    found = overlaps(texts, sources, config)
    corrected = [
        MarkedSegment(
            segment.text, tuple(r.number for r, f in zip(references, row, strict=True) if f >= config.least)
        )
        for segment, row in zip(segments, found, strict=True)
    ]
    whole, together = Text.joined(texts), Text.joined(sources)
    numbers = {reference.number for reference in references}
    own = [MarkedSegment(s.text, tuple(n for n in s.marks if n in numbers)) for s in segments]
    kept = own if config.marks == "own" else corrected
    return Corrected(
        write_marks(kept),
        FilterScores(
            words=len(whole.tokens),
            segments=len(corrected),
            overlap=float(overlaps([whole], [together], config)[0, 0]),
            marks=sum(len(segment.marks) for segment in segments),
            right=sum(len({*a.marks} & {*b.marks}) for a, b in zip(segments, corrected, strict=True)),
            cited=len({number for segment in kept for number in segment.marks}),
            cited_segments=sum(bool(segment.marks) for segment in kept),
        ),
    )


def overlaps(segments: Sequence[Text], sources: Sequence[Text], config: CorrectionConfig) -> Matrix:
    """Return the configured overlap f of each of `n` segments with each of `m` sources, 0 to 1.

    An (n, m) array. The default is ROUGE-1 precision, the share of the segment's words that the source holds:
    with the threshold 0.57 it gives the marks that WebGLM prints in Table 14, whereas F1, which §3.2.3 names,
    gives hardly any, since a reference is much longer than a segment.
    """
    found = scores(segments, sources, config.measure)
    return found.precision if config.share == "precision" else found.f1
