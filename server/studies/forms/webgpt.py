"""WebGPT's comparison of two answers with their references (appendix C.2,
https://arxiv.org/abs/2112.09332).
"""

from __future__ import annotations

from typing import NamedTuple

from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.scales import ComparisonScale, LevelChoice

FLAGS = (LevelChoice("unclear", "It makes no sense"), LevelChoice("unsuitable", "It should not be answered"))


class PartLevels(NamedTuple):
    """The levels of trust in a reference, and of the support and the relevance of a sentence."""

    trusts: tuple[LevelChoice, ...]
    supports: tuple[LevelChoice, ...]
    relevances: tuple[LevelChoice, ...]


PARTS = PartLevels(
    (LevelChoice("high", "High"), LevelChoice("medium", "Medium"), LevelChoice("low", "Low")),
    (LevelChoice("strong", "Strong"), LevelChoice("weak", "Weak"), LevelChoice("none", "None")),
    (
        LevelChoice("core", "Answers the question"),
        LevelChoice("side", "Helps"),
        LevelChoice("none", "Irrelevant"),
    ),
)
UNSUPPORTED = ComparisonScale(
    "unsupported",
    "Supported information",
    "Which answer has fewer claims that neither its sources nor common knowledge support?",
)
COHERENCE = ComparisonScale(
    "coherence", "Coherence", "Which answer is easier to follow, with correctly placed citations?"
)
OVERALL = ComparisonScale(
    "overall",
    "Overall",
    "Overall, which answer is better? Weigh unsupported claims first, then whether the question is "
    "answered, then other helpful information, then coherence, then irrelevant content.",
)
_USEFULNESS = tuple(
    ComparisonScale(
        f"useful_{name}",
        f"Usefulness of {words} information",
        f"Which answer gives more useful information, counting only claims with {support}?",
    )
    for name, words, support in (
        ("strong", "strongly supported", "strong support"),
        ("weak", "weakly supported", "weak support"),
        ("none", "unsupported", "no support"),
    )
)
WEBGPT = StudyForm(
    name="webgpt",
    title="Compare two answers",
    source="WebGPT, appendix C.2",
    instructions=(
        "Read the question. Flag it if it makes no sense or should not be answered; this skips the page.",
        "Read the first answer and its references. Rate how far the references that it relies on can be "
        "trusted, then each sentence: its support, by a reliable reference or by common knowledge, and its "
        "relevance to the question. Do the same for the second answer.",
        "Compare the answers on each scale, and last overall.",
        "Do not look anything up elsewhere: what counts is the support by the references.",
        "On some pages every part is required, on the others only the overall rating.",
    ),
    fewest=2,
    most=2,
    cited=True,
    claims=True,
    comparison=(
        UNSUPPORTED,
        ComparisonScale(
            "irrelevant", "Relevant information", "Which answer has less irrelevant information?"
        ),
        *_USEFULNESS,
        COHERENCE,
        OVERALL,
    ),
    always=("overall",),
    flags=FLAGS,
    share_required=0.1,
)
