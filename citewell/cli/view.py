"""Terminal output: the progress of a question, and the finished answer."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from textwrap import indent
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text

from citewell.core.events import (
    Browsed,
    Event,
    Failed,
    Fetched,
    Notice,
    Quoted,
    Ranked,
    Rewritten,
    Scored,
    Searched,
    Token,
)
from citewell.core.markdown import is_code
from citewell.core.text import shorten, squeeze
from citewell.core.types import LEFT_OUT, STATUS_WORDS, Answer, Reference, Sentence, marked_text
from citewell.pipeline.collections import HANDBOOK

# Characters shown of a reference, of a browsing command, and of a candidate answer.
_PASSAGE = 320
_COMMAND = 160
_CANDIDATE = 120

UNSUPPORTED = "The references do not support what the model wrote, so these are quotations:"
BESIDE = "What the model wrote does not answer the question, so these are quotations:"
REJECTED = "The references do not support what the model wrote, so it is not shown."
IRRELEVANT = "What the model wrote does not answer the question, so it is not shown."
REFUSED = "The model found no answer in the references."
CLOSEST = "The closest sentences:"
_QUOTED = {"unsupported": UNSUPPORTED, "irrelevant": BESIDE}
_WITHHELD = {"unsupported": REJECTED, "irrelevant": IRRELEVANT, "refused": REFUSED}


class AnswerView(Protocol):
    """A view of the events of a question as they happen, then of the answer."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def step(self, model: str, step: str) -> None:
        """Show a step of preparing a model's weights."""
        ...

    def event(self, event: Event) -> None:
        """Show an event of the pipeline."""
        ...

    def show(self, answer: Answer) -> None:
        """Print the finished answer."""
        ...


class AnswerDetail(NamedTuple):
    """What is shown of an answer besides its text: references that it does not cite, and seconds."""

    all_references: bool = False
    timings: bool = False


BRIEF = AnswerDetail()


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # Rich would end the program with exit code 1; `citewell.cli.main` ends it with 0.
        raise BrokenPipeError


class PlainView:
    """For pipes and logs: the answer as plain text on standard output, notices on standard error."""

    def __init__(self, detail: AnswerDetail = BRIEF) -> None:
        self._detail = detail

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def step(self, model: str, step: str) -> None:
        """Write the step to standard error."""
        sys.stderr.write(f"Preparing {model} (once): {step} …\n")

    def event(self, event: Event) -> None:
        """Write notices and browsing actions to standard error."""
        if isinstance(event, Notice):
            sys.stderr.write(f"Note: {event.text}\n")
        elif isinstance(event, Browsed):
            sys.stderr.write(f"{_action(event)}\n")

    def show(self, answer: Answer) -> None:
        """Print the answer to standard output."""
        _print(_Console(soft_wrap=True, highlight=False), answer, self._detail)


class TerminalView:
    """For terminals: live progress, then the finished answer in its place.

    While a language model writes, quotations are shown first and the text so far below them.
    """

    def __init__(self, detail: AnswerDetail = BRIEF) -> None:
        self._detail = detail
        self._console = _Console(highlight=False)
        self._stage = "Searching, and loading the models"
        self._text = ""
        self._quotations = ""
        self._pages = 0
        self._hits = 0
        self._live = Live(console=self._console, transient=True, refresh_per_second=12)

    def __enter__(self) -> Self:
        self._live.__enter__()
        self._refresh()
        self._live.refresh()  # now: the imports that follow keep its thread from running
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, value, trace)

    def step(self, model: str, step: str) -> None:
        """Show the step with a progress bar."""
        from citewell.core.build_cache import STEPS

        done = STEPS.index(step) if step in STEPS else 0
        bar = "█" * (done + 1) + "░" * (len(STEPS) - done - 1)
        self._stage = f"Preparing {model} (once)  {bar}  {step}"
        self._refresh()

    def event(self, event: Event) -> None:
        """Follow the stages, and stream the first candidate's text."""
        match event:
            case Rewritten(question):
                self._stage = f"Searching: {shorten(squeeze(question), _CANDIDATE)}"
            case Searched(hits):
                self._hits = len(hits)
                self._stage = f"Reading {len(hits)} pages"
            case Fetched() | Failed():
                self._pages += 1
                self._stage = f"Reading {self._hits} pages: {self._pages} done"
            case Ranked(references, relevant):
                self._stage = f"Writing from {len(references)} references" if relevant else "Finishing"
            case Quoted(sentences):
                self._quotations = marked_text(sentences)
            case Token(text, 0):
                self._text += text
            case Scored(candidates):
                self._stage = f"Checking the citations of the best of {len(candidates)} candidate(s)"
            case Browsed():
                self._console.print(Text(_action(event), style="" if event.valid else "yellow"))
                if event.quote:
                    self._console.print(Text(f"     “{shorten(event.quote, _PASSAGE)}”", style="green"))
                self._stage = f"Browsing {event.title or 'the web'}: {event.quotes} quote(s)"
            case Notice(text):
                self._console.print(f"[yellow]Note:[/] {escape(text)}", soft_wrap=True)
        self._refresh()

    def show(self, answer: Answer) -> None:
        """Print the answer in color."""
        _print(self._console, answer, self._detail)

    def _refresh(self) -> None:
        lines: list[Text | Spinner] = [Spinner("dots", Text(self._stage, style="cyan"))]
        if self._quotations:
            lines += [Text("Quotations", style="bold"), Text(self._quotations)]
        if self._quotations and self._text:
            lines.append(Text("Answer, not checked yet", style="bold"))
        if self._text:
            lines.append(Text(self._text, style="dim"))
        self._live.update(Group(*lines))


def _action(event: Browsed) -> str:
    """A browsing command and its effect, on one line."""
    episode = f"{event.episode + 1}." if event.episode else ""
    command = shorten(squeeze(event.command), _COMMAND)
    title = event.title if event.command.startswith(("Clicked", "Back")) else None
    where = f" → {shorten(title, _CANDIDATE)}" if title else ""
    return f"{episode}{event.number:>3}  {command}{where if event.valid else f' (invalid: {event.reason})'}"


def _print(console: Console, answer: Answer, detail: AnswerDetail) -> None:
    uncited = 0
    if answer.rewritten:
        console.print(f"[dim]Answered as: {escape(answer.rewritten)}[/]")
    if answer.outcome == "answered":
        if answer.fallback:
            console.print(f"[yellow]{_QUOTED[answer.fallback]}[/]\n")
        console.print(_text(answer.sentences))
        unsupported = sum(not sentence.supported for sentence in answer.sentences)
        if unsupported:
            console.print(
                f"\n[yellow]{unsupported} sentence(s) marked in brackets: no reference says all of it.[/]"
            )
        console.print("\n[bold]References[/]")
        for reference in answer.references:
            citing = [s.text for s in answer.sentences if reference.number in s.citations]
            if citing or detail.all_references:
                _print_reference(console, reference, citing)
            else:
                uncited += 1
    else:
        console.print(f"[bold]{escape(answer.answer)}[/]")
        if answer.fallback:
            console.print(_WITHHELD[answer.fallback])
        if answer.quotations:
            console.print(f"{CLOSEST}\n")
            console.print(_text(answer.quotations))
        console.print("\n[bold]Nearest pages[/]" if answer.references else "No related page was found.")
        for reference in answer.references:
            _print_reference(console, reference, None)
    if len(answer.candidates) > 1:
        _print_candidates(console, answer)
    for failure in answer.failures:
        console.print(f"[yellow]Not read:[/] {escape(failure.url)}: {escape(failure.reason)}", soft_wrap=True)
    console.print(f"\n[dim]{escape(_searched(answer, uncited))}[/]")
    if detail.timings:
        times = "  ".join(f"{stage} {seconds:.2f} s" for stage, seconds in answer.timings.items())
        models = "  ".join(f"{role} {name}" for role, name in answer.models.items())
        console.print(f"[dim]{times}\n{escape(models)}[/]")


def _searched(answer: Answer, uncited: int) -> str:
    """Say where the references come from, and how many are not shown."""
    where = answer.models.get("search", "")
    if where == f"collection:{HANDBOOK}":
        said = "Searched Citewell's own handbook; --collection or --search name another place."
    else:
        said = f"Searched {where.replace('collection:', 'the collection ')}." if where else ""
    more = f"{uncited} more reference{'s' * (uncited > 1)} not cited: --all." if uncited else ""
    return " ".join(filter(None, [said, more]))


def _print_candidates(console: Console, answer: Answer) -> None:
    """Print each candidate with its score and the reason for its rank, the winner first."""
    console.print(
        f"\n[bold]{len(answer.candidates)} candidates[/], scored by {escape(answer.models['scorer'])}"
    )
    ranked = sorted(
        enumerate(answer.candidates), key=lambda item: (item[0] != answer.best, -item[1].adjusted_score)
    )
    for index, candidate in ranked:
        mark = "[green]*[/]" if index == answer.best else " "
        cost = f", {candidate.unsupported} unsupported" if candidate.unsupported else ""
        console.print(f"{mark} {candidate.score:+.2f}{cost}  {escape(candidate.reason)}")
        console.print(Text(f"    {shorten(squeeze(candidate.text), _CANDIDATE)}", style="dim"))


def _text(sentences: Iterable[Sentence]) -> Text:
    """Return sentences with their marks, laid out as they were written."""
    shown = Text()
    for sentence in sentences:
        gap = "\n" if is_code(sentence) else " "
        before = (" " if shown else "") if sentence.before is None else sentence.before
        shown.append(before if shown else before.lstrip("\n"))
        if sentence.supported:
            shown.append(sentence.text + gap)
            shown.append("".join(f"[{number}]" for number in sentence.citations), "cyan")
        else:
            shown.append(f"{sentence.text}{gap}({STATUS_WORDS[sentence.status]})", "yellow")
    return shown


def _print_reference(console: Console, reference: Reference, citing: list[str] | None) -> None:
    """Print a reference, starting at the first sentence that cites it.

    `citing` holds the sentences that cite it, or is None if the question was not answered.
    """
    note = "  (not cited)" if citing == [] else ""
    console.print(
        f"[cyan]\\[{reference.number}][/] [bold]{escape(reference.place)}[/]{note}  {escape(reference.url)}"
        + (f"  {reference.dated}" if reference.dated else ""),
        style="dim" if note else "",
        soft_wrap=True,  # a URL on two lines can be neither clicked nor copied
    )
    console.print(Text(indent(_excerpt(reference.text, citing or ()), "    "), style="dim"))
    for order in reference.orders:
        console.print(Text(f"    {LEFT_OUT}: {shorten(order, _PASSAGE)}", style="yellow"))
    if reference.duplicate_urls:
        same = Text(f"    The same text is at {', '.join(reference.duplicate_urls)}", style="dim")
        console.print(same, soft_wrap=True)


def _excerpt(passage: str, citing: Iterable[str]) -> str:
    """Return the lines of a passage from the first sentence that cites it on, cut if they are long."""
    lines = "\n".join(line.rstrip() for line in passage.splitlines() if line.strip())
    start = min((at for text in citing if (at := lines.find(text)) >= 0), default=0)
    return f"{'… ' if start else ''}{shorten(lines[start:], _PASSAGE)}"
