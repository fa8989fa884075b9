"""The Markdown that a model writes: its sentences are checked one by one, and laid out as they were."""

from __future__ import annotations

import pytest

from citewell.core.types import Reference, marked_text
from citewell.generator.citations.blocks import WrittenBlock, read_blocks
from citewell.generator.citations.correction import check_citations, kept
from citewell.generator.citations.ending import finished

BATS = Reference(1, "u", "Bats", "Bats find their way by echolocation. They eat insects and fruit.", 1.0)


@pytest.mark.parametrize(
    ("text", "before", "claim"),
    [
        ("1975. The Suez Canal opened then.", "", "1975."),
        ("12. [1]", "", "12."),
        ("12. The canal opened. [1]", "12. ", "The canal opened."),
    ],
)
def test_a_year_and_a_number_alone_are_no_numbers_of_items(text: str, before: str, claim: str) -> None:
    first = check_citations(text, [BATS], markdown=True)[0]
    assert (first.before, first.text) == (before, claim)


WRITTEN = """\
Bats find their way by echolocation [1]. They are shy.
They live long.

- They eat **insects** [1]. They sing.
- They eat fruit [1].
  1. They eat strange old cheese.

## What they eat

| Animal | Food |
|---|:-:|
| Bats | insects [1] |
| Bats | strange old cheese |

```python
way = "echolocation"
```
They eat fruit and insects."""
TEXTS = [
    ("", "Bats find their way by echolocation.", (1,)),
    (" ", "They are shy.", ()),
    (" ", "They live long.", ()),
    ("\n\n- ", "They eat **insects**.", (1,)),
    (" ", "They sing.", ()),
    ("\n- ", "They eat fruit.", (1,)),
    ("\n  1. ", "They eat strange old cheese.", ()),
    ("\n\n## What they eat\n\n| Animal | Food |\n|---|:-:|\n| ", "Bats | insects", (1,)),
    ("\n| ", "Bats | strange old cheese", ()),
    ("\n\n", '```python\nway = "echolocation"\n```', (1,)),
    ("\n\n", "They eat fruit and insects.", (1,)),
]


def test_items_rows_headings_and_code_are_checked_like_sentences() -> None:
    checked = check_citations(WRITTEN, [BATS], markdown=True)
    assert [(each.before, each.text, each.citations) for each in checked] == TEXTS


def test_the_answer_is_laid_out_as_it_was_written() -> None:
    text = marked_text(check_citations(WRITTEN, [BATS], markdown=True))
    assert "They live long.\n\n- They eat **insects**. [1] They sing.\n- They eat fruit. [1]\n  1. " in text
    assert (
        "| Animal | Food |\n|---|:-:|\n| Bats | insects [1]\n| Bats | strange old cheese\n\n```python\n"
        in text
    )
    assert '"echolocation"\n```\n\n[1]\n\nThey eat' in text


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ({3, 7}, "They live long.\n\n- They sing.\n- They eat fruit. [1]"),
        ({1, 2, 4}, "echolocation. [1]\n\n- They eat **insects**. [1]\n- They eat fruit. [1]"),
        ({7}, "## What they eat\n\n| Animal | Food |\n|---|:-:|\n| Bats | strange old cheese\n\n"),
        ({7, 8}, "cheese.\n\n```python\n"),
        ({9}, "| Bats | strange old cheese\n\nThey eat fruit and insects. [1]"),
        ({0}, "They are shy. They live long.\n\n- "),
    ],
)
def test_what_is_left_of_a_list_or_a_table_is_still_one(left_out: set[int], expected: str) -> None:
    checked = check_citations(WRITTEN, [BATS], markdown=True)
    assert expected in marked_text(kept(checked, set(range(len(checked))) - left_out))


def test_a_repeated_row_is_left_out_without_the_end_of_its_table() -> None:
    written = "| a | b |\n|---|---|\n| bats | way |\n| bats | way |\n| bats | fruit |"
    assert marked_text(check_citations(written, [BATS], markdown=True)).endswith(
        "| bats | way [1]\n| bats | fruit [1]"
    )


def test_a_quotation_is_literal() -> None:
    [quoted] = check_citations("- They eat *insects*", [BATS])
    assert (quoted.before, quoted.text) == (None, "- They eat *insects*")


def test_code_that_is_not_closed_ends_with_the_answer() -> None:
    assert read_blocks("So it is:\n~~~\na = 1\n\nb = 2") == [
        WrittenBlock("So it is:\n\n", "~~~\na = 1\n\nb = 2\n~~~", is_code=True),
    ]


def test_labels_are_short_and_have_no_numbers() -> None:
    written = """# Bats
They fly.
## Lufthansa retired Concorde because demand fell
## In 1905
Never:
- No.
# End"""
    assert read_blocks(written) == [
        WrittenBlock("# Bats\n\n", "They fly."),
        WrittenBlock("\n## ", "Lufthansa retired Concorde because demand fell"),
        WrittenBlock("\n\n## ", "In 1905"),
        WrittenBlock("\n\nNever:\n\n- ", "No."),
    ]


@pytest.mark.parametrize("end", ["```\na. b\n```", "| a | b. c |", "$$\na. b\n$$", "\\[a. b\\]"])
def test_code_rows_and_formulas_do_not_break_off(end: str) -> None:
    assert finished(f"So it is.\n{end}") == f"So it is.\n{end}"
