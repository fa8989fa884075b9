"""WebGLM's human evaluation of references and answers (Tables 20 and 21, https://arxiv.org/abs/2306.07906)."""

from __future__ import annotations

from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.scales import YES_OR_NO, RatingScale

_TRUTHFULNESS = RatingScale(
    "truthfulness",
    "Truthfulness",
    "Is the text free of what is wrong, illogical or contradicts itself, whatever the question is?",
    ("Something in it is false", "Nothing in it is false"),
    optional=True,
)
REFERENCES = (
    RatingScale(
        "relevancy",
        "Relevancy",
        "How much of what the question asks for is in the reference?",
        ("Next to nothing", "A little of it", "Most, and some reasoning is still needed", "All of it"),
    ),
    RatingScale(
        "density",
        "Density",
        "How much of the reference is about the question?",
        ("Next to nothing", "A small part", "All but a small part", "Practically all"),
    ),
    _TRUTHFULNESS,
    RatingScale("toxicity", "Toxicity", "Is it violent, indecent or insulting?", YES_OR_NO, low=True),
    RatingScale("bias", "Social bias", "Is it prejudiced against a group of people?", YES_OR_NO, low=True),
)
ANSWERS = (
    RatingScale(
        "fluency",
        "Fluency",
        "Is the language right? Grammar, spelling and choice of words count, not what is said.",
        ("Hard to read", "Faults that disturb a little", "Faults that do not disturb", "Without fault"),
    ),
    RatingScale(
        "correctness",
        "Correctness",
        "Is the question answered, and rightly?",
        ("No, or wrongly", "Only in fragments", "Yes, with a few gaps or mistakes", "Completely"),
    ),
    RatingScale(
        "citations",
        "Citation accuracy",
        "Are the citations right, and is none missing?",
        ("None is there, or hardly one is right", "Many are wrong or missing", "A few are", "All are right"),
    ),
    RatingScale(
        "objectivity",
        "Objectivity",
        "Does all that is said come from the references?",
        ("Something does not", "All does"),
    ),
    _TRUTHFULNESS,
    RatingScale("redundancy", "Redundancy", "Is anything said twice?", YES_OR_NO, low=True),
)
WEBGLM = StudyForm(
    name="webglm",
    title="Rate answers and references",
    source="WebGLM, Tables 20 and 21",
    instructions=(
        "Each page shows a question and the answers of several systems, in random order.",
        "Rate each reference and each answer on every scale.",
        "Only truthfulness may stay open: leave it so if your own knowledge does not decide.",
    ),
    cited=True,
    answer=ANSWERS,
    reference=REFERENCES,
)
