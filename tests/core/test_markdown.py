"""What a model wrote as HTML and as Markdown for others: laid out, and without links, images and HTML."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from citewell.core.markdown import harmless, laid_out, sentences_html
from citewell.core.types import Sentence


def html(*parts: tuple[str | None, str]) -> str:
    sentences = [Sentence(text, (), 0.0, supported=True, before=before) for before, text in parts]
    shown, end = sentences_html(sentences)
    return "".join(f"{each.before}<s>{each.html}</s>" for each in shown) + end


def test_sentences_stand_in_paragraphs_lists_and_tables() -> None:
    parts = [("", "A **b**."), (" ", "C."), ("\n\n- ", "D `e`."), ("\n\n| F | G |\n|-|-|\n| ", "h | i. j")]
    assert html(*parts).replace("\n", "") == (
        "<p><s>A <strong>b</strong>.</s> <s>C.</s></p><ul><li><s>D <code>e</code>.</s></li></ul>"
        "<table><thead><tr><th>F</th><th>G</th></tr></thead>"
        "<tbody><tr><td>h</td><td><s>i. j</s></td></tr></tbody></table>"
    )


def test_no_sentence_is_lost_where_a_row_has_more_cells_than_its_header() -> None:
    shown = html(("| F | G |\n|-|-|\n| ", "h | i."), (" ", "| j"), ("\n| ", "k | l"))
    assert shown.count("<s>") == 3
    assert all(letter in shown for letter in "hijkl")


def test_code_is_no_paragraph_and_loses_the_indentation_of_its_item() -> None:
    shown = html(("- ", "So:"), ("\n\n  ", "```py\n  if a:\n      b\n  ```"))
    assert "<p><s><pre>" not in shown
    assert 'class="language-py">if a:\n    b\n</code>' in shown


def test_a_literal_text_has_no_markup() -> None:
    assert html((None, "**a** <b>"), (None, "- c")) == "<p><s>**a** &lt;b&gt;</s> <s>- c</s></p>\n"


ALIVE = ("<img", "<a ", "<b>", "<i>")
HARM = (
    "![x](https://evil.example)",
    "[x](javascript:alert(1)) <https://evil.example> <img src=x>",
    "\\<img src=x> \\\\<img src=x> \\[x](https://evil.example)",
    "`a <b>` `` <i> ` `` ` <img src=x>",
    "\\`a` <img src=x> `b`",
    "\\\\`a <img src=x>`",
    "$a <img src=x>$ $$<b>$$ \\(<i>\\) \\[<https://evil.example>\\]",
    "$[x](https://evil.example)$ $[x$](y) [y \\[x\\\\](https://evil.example) \\[z\\](https://evil.example)",
    "$\\href{https://evil.example}{x}$ $\\text{<img src=x>}$ $$\\style{x}{<b>}$$ $a` <b>$ `",
)


@pytest.mark.parametrize("text", HARM)
def test_links_images_and_html_do_not_work(text: str) -> None:
    shown = html(("", text), ("\n\n| <img src=x> | ![y](z) |\n|-|-|\n| ", text))
    assert not {"<img", "<a ", "<b>", "<i>"} & {
        part for part in ("<img", "<a ", "<b>", "<i>") if part in shown
    }
    # Also in the hands of another renderer, and in company.
    others = MarkdownIt("commonmark", {"html": True})
    written = laid_out((" ", harmless(each)) for each in (text, *HARM, text))
    assert not any(part in others.render(written) for part in ALIVE)


def test_code_keeps_its_signs() -> None:
    assert harmless("Use `a<b>` and `` x[`y`](z) ``, <b>.") == "Use `a<b>` and `` x[`y`](z) ``, \\<b>."
    assert harmless("```\n<b>[x](y)\n```") == "```\n<b>[x](y)\n```"


def test_formulas_are_typeset_in_sentences_headers_and_cells() -> None:
    shown = html(("", "So $a_1*b_1$ is *c*."), ("\n\n| $d$ |\n|-|\n| ", "`$e$` \\(f\\)"))
    assert "<p><s>So <math><msub><mi>a</mi><mn>1</mn></msub>" in shown
    assert "</math> is <em>c</em>.</s></p>" in shown
    assert "<th><math><mi>d</mi></math></th>" in shown
    assert "<code>$e$</code> <math><mi>f</mi></math>" in shown
    assert harmless("$a<b$, `$a<b$`, $[a](b)$") == "$a\\lt b$, `$a<b$`, $[a] (b)$"
