"""The view of a terminal: quotations while a language model writes, and the answer in their place."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from citewell.cli.view import BESIDE, IRRELEVANT, REFUSED, REJECTED, UNSUPPORTED, PlainView, TerminalView
from citewell.core.events import Notice, Quoted, Token
from citewell.core.types import Answer, Failure, Fallback, Outcome, Reference, Sentence

QUOTED = Sentence("Bats use echoes.", (1,), 1.0, supported=True)
WRITTEN = Sentence("They hear echoes.", (1,), 0.8, supported=True)


LONG = f"https://example.org/{'a-long-word/' * 12}page.html"


def answer(outcome: Outcome, sentences: tuple[Sentence, ...], fallback: Fallback) -> Answer:
    text = " ".join(sentence.text for sentence in sentences) or "No evidence for an answer was found."
    return Answer("How?", outcome, text, sentences, (), quotations=(QUOTED,), fallback=fallback)


def test_quotations_stand_above_what_is_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    view = TerminalView()
    view._console = Console(file=io.StringIO(), force_terminal=True, width=80)
    view._live.console = view._console
    with view:
        view.event(Quoted((QUOTED,)))
        view.event(Token("They hear"))
        view._live.refresh()
        lines = io.StringIO()
        Console(file=lines, width=80).print(view._live.get_renderable())
    shown = lines.getvalue()
    assert shown.index("Bats use echoes. [1]") < shown.index("not checked yet") < shown.index("They hear")


def test_urls_stay_on_one_line_of_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    view = TerminalView()
    shown = io.StringIO()
    view._console = view._live.console = Console(file=shown, force_terminal=True, width=60, highlight=False)
    failed = Failure(f"{LONG}?broken", "It took too long.")
    reference = Reference(1, LONG, "A title", QUOTED.text, 0.9, duplicate_urls=(f"{LONG}?copy",))
    cited = answer("answered", (QUOTED,), "")
    with view:
        view.event(Notice(f"{LONG}?noted is in another language."))
    view.show(replace(cited, references=(reference,), failures=(failed,)))
    for url in (LONG, f"{LONG}?copy", f"{LONG}?broken: It took", f"{LONG}?noted is"):
        assert url in shown.getvalue()


@pytest.mark.parametrize(
    ("outcome", "sentences", "fallback", "said"),
    [
        ("answered", (WRITTEN,), "", WRITTEN.text),
        ("answered", (QUOTED,), "unsupported", UNSUPPORTED),
        ("answered", (QUOTED,), "irrelevant", BESIDE),
        ("no_evidence", (), "refused", REFUSED),
        ("no_evidence", (), "irrelevant", IRRELEVANT),
        ("no_evidence", (), "unsupported", REJECTED),
    ],
)
def test_the_answer_says_what_it_is(
    outcome: Outcome,
    sentences: tuple[Sentence, ...],
    fallback: Fallback,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    PlainView().show(answer(outcome, sentences, fallback))
    out = capsys.readouterr().out
    assert said in out
    assert (QUOTED.text in out) == bool(fallback)
    notices = (UNSUPPORTED, BESIDE, IRRELEVANT, REJECTED, REFUSED)
    assert sum(notice in out for notice in notices) == bool(fallback)


def test_a_list_and_code_are_printed_as_they_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    item = replace(WRITTEN, before="\n\n- ")
    code = Sentence("```\n[b]a[1]\n```", (), 0.0, supported=False, before="\n\n")
    PlainView().show(answer("answered", (replace(WRITTEN, before=""), item, code), ""))
    out = capsys.readouterr().out
    assert f"\n\n- {WRITTEN.text}" in out
    assert "\n\n```\n[b]a[1]\n```\n(not supported)\n" in out


def test_brackets_and_backslashes_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    text = r"Run grep '\[0-9\]' or [bold]this[/], and end with \\"
    PlainView().show(answer("answered", (Sentence(text, (1,), 1.0, supported=True),), ""))
    assert f"{text} [1]" in capsys.readouterr().out


def test_a_passage_is_printed_in_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    passage = "We left. Bring these:\n\n- a life jacket\n  - with a whistle\n- socks"
    reference = Reference(1, "file:///boat.md", "Boat", passage, 0.9)
    quoted = replace(QUOTED, text="Bring these:")
    PlainView().show(replace(answer("answered", (quoted,), ""), references=(reference,)))
    out = capsys.readouterr().out
    assert "\n    … Bring these:\n    - a life jacket\n      - with a whistle\n    - socks\n" in out
