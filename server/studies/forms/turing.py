"""WebGLM's Turing test: answers of systems and of a person are ranked (§5.2)."""

from __future__ import annotations

from citewell.server.studies.forms.form import StudyForm

TURING = StudyForm(
    name="turing",
    title="Rank answers",
    source="WebGLM, section 5.2",
    instructions=(
        "Each page shows a question and several answers, in random order. Some may be written by people.",
        "Rank the answers by their quality: are they correct, informative and truthful?",
        "Rank 1 is the best. Answers that are equally good share a rank.",
    ),
    fewest=2,
    ranked=True,
)
