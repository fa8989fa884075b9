"""The grammar of commands, read by xgrammar itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.browser.commands import Invalid, parse
from citewell.browser.matching import quote as find_quote
from citewell.browser.policies.grammar import commands_grammar
from citewell.browser.policies.legal import Legal, legal, onwards
from citewell.browser.policies.quoting import abbreviated, passages
from citewell.browser.state import State

from ...generator.tiny import write_tiny
from .states import page, quote, results

SENTENCE = "Its gravity pulls the water towards it."
LONG = "Spring tides happen twice━are in one line."


class Reader:
    """Says whether texts follow grammars."""

    def __init__(self, folder: Path) -> None:
        import xgrammar
        from transformers import AutoTokenizer

        self._xgrammar: Any = xgrammar
        tokenizer: Any = AutoTokenizer.from_pretrained(write_tiny(folder))
        self._end = tokenizer.eos_token_id
        self._compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo.from_huggingface(tokenizer))

    def accepts(self, state: State, text: str) -> bool:
        compiled = self._compiler.compile_grammar(commands_grammar(onwards(state)))
        matcher = self._xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(self._end))


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    return Reader(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(
    "text",
    [
        "Search spring tides",
        "Search Gezeiten übermäßig",
        "Clicked on link 0",
        "Clicked on link 1",
        "Find in page: spring",
        f"Quote: {SENTENCE}",
        f"Quote: {LONG}",
        "Quote: The tides of the━are in one line.",
        "Quote: See also Neap tide.",
        "Back",
    ],
)
def test_commands_that_the_page_allows(reader: Reader, text: str) -> None:
    assert reader.accepts(page(), text)
    assert not isinstance(parse(text), Invalid)


@pytest.mark.parametrize("kind", ["Nonsense", "Controversial"])
def test_giving_up_takes_two_searches_without_a_quote(reader: Reader, kind: str) -> None:
    end, searches = f"End: {kind}", ("Search tides", "Back", "Search sea")
    assert not reader.accepts(page(past_actions=searches[:1]), end)
    assert reader.accepts(page(past_actions=searches), end)
    quoting = page(past_actions=searches, quotes=(quote(SENTENCE),))
    assert not reader.accepts(quoting, end)
    assert reader.accepts(quoting, "End: Answer")


def test_where_no_command_leads_on_the_model_can_give_up() -> None:
    assert commands_grammar(Legal(search=False, give_up=False)).startswith('root ::= "End: Nonsense"')


@pytest.mark.parametrize(
    "text",
    [
        "Search ",
        "Search  two spaces",
        "Search a\nBack",
        f"Search {'x' * 81}",
        "Clicked on link 2",
        "Clicked on link 01",
        "Find in page: neap",
        "Quote: Its gravity",
        "Quote: Something else entirely was never here.",
        f"{SENTENCE}",
        "Scrolled down 1",
        "Scrolled up 1",
        "Top",
        "End: Answer",
        "End: answer",
        "",
    ],
)
def test_texts_that_it_does_not_allow(reader: Reader, text: str) -> None:
    assert not reader.accepts(page(), text)


def test_scrolling_and_answering_are_there_when_they_are_allowed(reader: Reader) -> None:
    state = page(first=5, last=10, lines=20, quotes=(quote("Other words."),))
    for text in ("Scrolled down 3", "Scrolled up 1", "Top", "End: Answer"):
        assert reader.accepts(state, text)
    assert not reader.accepts(state, "Scrolled down 4")


def test_results_are_clicked_on_and_not_quoted(reader: Reader) -> None:
    assert reader.accepts(results(), "Clicked on link 1")
    assert not reader.accepts(results(), "Quote: Spring tides happen twice a month.")


def test_no_quote_is_named_by_the_ends_of_one_that_was_taken() -> None:
    hours = "The spring tides happen {} each month at the main gate."
    long, brief = hours.format("from nine until ten in"), hours.format("now")  # one is quoted by its ends
    text = f"{brief}\n\n{hours.format('at ten in the evening of')}"
    assert "quote ::= quote0 | quote1\n" in commands_grammar(onwards(page(text=text)))
    for taken in (long, brief):
        left = commands_grammar(onwards(page(text=text, quotes=(quote(taken),))))
        assert ('"Quote: "' in left) == (taken == long), "the brief one names itself"


def test_words_that_would_end_a_rule_are_only_words(reader: Reader) -> None:
    text = 'He said "so | is ::= [a-z]" \\ and left ) it.'
    assert reader.accepts(page(text=text, links={}), f"Quote: {text}")


def test_every_passage_is_found_in_the_page() -> None:
    state = page()
    named = [name for run in legal(state).quotable for name in passages(run)]
    assert len(named) == 7  # three sentences in a row, and one alone
    assert all(find_quote(state.text, name) for name in named)


def test_a_short_passage_is_quoted_whole_and_a_long_one_by_its_ends() -> None:
    assert abbreviated(" ".join("abcdefghijkl")) == "a b c d e f g h i j k l"
    assert abbreviated(" ".join("abcdefghijklm")) == "a b c d━j k l m"
