"""Generators have short names, which tell them apart and show no folder that is not needed for that."""

from __future__ import annotations

from citewell.core.events import Done, Notice
from citewell.core.types import Answer
from citewell.server.work.generator_names import GeneratorNames, short_names


def test_names_are_short_and_unique() -> None:
    written = [
        "/srv/a/v1/m.gguf",
        "/srv/b/v1/m.gguf",
        "~/tuned",
        "org/model",
        "openai:org/m",
        "models/x.gguf",
    ]
    expected = ["a/v1/m", "b/v1/m", "tuned", "org/model", "openai:org/m", "x"]
    assert list(short_names(written).values()) == expected
    assert short_names(["small", "/srv/small.gguf"]) == {"small": "small", "/srv/small.gguf": "srv/small"}
    assert short_names(["/srv/m", "/srv/m.gguf"]) == {"/srv/m": "m", "/srv/m.gguf": "m.gguf"}


def test_an_answer_names_no_folder() -> None:
    names = GeneratorNames(["/srv/secret/m.gguf"])
    models = {"generator": "/srv/secret/m.gguf", "encoder": "/srv/secret/e5", "search": "wikipedia"}
    notice = "There is no file /srv/secret/m.gguf."
    answer = Answer(
        question="Why?",
        outcome="answered",
        answer="So.",
        sentences=(),
        references=(),
        notices=(notice,),
        models=models,
    )
    shown = names.outside(Done(answer))
    assert isinstance(shown, Done)
    assert shown.answer.models == {"generator": "m", "encoder": "e5", "search": "wikipedia"}
    assert shown.answer.notices == ("There is no file m.",)
    assert names.outside(Notice(notice)) == Notice("There is no file m.")
