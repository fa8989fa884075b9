"""All forms, by name."""

from __future__ import annotations

from citewell.core.errors import InputError
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.forms.instructgpt import INSTRUCTGPT
from citewell.server.studies.forms.minimal import MINIMAL
from citewell.server.studies.forms.stance import STANCE
from citewell.server.studies.forms.truthfulqa import TRUTHFULQA
from citewell.server.studies.forms.turing import TURING
from citewell.server.studies.forms.webglm import WEBGLM
from citewell.server.studies.forms.webgpt import WEBGPT

FORMS = {form.name: form for form in (WEBGLM, TURING, WEBGPT, MINIMAL, INSTRUCTGPT, TRUTHFULQA, STANCE)}


def form_named(name: str) -> StudyForm:
    """Return a form; raises `InputError` for an unknown name."""
    if name not in FORMS:
        raise InputError(f"The form {name[:40]!r} is unknown.", f"The forms are {', '.join(FORMS)}.")
    return FORMS[name]
