from __future__ import annotations

import pytest

from citewell.scorer.data.html_text import html_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("plain &amp; simple", "plain & simple"),
        ("<p>one</p> <p>two</p>three <b>bold</b>", "one\n\ntwo\nthree bold"),
        ("<p>a<br>b<br/>c</p><!-- hidden -->d", "a\nb\nc\nd"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("<pre><code>if x:\n    y</code></pre>", "if x:\n    y"),
        ("天空 <em>é</em> \U0001f600", "天空 é \U0001f600"),
        # Posts that are no fragment of HTML.
        ("<p", ""),
        ("</div></div>x", "x"),
        ("\x01bad", "bad"),
        ("<p>&#1;x&#x1f;y&#xFFFE;</p>&#2;", "xy"),
        ("<?xml version='1.0' encoding='latin-1'?><p>é</p>", "é"),
        ("<html><frameset>", ""),
    ],
)
def test_paragraphs_lists_and_code_become_text(source: str, text: str) -> None:
    assert html_text(source) == text
