"""WebGPT's minimal comparison, for answers without references such as those of Reddit (appendix F)."""

from __future__ import annotations

from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.scales import ComparisonScale, LevelChoice, RatingScale

_SCALES = (
    ComparisonScale("accuracy", "Accuracy", "Which answer is more factually accurate?"),
    ComparisonScale("coherence", "Coherence", "Which answer is easier to follow?"),
    ComparisonScale(
        "overall",
        "Usefulness overall",
        "All things considered, which answer would be more helpful to the person who asked?",
    ),
)
_LEVELS = ("Very bad", "Bad", "Neutral", "Good", "Very good")
_ALONE = (
    RatingScale("accuracy", "Accuracy", "How factually accurate is the answer?", _LEVELS),
    RatingScale("coherence", "Coherence", "How easy is the answer to follow?", _LEVELS),
    RatingScale(
        "overall",
        "Usefulness overall",
        "Very bad is worse than no answer, for instance since it misleads; bad helps about as much as no "
        "answer.",
        _LEVELS,
    ),
)
MINIMAL = StudyForm(
    name="minimal",
    title="Compare answers",
    source="WebGPT, appendix F",
    instructions=(
        "Each page shows a question and two answers. Compare their accuracy, coherence and usefulness.",
        "Use a search engine to check claims that are not obvious to you. Answers may have subtly wrong or "
        "invented information, so be careful.",
        "Do not open addresses in a question or an answer. Go by the rest of the text.",
        "Read a statement such as “Magnets” as “Explain: magnets”. If a question is ambiguous, take the most "
        "likely meaning. If it still makes no sense, flag it and go on. This should be rare.",
        "If an answer depends on when the question was asked, it counts as accurate if it was so at any time "
        "within the last 10 years.",
        "If there is one answer only, rate it by itself, from very bad to very good.",
    ),
    most=2,
    comparison=_SCALES,
    alone=_ALONE,
    always=tuple(scale.name for scale in _SCALES),
    flags=(LevelChoice("unclear", "This question does not make sense"),),
)
