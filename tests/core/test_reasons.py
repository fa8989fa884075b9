"""Reasons are short lines that read as they are, whatever a stranger wrote into them."""

from __future__ import annotations

import pytest

from citewell.core.errors import ExtractionError, FetchError
from citewell.core.reasons import LONGEST, named_error, one_reason
from citewell.core.types import Failure


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("it is empty", "it is empty"),
        ("a\nb\r\n\tc \x1b[31mred\x07 \u2028end ", "a b c [31mred end"),
        ("photo\u202egpj.exe \u2066is\u2069 \u200bhere\ufeff", "photogpj.exe is here"),
        ("half \ud800 of a letter", "half of a letter"),
        ("schön, 日本, 👍", "schön, 日本, 👍"),
        ("", ""),
    ],
)
def test_a_reason_is_one_line_without_what_cannot_be_seen(given: str, shown: str) -> None:
    assert one_reason(given) == shown


@pytest.mark.parametrize("text", ["word " * 20_000, "x" * 50_000, "\u202e" * 50_000 + "x", "\n" * 50_000])
def test_a_long_reason_is_cut_and_says_so(text: str) -> None:
    shown = one_reason(text)
    assert len(shown) <= LONGEST
    assert shown.endswith("…")
    assert len(one_reason("y" * LONGEST)) == LONGEST


def test_whoever_stores_a_reason_stores_it_so() -> None:
    given, shown = f"it says\n\u202e{'so ' * 1000}", one_reason(f"it says {'so ' * 1000}")
    assert FetchError(given, "Try again.").message == shown
    assert str(ExtractionError(given, "Try again.")) == f"{shown} Try again."
    assert Failure("https://a.example/", given).reason == shown


def test_an_error_of_a_library_is_named() -> None:
    assert named_error(KeyError("Root")) == "KeyError: 'Root'"
    assert named_error(ValueError()) == "ValueError"
    assert len(named_error(ValueError("z" * 1000))) == 120
